#include "batched_transpose.h"

void batched_transpose(const std::uint32_t*, std::size_t, std::size_t, std::uint32_t*, std::size_t, std::size_t, int,
                       int, int, cudaStream_t) {}
