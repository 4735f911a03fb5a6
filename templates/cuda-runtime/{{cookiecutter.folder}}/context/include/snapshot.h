#pragma once

#include <cstddef>
#include <cuda_runtime.h>

// Copies src to dst in `consumer`, after the work that now stands in `producer`.
//
// dst, src            device, n floats each
// producer, consumer  streams; the host waits for neither
void snapshot(float* dst, const float* src, std::size_t n, cudaStream_t producer, cudaStream_t consumer);
