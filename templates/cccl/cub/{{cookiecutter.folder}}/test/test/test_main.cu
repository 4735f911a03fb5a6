// Hidden test of running_totals. Integers, so all comparisons are exact.
#include "ce_harness.hpp"
#include "running_totals.h"

#include <limits>

namespace {

constexpr int kMin = std::numeric_limits<int>::min(), kMax = std::numeric_limits<int>::max();

template <class Iterator>
std::vector<long long> oracle(Iterator first, Iterator last) {
  std::vector<long long> totals;
  totals.reserve(last - first);
  for (long long total = 0; first != last; total += *first++) totals.push_back(total);
  return totals;
}

void check(const std::vector<int>& in) {
  CE_SCOPE("n %zu", in.size());
  const ce::DeviceBuffer<int> d_in(in);
  ce::DeviceBuffer<long long> d_out(in.size());
  CE_CALL(running_totals(d_in.data(), d_out.data(), static_cast<int>(in.size()), nullptr));
  ce::expect_equal(d_out.download(), oracle(in.begin(), in.end()), "out");
  d_out.check_guards("out");
  ce::expect_unchanged(d_in, in, "in");
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 4097, 65537})
    check(rng.integer_vector<int>(n, kMin, kMax));
}

CE_TEST(totals_past_32_bits) {
  for (const int value : {kMin, kMax}) check(std::vector<int>(5003, value));
}

CE_TEST(large) {
  ce::Rng rng;
  check(rng.integer_vector<int>(ce::sanitized() ? 100003 : (1 << 22) + 7, kMin, kMax));
}

// The input arrives by a copy in the same stream, which is held back until the call has returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int n = 30011;
  const auto in = rng.integer_vector<int>(n, kMin, kMax);
  const ce::DeviceBuffer<int> source(in);
  ce::DeviceBuffer<int> d_in(rng.integer_vector<int>(n, kMin, kMax));
  ce::DeviceBuffer<long long> d_out(n);
  const ce::Stream stream;
  CE_CALL(running_totals(d_in.data(), d_out.data(), n, stream));  // loads the kernels, which may wait
  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(d_in.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(running_totals(d_in.data(), d_out.data(), n, stream));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(d_out.download(), oracle(in.begin(), in.end()), "out");
}

CE_BENCH(sixteen_million_elements) {
  constexpr int kIterations = 10, kSize = 1 << 24;
  ce::Rng rng;
  // Iteration i reads from element i on, so no two have the same input.
  const auto in = rng.integer_vector<int>(kSize + kIterations, kMin, kMax);
  const ce::DeviceBuffer<int> d_in(in);
  std::vector<ce::DeviceBuffer<long long>> d_out;
  for (int i = 0; i <= kIterations; ++i) d_out.emplace_back(kSize);

  ce::timed("running_totals", kIterations, [&](int i) {
    CE_CALL(running_totals(d_in.data() + i, d_out[i].data(), kSize, nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    ce::expect_equal(d_out[i].download(), oracle(in.begin() + i, in.begin() + i + kSize), "out");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
