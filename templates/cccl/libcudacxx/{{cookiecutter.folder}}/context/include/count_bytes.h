#pragma once

#include <cstddef>
#include <cuda_runtime.h>

// How often each value occurs among n bytes.
//
// text    device, n bytes
// counts  device, output, 256 elements
// stream  takes all work; the call does not wait for it
void count_bytes(const unsigned char* text, std::size_t n, unsigned int* counts, cudaStream_t stream);
