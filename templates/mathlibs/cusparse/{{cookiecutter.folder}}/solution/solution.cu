#include "multiply.h"

#include <cstddef>

void multiply(cusparseHandle_t handle, int rows, int cols, int nnz, const int* offsets, const int* columns,
              const float* values, const float* x, float* y) {
  cudaStream_t stream;
  cusparseGetStream(handle, &stream);
  cudaMemsetAsync(y, 0, rows * sizeof(float), stream);
  if (nnz == 0) return;

  cusparseConstSpMatDescr_t matrix;
  cusparseConstDnVecDescr_t from;
  cusparseDnVecDescr_t to;
  cusparseCreateConstCsr(&matrix, rows, cols, nnz, offsets, columns, values, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                         CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
  cusparseCreateConstDnVec(&from, cols, x, CUDA_R_32F);
  cusparseCreateDnVec(&to, rows, y, CUDA_R_32F);

  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  void* workspace = nullptr;
  cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to, CUDA_R_32F,
                          CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
  cudaMallocAsync(&workspace, bytes, stream);
  cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, from, &zero, to, CUDA_R_32F,
               CUSPARSE_SPMV_ALG_DEFAULT, workspace);
  cudaFreeAsync(workspace, stream);

  cusparseDestroyDnVec(to);
  cusparseDestroyDnVec(from);
  cusparseDestroySpMat(matrix);
}
