#include "gemm_row_major.h"

namespace {

cublasOperation_t translated(Op op) { return op == Op::none ? CUBLAS_OP_N : CUBLAS_OP_T; }

}  // namespace

// What is stored by rows reads, by columns, as the transpose with the same leading dimension; and
// C^T = op(B)^T * op(A)^T. So the operands change places, and so do m and n; transpositions stay with their matrices.
cublasStatus_t gemm_row_major(cublasHandle_t handle, Op op_a, Op op_b, int m, int n, int k, const float* alpha,
                              const float* a, int lda, long long stride_a, const float* b, int ldb, long long stride_b,
                              const float* beta, float* c, int ldc, long long stride_c, int batch) {
  cublasPointerMode_t mode;
  cublasStatus_t status = cublasGetPointerMode(handle, &mode);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = cublasSgemmStridedBatched(handle, translated(op_b), translated(op_a), n, m, k, alpha, b, ldb, stride_b, a,
                                     lda, stride_a, beta, c, ldc, stride_c, batch);
  const cublasStatus_t restored = cublasSetPointerMode(handle, mode);
  return status != CUBLAS_STATUS_SUCCESS ? status : restored;
}
