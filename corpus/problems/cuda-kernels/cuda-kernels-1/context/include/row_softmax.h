#ifndef ROW_SOFTMAX_H
#define ROW_SOFTMAX_H

#include <cstddef>
#include <cuda_runtime.h>

// out(r, c) = softmax over c of in(r, c), for each row r. Leading dimensions are in elements. Enqueued in `stream`.
void row_softmax(const float* in, std::size_t in_ld, float* out, std::size_t out_ld, int rows, int cols,
                 cudaStream_t stream);

#endif
