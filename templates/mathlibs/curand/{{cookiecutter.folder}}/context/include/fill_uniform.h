#pragma once

#include <cstddef>
#include <cuda_runtime.h>

// Pseudorandom numbers, uniform over (0, 1], the same ones for the same seed and n.
//
// out     device, output, n elements
// stream  takes all work
void fill_uniform(float* out, std::size_t n, unsigned long long seed, cudaStream_t stream);
