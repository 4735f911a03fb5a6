// Hidden test of batched_transpose. Words are opaque, so every comparison is exact.
#include "batched_transpose.h"
#include "ce_harness.hpp"

namespace {

using Words = std::vector<std::uint32_t>;
using Buffer = ce::DeviceBuffer<std::uint32_t>;

struct Shape {
  int batch, rows, cols;
  std::size_t in_ld, in_stride, out_ld, out_stride;

  // Both arrays end with the last element of the last matrix.
  std::size_t in_size() const { return empty() ? 0 : (batch - 1) * in_stride + (rows - 1) * in_ld + cols; }
  std::size_t out_size() const { return empty() ? 0 : (batch - 1) * out_stride + (cols - 1) * out_ld + rows; }
  bool empty() const { return batch == 0 || rows == 0 || cols == 0; }
};

Shape padded(int batch, int rows, int cols, ce::Rng& rng, int most) {
  Shape s{batch, rows, cols, 0, 0, 0, 0};
  s.in_ld = cols + rng.integer(0, most);
  s.out_ld = rows + rng.integer(0, most);
  s.in_stride = (rows - 1) * s.in_ld + cols + rng.integer(0, 3 * most);
  s.out_stride = (cols - 1) * s.out_ld + rows + rng.integer(0, 3 * most);
  return s;
}

Words random_words(ce::Rng& rng, std::size_t n) { return rng.integer_vector<std::uint32_t>(n, 0, UINT32_MAX); }

// `before` with the transposed matrices written over it: gaps must keep what they held.
Words transposed(const Words& in, Words before, const Shape& s) {
  for (std::size_t b = 0; b < static_cast<std::size_t>(s.batch); ++b)
    for (std::size_t r = 0; r < static_cast<std::size_t>(s.rows); ++r)
      for (std::size_t c = 0; c < static_cast<std::size_t>(s.cols); ++c)
        before[b * s.out_stride + c * s.out_ld + r] = in[b * s.in_stride + r * s.in_ld + c];
  return before;
}

void call(const std::uint32_t* in, std::uint32_t* out, const Shape& s, cudaStream_t stream = nullptr) {
  CE_CALL(batched_transpose(in, s.in_ld, s.in_stride, out, s.out_ld, s.out_stride, s.batch, s.rows, s.cols, stream));
}

void run_shape(const Shape& s, ce::Rng& rng) {
  CE_SCOPE("batch %d, rows %d, cols %d, in_ld %zu, out_ld %zu", s.batch, s.rows, s.cols, s.in_ld, s.out_ld);
  const Words x = random_words(rng, s.in_size()), before = random_words(rng, s.out_size());
  Buffer in(x), out(before);
  call(in.data(), out.data(), s);
  ce::expect_equal(out.download(), transposed(x, before, s), "out");
  out.check_guards("out");
  ce::expect_unchanged(in, x, "in");
}

}  // namespace

CE_TEST(every_edge) {
  ce::Rng rng;
  const int sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129};
  for (const int rows : sizes)
    for (const int cols : sizes) run_shape(padded(rng.integer(1, 3), rows, cols, rng, rng.integer(0, 1) * 5), rng);
}

CE_TEST(large) {
  ce::Rng rng;
  if (ce::sanitized()) return run_shape(padded(2, 301, 517, rng, 3), rng);
  run_shape(padded(1, 1025, 2049, rng, 0), rng);
  run_shape(padded(1, 2111, 1090, rng, 7), rng);
  run_shape(padded(3, 700, 801, rng, 2), rng);
}

// More tiles in each direction than a grid has blocks in y or z.
CE_TEST(lopsided) {
  ce::Rng rng;
  const int many = ce::sanitized() ? 3001 : 100003, long_side = ce::sanitized() ? 5000 : 65535 * 32 + 70;
  run_shape(padded(many, 3, 2, rng, 1), rng);
  run_shape(padded(ce::sanitized() ? 500 : 65537, 1, 33, rng, 0), rng);
  run_shape(padded(1, long_side, 2, rng, 1), rng);
  run_shape(padded(1, 2, long_side, rng, 1), rng);
}

CE_TEST(empty) {
  ce::Rng rng;
  for (const Shape& s : {Shape{0, 5, 7, 7, 35, 5, 35}, {3, 0, 7, 7, 7, 5, 35}, {3, 5, 0, 7, 35, 5, 5}}) {
    CE_SCOPE("batch %d, rows %d, cols %d", s.batch, s.rows, s.cols);
    const Words before = random_words(rng, 128);
    Buffer in(before), out(before);
    call(in.data(), out.data(), s);
    call(nullptr, nullptr, s);
    ce::expect_unchanged(out, before, "out of an empty batch");
  }
}

// Offsets that a 32-bit index cannot hold, in one array at a time; what lies between is poison and stays so.
CE_TEST(far_apart) {
  if (ce::skip_sanitized("the tools would shadow 8 GiB")) return;
  ce::Rng rng;
  const std::size_t far = (std::size_t{1} << 31) + 7;
  const int n = 5;
  const auto row = [&](Buffer& buffer, std::size_t offset) {
    Words words(n + 1);  // and one of the gap behind
    CE_CUDA(cudaMemcpy(words.data(), buffer.data() + offset, words.size() * 4, cudaMemcpyDeviceToHost));
    return words;
  };
  const Words x = random_words(rng, 2 * n);
  {
    const Shape s{1, 2, n, far, far + n, 2, 2 * n};
    Buffer in(s.in_size()), out(s.out_size());
    CE_CUDA(cudaMemcpy(in.data(), &x[0], n * 4, cudaMemcpyHostToDevice));
    CE_CUDA(cudaMemcpy(in.data() + far, &x[n], n * 4, cudaMemcpyHostToDevice));
    call(in.data(), out.data(), s);
    const Shape dense{1, 2, n, n, 2 * n, 2, 2 * n};
    ce::expect_equal(out.download(), transposed(x, Words(2 * n), dense), "out");
  }
  {
    const Shape s{2, n, 1, 1, n, n, far};
    Buffer in(x), out(s.out_size() + 1);
    call(in.data(), out.data(), s);
    for (const int b : {0, 1}) {
      Words want(x.begin() + b * n, x.begin() + (b + 1) * n);
      want.push_back(0xa5a5a5a5u);
      ce::expect_equal(row(out, b * far), want, b == 0 ? "matrix 0 and the gap behind" : "matrix 1 and the end");
    }
  }
}

// The input arrives and the output leaves by copies in the same stream, which is held back until the call has returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  ce::Stream stream;
  const Shape s{3, 70, 45, 45, 3150, 70, 3150};
  const Words x = random_words(rng, s.in_size());
  const Buffer source(x);
  Buffer in(x.size()), out(x.size()), result(x.size());
  call(in.data(), out.data(), s, stream);  // loads the kernel
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(in.data(), source.data(), in.bytes(), cudaMemcpyDeviceToDevice, stream));
  call(in.data(), out.data(), s, stream);
  CE_CUDA(cudaMemcpyAsync(result.data(), out.data(), in.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(result.download(), transposed(x, Words(x.size()), s), "out");
}

CE_BENCH(one_8192_by_4096) {
  constexpr int kIterations = 5;
  const std::size_t rows = 8192, cols = 4096;
  const Shape s{1, 8192, 4096, cols, rows * cols, rows, rows * cols};
  ce::Rng rng;
  // Iteration i reads rows i to i + 8191: no two have the same input.
  const Words x = random_words(rng, (rows + kIterations) * cols);
  Buffer in(x);
  std::vector<Buffer> out;
  for (int i = 0; i <= kIterations; ++i) out.emplace_back(rows * cols);

  ce::timed("batched_transpose", kIterations, [&](int i) { call(in.data() + i * cols, out[i].data(), s); });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    const Words part(x.begin() + i * cols, x.begin() + (i + rows) * cols);
    ce::expect_equal(out[i].download(), transposed(part, Words(part.size()), s), "out");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
