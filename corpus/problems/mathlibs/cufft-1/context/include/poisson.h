#pragma once

#include <cuda_runtime.h>
#include <cufft.h>

// What a solver keeps between calls; defined in solution.cu.
struct PoissonSolver;

// Makes a solver for `batch` periodic grids of rows x cols points, height x width in size. Element (i, j) of grid b is
// at b * distance + i * ld + j.
cufftResult poisson_create(PoissonSolver** solver, int rows, int cols, int ld, int batch, int distance, double height,
                           double width);

// u with Laplacian f (less its mean) and mean 0. f and u are on the device and may be the same;
// `stream` takes all work.
cufftResult poisson_solve(PoissonSolver* solver, const double* f, double* u, cudaStream_t stream);

void poisson_destroy(PoissonSolver* solver);
