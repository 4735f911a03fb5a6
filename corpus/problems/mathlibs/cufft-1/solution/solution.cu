#include "poisson.h"

#include <algorithm>
#include <cstddef>
#include <memory>

struct PoissonSolver {
  int rows, half, batch;          // half: columns of the spectrum
  double unit_y2, unit_x2;        // squares of the lowest wave numbers
  double scale;                   // cuFFT normalises neither transform
  cufftHandle forward = 0, backward = 0;
  bool has_forward = false, has_backward = false;
  cufftDoubleComplex* spectrum = nullptr;

  ~PoissonSolver() {
    if (has_forward) cufftDestroy(forward);
    if (has_backward) cufftDestroy(backward);
    cudaFree(spectrum);
  }
};

namespace {

constexpr int kThreads = 256;
constexpr std::size_t kMaxBlocks = 8192;  // the loop takes the rest

__global__ void divide_by_laplacian(cufftDoubleComplex* spectrum, int rows, int half, std::size_t count, double unit_y2,
                                    double unit_x2, double scale) {
  const std::size_t stride = gridDim.x * std::size_t{blockDim.x};
  for (std::size_t at = blockIdx.x * std::size_t{blockDim.x} + threadIdx.x; at < count; at += stride) {
    const int q = static_cast<int>(at % half);
    int p = static_cast<int>(at / half % rows);
    if (2 * p > rows) p -= rows;
    const double k2 = unit_y2 * p * p + unit_x2 * q * q;
    const double factor = p == 0 && q == 0 ? 0.0 : -scale / k2;
    spectrum[at].x *= factor;
    spectrum[at].y *= factor;
  }
}

}  // namespace

cufftResult poisson_create(PoissonSolver** solver, int rows, int cols, int ld, int batch, int distance, double height,
                           double width) {
  *solver = nullptr;
  const double two_pi = 6.283185307179586;
  const double unit_y = two_pi / height, unit_x = two_pi / width;
  auto made = std::make_unique<PoissonSolver>();
  made->rows = rows;
  made->half = cols / 2 + 1;
  made->batch = batch;
  made->unit_y2 = unit_y * unit_y;
  made->unit_x2 = unit_x * unit_x;
  made->scale = 1.0 / (static_cast<double>(rows) * cols);

  int size[] = {rows, cols}, grid[] = {rows, ld}, half_grid[] = {rows, made->half};
  const int half_distance = rows * made->half;
  cufftResult result =
      cufftPlanMany(&made->forward, 2, size, grid, 1, distance, half_grid, 1, half_distance, CUFFT_D2Z, batch);
  if (result != CUFFT_SUCCESS) return result;
  made->has_forward = true;
  result = cufftPlanMany(&made->backward, 2, size, half_grid, 1, half_distance, grid, 1, distance, CUFFT_Z2D, batch);
  if (result != CUFFT_SUCCESS) return result;
  made->has_backward = true;
  const std::size_t bytes = sizeof(cufftDoubleComplex) * half_distance * batch;
  if (cudaMalloc(&made->spectrum, bytes) != cudaSuccess) return CUFFT_ALLOC_FAILED;
  *solver = made.release();
  return CUFFT_SUCCESS;
}

cufftResult poisson_solve(PoissonSolver* solver, const double* f, double* u, cudaStream_t stream) {
  cufftResult result = cufftSetStream(solver->forward, stream);
  if (result != CUFFT_SUCCESS) return result;
  result = cufftSetStream(solver->backward, stream);
  if (result != CUFFT_SUCCESS) return result;

  // Out of place, a real-to-complex transform leaves its input alone; the parameter lacks a const.
  result = cufftExecD2Z(solver->forward, const_cast<double*>(f), solver->spectrum);
  if (result != CUFFT_SUCCESS) return result;
  const std::size_t count = static_cast<std::size_t>(solver->batch) * solver->rows * solver->half;
  const auto blocks = static_cast<unsigned>(std::min((count + kThreads - 1) / kThreads, kMaxBlocks));
  divide_by_laplacian<<<blocks, kThreads, 0, stream>>>(solver->spectrum, solver->rows, solver->half, count,
                                                       solver->unit_y2, solver->unit_x2, solver->scale);
  if (cudaGetLastError() != cudaSuccess) return CUFFT_EXEC_FAILED;
  return cufftExecZ2D(solver->backward, solver->spectrum, u);
}

void poisson_destroy(PoissonSolver* solver) { delete solver; }
