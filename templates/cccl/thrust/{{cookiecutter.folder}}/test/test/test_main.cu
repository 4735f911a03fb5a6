// Hidden test of keep_positive. Elements are copied, so all comparisons are exact.
#include "ce_harness.hpp"
#include "keep_positive.h"

#include <limits>

namespace {

std::vector<float> oracle(const std::vector<float>& in) {
  std::vector<float> kept;
  for (const float x : in)
    if (x > 0) kept.push_back(x);
  return kept;
}

// `before` is what out held; what lies behind the elements copied must still be there.
void check_result(const ce::DeviceBuffer<float>& out, int count, const std::vector<float>& before,
                  const std::vector<float>& in) {
  const std::vector<float> kept = oracle(in);
  CE_CHECK(count == static_cast<int>(kept.size()), "returned %d, want %zu", count, kept.size());
  std::vector<float> want = before;
  std::copy(kept.begin(), kept.end(), want.begin());
  ce::expect_equal(out.download(), want, "out");
  out.check_guards("out");
}

void check(ce::Rng& rng, const std::vector<float>& in) {
  CE_SCOPE("n %zu", in.size());
  const auto before = rng.uniform_vector<float>(in.size(), -9, -1);
  const ce::DeviceBuffer<float> d_in(in);
  ce::DeviceBuffer<float> d_out(before);
  const ce::Stream stream;
  int count = -1;
  CE_CALL(count = keep_positive(d_in.data(), d_out.data(), static_cast<int>(in.size()), stream));
  check_result(d_out, count, before, in);
  ce::expect_unchanged(d_in, in, "in");
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4097, 65537})
    check(rng, rng.uniform_vector<float>(n, -1, 1));
}

CE_TEST(shares) {
  ce::Rng rng;
  for (const double lowest : {-1e9, -99.0, -1.0, -0.01, 0.001}) {  // from hardly any to all
    CE_SCOPE("from %g to 1", lowest);
    check(rng, rng.uniform_vector<float>(30011, lowest, 1));
  }
  check(rng, std::vector<float>(5000, -1.0f));
}

CE_TEST(special_values) {
  ce::Rng rng;
  constexpr float kInf = std::numeric_limits<float>::infinity(), kNaN = std::numeric_limits<float>::quiet_NaN();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  const float values[] = {0.0f, -0.0f, kTiny, -kTiny, kInf, -kInf, kNaN, -kNaN, 3.4e38f, -3.4e38f};
  check(rng, ce::Rng::vector<float>(10007, [&] { return values[rng.integer(0, 9)]; }));
}

CE_TEST(large) {
  ce::Rng rng;
  check(rng, rng.uniform_vector<float>(ce::sanitized() ? 100003 : (1 << 22) + 7, -1, 1));
}

// The input arrives by a copy in the same stream.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int n = 1 << 20;
  const auto in = rng.uniform_vector<float>(n, -1, 1), before = rng.uniform_vector<float>(n, -9, -1);
  const ce::DeviceBuffer<float> source(in);
  ce::DeviceBuffer<float> d_in(before), d_out(before);
  const ce::Stream stream;
  for (int i = 0; i < 20; ++i)  // enough to be late for whoever does not wait
    CE_CUDA(cudaMemcpyAsync(d_in.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  int count = -1;
  CE_CALL(count = keep_positive(d_in.data(), d_out.data(), n, stream));
  check_result(d_out, count, before, in);
}

CE_BENCH(sixteen_million_floats) {
  constexpr int kIterations = 10, kSize = 1 << 24;
  ce::Rng rng;
  // Iteration i reads from element i on, so no two have the same input.
  const auto in = rng.uniform_vector<float>(kSize + kIterations, -1, 1);
  const std::vector<float> before(kSize, -1);
  const ce::DeviceBuffer<float> d_in(in);
  std::vector<ce::DeviceBuffer<float>> d_out;
  std::vector<int> count(kIterations + 1);
  for (int i = 0; i <= kIterations; ++i) d_out.emplace_back(before);

  ce::timed("keep_positive", kIterations, [&](int i) {
    CE_CALL(count[i] = keep_positive(d_in.data() + i, d_out[i].data(), kSize, nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    check_result(d_out[i], count[i], before, {in.begin() + i, in.begin() + i + kSize});
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
