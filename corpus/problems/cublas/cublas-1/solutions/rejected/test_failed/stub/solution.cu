#include "gemm_row_major.h"

cublasStatus_t gemm_row_major(cublasHandle_t, Op, Op, int, int, int, const float*, const float*, int, long long,
                              const float*, int, long long, const float*, float*, int, long long, int) {
  return CUBLAS_STATUS_SUCCESS;
}
