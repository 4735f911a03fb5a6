#pragma once

#include <cuda_runtime.h>

// The sum of each row of a matrix.
//
// in      device, rows x cols floats, row after row
// sums    device, output, rows floats
// stream  takes all work; the call does not wait for it
void row_sums(const float* in, float* sums, int rows, int cols, cudaStream_t stream);
