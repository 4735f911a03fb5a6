#include "poisson.h"

struct PoissonSolver {};

cufftResult poisson_create(PoissonSolver** solver, int, int, int, int, int, double, double) {
  *solver = new PoissonSolver;
  return CUFFT_SUCCESS;
}

cufftResult poisson_solve(PoissonSolver*, const double*, double*, cudaStream_t) { return CUFFT_SUCCESS; }

void poisson_destroy(PoissonSolver* solver) { delete solver; }
