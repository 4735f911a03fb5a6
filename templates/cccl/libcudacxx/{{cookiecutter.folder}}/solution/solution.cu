#include "count_bytes.h"

#include <cuda/atomic>

#include <algorithm>

namespace {

constexpr int kThreads = 256;  // as many as there are values
constexpr std::size_t kMaxBlocks = 1024;

// Each block counts in shared memory, where only its own threads take part, and then adds its counts to those of all
// blocks.
__global__ void count_bytes_kernel(const unsigned char* text, std::size_t n, unsigned int* counts) {
  using InBlock = cuda::atomic_ref<unsigned int, cuda::thread_scope_block>;
  using InDevice = cuda::atomic_ref<unsigned int, cuda::thread_scope_device>;
  __shared__ unsigned int block_counts[kThreads];
  block_counts[threadIdx.x] = 0;
  __syncthreads();
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * kThreads;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * kThreads + threadIdx.x; i < n; i += stride)
    InBlock(block_counts[text[i]]).fetch_add(1, cuda::memory_order_relaxed);
  __syncthreads();
  InDevice(counts[threadIdx.x]).fetch_add(block_counts[threadIdx.x], cuda::memory_order_relaxed);
}

}  // namespace

void count_bytes(const unsigned char* text, std::size_t n, unsigned int* counts, cudaStream_t stream) {
  cudaMemsetAsync(counts, 0, 256 * sizeof(unsigned int), stream);
  if (n == 0) return;  // a grid without blocks is an error
  const std::size_t blocks = std::min((n + kThreads - 1) / kThreads, kMaxBlocks);
  count_bytes_kernel<<<static_cast<unsigned int>(blocks), kThreads, 0, stream>>>(text, n, counts);
}
