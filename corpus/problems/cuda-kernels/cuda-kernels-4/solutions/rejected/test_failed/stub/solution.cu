#include "csr_spmv.h"

cudaError_t csr_spmv(int, int, int, const int*, const int*, const float*, float, const float*, float, float*,
                     cudaStream_t) {
  return cudaSuccess;
}
