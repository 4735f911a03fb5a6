#include "solve.h"

void solve(cusolverDnHandle_t handle, double* a, double* b, int n, int m) {
  if (n == 0 || m == 0) return;
  cudaStream_t stream;
  cusolverDnGetStream(handle, &stream);
  int elements = 0;
  cusolverDnDgetrf_bufferSize(handle, n, n, a, n, &elements);

  double* workspace = nullptr;
  int *pivots = nullptr, *status = nullptr;
  cudaMallocAsync(&workspace, elements * sizeof(double), stream);
  cudaMallocAsync(&pivots, n * sizeof(int), stream);
  cudaMallocAsync(&status, sizeof(int), stream);
  cusolverDnDgetrf(handle, n, n, a, n, workspace, pivots, status);
  cusolverDnDgetrs(handle, CUBLAS_OP_N, n, m, a, n, pivots, b, n, status);
  cudaFreeAsync(status, stream);
  cudaFreeAsync(pivots, stream);
  cudaFreeAsync(workspace, stream);
}
