// Each warp counts into a histogram of its own, so that warps do not contend. Within a warp, adding the constant 1 to a
// shared counter whose old value nobody wants compiles to an instruction that serves equal addresses at once: an image
// of one colour is cheap. Work is dealt to warps in row segments.
#include "rgba_histogram.h"

#include <algorithm>

namespace {

constexpr int kWarp = 32;
constexpr int kWarps = 8;
constexpr int kThreads = kWarp * kWarps;
constexpr int kCounters = 3 * 256;
constexpr int kSegment = 2048;  // pixels

__global__ void __launch_bounds__(kThreads)
count_segments(const uchar4* pixels, std::size_t pitch, long long width, long long segments_per_row, long long segments,
               unsigned int* counts) {
  __shared__ unsigned int of_warp[kWarps][kCounters];
  for (int i = threadIdx.x; i < kWarps * kCounters; i += kThreads) of_warp[i / kCounters][i % kCounters] = 0;
  __syncthreads();

  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  unsigned int* const mine = of_warp[warp];
  for (long long s = static_cast<long long>(blockIdx.x) * kWarps + warp; s < segments; s += gridDim.x * kWarps) {
    const long long first = s % segments_per_row * kSegment;
    const long long last = min(first + kSegment, width);
    const char* row = reinterpret_cast<const char*>(pixels) + s / segments_per_row * pitch;
#pragma unroll 8
    for (long long x = first + lane; x < last; x += kWarp) {
      const uchar4 pixel = reinterpret_cast<const uchar4*>(row)[x];
      if (pixel.w == 0) continue;
      atomicAdd(&mine[pixel.x], 1u);
      atomicAdd(&mine[256 + pixel.y], 1u);
      atomicAdd(&mine[512 + pixel.z], 1u);
    }
  }
  __syncthreads();

  for (int i = threadIdx.x; i < kCounters; i += kThreads) {
    unsigned int sum = 0;
    for (int w = 0; w < kWarps; ++w) sum += of_warp[w][i];
    if (sum != 0) atomicAdd(&counts[i], sum);
  }
}

long long blocks_at_once() {
  int device = 0, processors = 0, per_processor = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, count_segments, kThreads, 0);
  return static_cast<long long>(processors) * per_processor;
}

}  // namespace

void rgba_histogram(const uchar4* pixels, std::size_t pitch, int width, int height, unsigned int* counts,
                    cudaStream_t stream) {
  long long columns = width, rows = height;
  if (pitch == columns * sizeof(uchar4)) {  // one long row
    columns *= rows;
    rows = 1;
  }
  const long long per_row = (columns + kSegment - 1) / kSegment, segments = per_row * rows;
  if (segments == 0) return;
  const long long blocks = std::min((segments + kWarps - 1) / kWarps, blocks_at_once());
  count_segments<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(pixels, pitch, columns, per_row, segments,
                                                                         counts);
}
