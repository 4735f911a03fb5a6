#pragma once

#include <cublas_v2.h>

enum class Op { none, transpose };

// C_b = alpha * op_a(A_b) * op_b(B_b) + beta * C_b for 0 <= b < batch, all matrices stored by rows.
//
// handle          the caller's; its stream takes all work, its state is preserved
// m, n, k         op_a(A_b) is m x k, op_b(B_b) is k x n, C_b is m x n
// alpha, beta     device, one float each
// a, lda          device; elements from one stored row to the next. Likewise b, ldb and c, ldc
// stride_a        elements from A_b to A_(b+1), 0 to share one matrix. Likewise stride_b, and stride_c without 0
cublasStatus_t gemm_row_major(cublasHandle_t handle, Op op_a, Op op_b, int m, int n, int k, const float* alpha,
                              const float* a, int lda, long long stride_a, const float* b, int ldb, long long stride_b,
                              const float* beta, float* c, int ldc, long long stride_c, int batch);
