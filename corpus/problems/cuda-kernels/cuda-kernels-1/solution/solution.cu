// Rows of up to 1024 columns: one warp a row, the row held in registers, one read and one write of memory.
// Longer rows: one block a row. A first pass keeps a running maximum and the sum scaled to it ("online" softmax,
// Milakov and Gimelshein 2018); the second pass finds most of the row still in L2.
#include "row_softmax.h"

#include <cmath>

namespace {

constexpr unsigned kAllLanes = 0xffffffffu;
constexpr int kWarp = 32;
constexpr int kRowsPerBlock = 8;    // warp kernel
constexpr int kBlock = 512;         // block kernel
constexpr int kWarps = kBlock / kWarp;

// exp(x - m) for x <= m. Equal arguments give 1 even when both are the same infinity; NaN stays NaN.
__device__ float weight(float x, float m) { return x == m ? 1.0f : expf(x - m); }

// The largest element seen and the sum of exp(x - max). fmaxf ignores NaN, so `max` never is NaN, while `sum` becomes
// NaN as soon as the row shows one.
struct Partial {
  float max, sum;
};
__device__ Partial nothing() { return {-INFINITY, 0.0f}; }

__device__ Partial joined(Partial a, Partial b) {
  const float m = fmaxf(a.max, b.max);
  return {m, a.sum * weight(a.max, m) + b.sum * weight(b.max, m)};
}

__device__ Partial extended(Partial a, float x) {
  const float m = fmaxf(a.max, x);
  return {m, a.sum * weight(a.max, m) + weight(x, m)};
}

__device__ Partial warp_total(Partial p) {
  for (int offset = kWarp / 2; offset > 0; offset /= 2) {
    const float max = __shfl_xor_sync(kAllLanes, p.max, offset);
    const float sum = __shfl_xor_sync(kAllLanes, p.sum, offset);
    p = joined(p, {max, sum});
  }
  return p;
}

__device__ float result(float x, Partial total) {
  const bool masked = total.max == -INFINITY && !isnan(total.sum);
  return masked ? 0.0f : weight(x, total.max) / total.sum;
}

template <int kItems>  // columns a lane
__global__ void warp_per_row(const float* in, size_t in_ld, float* out, size_t out_ld, int rows, int cols) {
  const int lane = threadIdx.x;
  const long long row = static_cast<long long>(blockIdx.x) * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;
  in += row * in_ld;
  out += row * out_ld;

  float x[kItems];
  Partial total = nothing();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int c = i * kWarp + lane;
    x[i] = c < cols ? in[c] : -INFINITY;
    total.max = fmaxf(total.max, x[i]);
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) total.sum += weight(x[i], total.max);  // 0 past the end, save in rows that become 0
  total = warp_total(total);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int c = i * kWarp + lane;
    if (c < cols) out[c] = result(x[i], total);
  }
}

__global__ void __launch_bounds__(kBlock)
block_per_row(const float* in, size_t in_ld, float* out, size_t out_ld, int cols) {
  __shared__ Partial of_warp[kWarps];
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  in += blockIdx.x * in_ld;
  out += blockIdx.x * out_ld;

  Partial mine = nothing();
  for (int c = threadIdx.x; c < cols; c += kBlock) mine = extended(mine, in[c]);
  mine = warp_total(mine);
  if (lane == 0) of_warp[warp] = mine;
  __syncthreads();
  const Partial total = warp_total(lane < kWarps ? of_warp[lane] : nothing());
  for (int c = threadIdx.x; c < cols; c += kBlock) out[c] = result(in[c], total);
}

template <int kItems>
void launch_warps(const float* in, size_t in_ld, float* out, size_t out_ld, int rows, int cols, cudaStream_t stream) {
  if (cols > kItems * kWarp) return launch_warps<2 * kItems>(in, in_ld, out, out_ld, rows, cols, stream);
  const unsigned blocks = static_cast<unsigned>((rows - 1) / kRowsPerBlock + 1);
  warp_per_row<kItems><<<blocks, dim3(kWarp, kRowsPerBlock), 0, stream>>>(in, in_ld, out, out_ld, rows, cols);
}
template <>  // too long for registers
void launch_warps<64>(const float* in, size_t in_ld, float* out, size_t out_ld, int rows, int cols,
                      cudaStream_t stream) {
  block_per_row<<<static_cast<unsigned>(rows), kBlock, 0, stream>>>(in, in_ld, out, out_ld, cols);
}

}  // namespace

void row_softmax(const float* in, size_t in_ld, float* out, size_t out_ld, int rows, int cols, cudaStream_t stream) {
  if (rows <= 0 || cols <= 0) return;
  launch_warps<1>(in, in_ld, out, out_ld, rows, cols, stream);
}
