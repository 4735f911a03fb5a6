#ifndef BATCHED_TRANSPOSE_H
#define BATCHED_TRANSPOSE_H

#include <cstddef>
#include <cstdint>
#include <cuda_runtime.h>

// out[b * out_stride + c * out_ld + r] = in[b * in_stride + r * in_ld + c] for b < batch, r < rows, c < cols.
// Leading dimensions and strides are in words. Enqueued in `stream`.
void batched_transpose(const std::uint32_t* in, std::size_t in_ld, std::size_t in_stride,
                       std::uint32_t* out, std::size_t out_ld, std::size_t out_stride,
                       int batch, int rows, int cols, cudaStream_t stream);

#endif
