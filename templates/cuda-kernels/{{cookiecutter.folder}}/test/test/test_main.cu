// Hidden test of row_sums.
#include "ce_harness.hpp"
#include "row_sums.h"

namespace {

// Small integers: every partial sum stays below 2^24, so single precision is exact in any order and nothing need be
// granted.
std::vector<float> whole_numbers(ce::Rng& rng, std::size_t n) {
  return ce::Rng::vector<float>(n, [&] { return static_cast<float>(rng.integer(-8, 8)); });
}

struct Expected {
  std::vector<double> sums, magnitudes;
};

Expected oracle(const std::vector<float>& in, int rows, int cols) {
  Expected want{std::vector<double>(rows), std::vector<double>(rows)};
  for (std::size_t i = 0; i < in.size(); ++i) {
    want.sums[i / cols] += in[i];
    want.magnitudes[i / cols] += std::fabs(in[i]);
  }
  return want;
}

void check(const std::vector<float>& in, int rows, int cols, double granted) {
  CE_SCOPE("rows %d, cols %d", rows, cols);
  const ce::DeviceBuffer<float> d_in(in);
  ce::DeviceBuffer<float> d_sums(rows);
  CE_CALL(row_sums(d_in.data(), d_sums.data(), rows, cols, nullptr));
  Expected want = oracle(in, rows, cols);
  for (double& bound : want.magnitudes) bound *= granted;
  ce::expect_within(d_sums.download(), want.sums, want.magnitudes, "sums");
  d_sums.check_guards("sums");
  ce::expect_unchanged(d_in, in, "in");
}

}  // namespace

CE_TEST(column_counts) {
  ce::Rng rng;
  for (const int cols : {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4099})
    for (const int rows : {1, 5}) check(whole_numbers(rng, static_cast<std::size_t>(rows) * cols), rows, cols, 0);
}

CE_TEST(row_counts) {
  ce::Rng rng;
  for (const int rows : {0, 1, 31, 32, 33, 255, 256, 257, 1025})
    for (const int cols : {3, 70}) check(whole_numbers(rng, static_cast<std::size_t>(rows) * cols), rows, cols, 0);
}

CE_TEST(large) {
  ce::Rng rng;
  const int many = ce::sanitized() ? 2049 : 70001;  // the larger is more than a grid's y dimension can hold
  check(whole_numbers(rng, static_cast<std::size_t>(many) * 37), many, 37, 0);
  const int wide = ce::sanitized() ? 20011 : 1000003;
  check(whole_numbers(rng, static_cast<std::size_t>(2) * wide), 2, wide, 0);
}

// n - 1 additions in any order err by at most (n - 1) * 2^-24 * S to first order, S the sum of the magnitudes. The
// prompt grants twice that, which covers the higher orders.
CE_TEST(rounding) {
  ce::Rng rng;
  for (const int cols : {100, 1000}) check(rng.uniform_vector<float>(50 * cols, -1, 1), 50, cols, cols * 0x1p-23);
}

// The input arrives by a copy in the same stream, which is held back until the call has returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int rows = 100, cols = 300;
  const auto in = whole_numbers(rng, rows * cols);
  const ce::DeviceBuffer<float> source(in);
  ce::DeviceBuffer<float> d_in(whole_numbers(rng, rows * cols)), d_sums(rows);
  const ce::Stream stream;
  CE_CALL(row_sums(d_in.data(), d_sums.data(), rows, cols, stream));  // loads the kernel, which may wait
  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(d_in.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(row_sums(d_in.data(), d_sums.data(), rows, cols, stream));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_close(d_sums.download(), oracle(in, rows, cols).sums, {}, "sums");
}

CE_BENCH(rows_of_2048) {
  constexpr int kIterations = 10, kRows = 16384, kCols = 2048;
  ce::Rng rng;
  // Iteration i reads rows i to i + kRows - 1, so no two have the same input.
  const auto in = whole_numbers(rng, static_cast<std::size_t>(kRows + kIterations) * kCols);
  const std::vector<double> want = oracle(in, kRows + kIterations, kCols).sums;
  const ce::DeviceBuffer<float> d_in(in);
  std::vector<ce::DeviceBuffer<float>> d_sums;
  for (int i = 0; i <= kIterations; ++i) d_sums.emplace_back(kRows);

  ce::timed("row_sums", kIterations, [&](int i) {
    CE_CALL(row_sums(d_in.data() + static_cast<std::size_t>(i) * kCols, d_sums[i].data(), kRows, kCols, nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    ce::expect_close(d_sums[i].download(), {want.begin() + i, want.begin() + i + kRows}, {}, "sums");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
