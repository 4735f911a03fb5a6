// One 32 x 32 tile a block through shared memory, by 32 x 8 threads; the extra column spreads a tile's columns over the
// banks. Tiles are numbered along the only grid dimension that holds more than 65535 blocks.
#include "batched_transpose.h"

namespace {

constexpr int kTile = 32;
constexpr int kThreadRows = 8;

struct Pitch {
  std::size_t ld, stride;
};

__global__ void transpose_tile(const std::uint32_t* in, Pitch from, std::uint32_t* out, Pitch to, int rows, int cols,
                               unsigned tiles_down, unsigned tiles_across) {
  __shared__ std::uint32_t tile[kTile][kTile + 1];
  const int x = threadIdx.x;
  const std::size_t matrix = blockIdx.x / tiles_across / tiles_down;
  const std::size_t row = blockIdx.x / tiles_across % tiles_down * kTile;
  const std::size_t col = blockIdx.x % tiles_across * kTile;

  in += matrix * from.stride;
  for (int y = threadIdx.y; y < kTile; y += kThreadRows)
    if (row + y < rows && col + x < cols) tile[y][x] = in[(row + y) * from.ld + col + x];
  __syncthreads();
  out += matrix * to.stride;
  for (int y = threadIdx.y; y < kTile; y += kThreadRows)
    if (col + y < cols && row + x < rows) out[(col + y) * to.ld + row + x] = tile[x][y];
}

unsigned tiles_of(int length) { return (static_cast<unsigned>(length) + kTile - 1) / kTile; }

}  // namespace

void batched_transpose(const std::uint32_t* in, std::size_t in_ld, std::size_t in_stride,
                       std::uint32_t* out, std::size_t out_ld, std::size_t out_stride,
                       int batch, int rows, int cols, cudaStream_t stream) {
  const unsigned down = tiles_of(rows), across = tiles_of(cols);
  const unsigned tiles = batch * down * across;
  if (tiles == 0) return;
  const Pitch from{in_ld, in_stride}, to{out_ld, out_stride};
  transpose_tile<<<tiles, dim3(kTile, kThreadRows), 0, stream>>>(in, from, out, to, rows, cols, down, across);
}
