#include "connected_components.h"

cudaError_t connected_components(const std::uint32_t*, const std::uint32_t*, std::size_t, std::uint32_t, std::uint32_t*,
                                 std::uint32_t*, cudaStream_t) {
  return cudaSuccess;
}
