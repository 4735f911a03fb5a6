#pragma once

#include <cuda_runtime.h>

// Copies the elements that are greater than 0 to the front of out, in order, and returns how many there are.
//
// in, out  device, n floats each; out keeps what it held behind the last element copied
// stream   takes all work; the call waits for it
int keep_positive(const float* in, float* out, int n, cudaStream_t stream);
