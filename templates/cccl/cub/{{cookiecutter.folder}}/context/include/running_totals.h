#pragma once

#include <cuda_runtime.h>

// out[i] = in[0] + ... + in[i - 1]
//
// in      device, n elements
// out     device, output, n elements
// stream  takes all work; the call does not wait for it
void running_totals(const int* in, long long* out, int n, cudaStream_t stream);
