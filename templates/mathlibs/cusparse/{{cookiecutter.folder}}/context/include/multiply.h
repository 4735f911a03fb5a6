#pragma once

#include <cusparse.h>

// y = A x for a sparse matrix A in CSR form with indices from 0.
//
// handle                    takes all work into its stream; host pointer mode
// offsets, columns, values  device, rows + 1, nnz and nnz elements
// x                         device, cols elements
// y                         device, output, rows elements
void multiply(cusparseHandle_t handle, int rows, int cols, int nnz, const int* offsets, const int* columns,
              const float* values, const float* x, float* y);
