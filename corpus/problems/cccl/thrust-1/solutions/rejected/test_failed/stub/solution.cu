#include "sessionize.h"

std::size_t sessionize(const std::uint32_t*, const std::int64_t*, const std::int32_t*, std::size_t, std::int64_t,
                       const Sessions&, std::uint32_t*, cudaStream_t) {
  return 0;
}
