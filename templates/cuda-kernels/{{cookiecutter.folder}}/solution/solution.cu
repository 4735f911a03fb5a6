#include "row_sums.h"

#include <cstddef>

namespace {

constexpr int kThreads = 256;

// One block a row: every thread adds up its share, then the block halves the number of partial sums until one is left.
__global__ void row_sums_kernel(const float* in, float* sums, int cols) {
  __shared__ float partial[kThreads];
  const float* row = in + static_cast<std::size_t>(blockIdx.x) * cols;
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += row[c];
  partial[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

}  // namespace

void row_sums(const float* in, float* sums, int rows, int cols, cudaStream_t stream) {
  if (rows == 0) return;  // a grid without blocks is an error
  row_sums_kernel<<<rows, kThreads, 0, stream>>>(in, sums, cols);
}
