#ifndef CSR_SPMV_H
#define CSR_SPMV_H

#include <cuda_runtime.h>

// y = alpha * A * x + beta * y for a CSR matrix A of rows x cols with nnz = row_offsets[rows] - row_offsets[0] entries.
// Enqueued in `stream`.
cudaError_t csr_spmv(int rows, int cols, int nnz, const int* row_offsets, const int* columns, const float* values,
                     float alpha, const float* x, float beta, float* y, cudaStream_t stream);

#endif
