#pragma once

#include <cublas_v2.h>

// C = A B for row-major matrices without padding.
//
// handle  takes all work into its stream; host pointer mode
// a, b    device, m x k and k x n elements
// c       device, output, m x n elements
void multiply(cublasHandle_t handle, const float* a, const float* b, float* c, int m, int n, int k);
