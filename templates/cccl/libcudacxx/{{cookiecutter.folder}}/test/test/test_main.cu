// Hidden test of count_bytes. Integers, so all comparisons are exact.
#include "ce_harness.hpp"
#include "count_bytes.h"

namespace {

using Text = std::vector<unsigned char>;
using Counts = std::vector<unsigned int>;

Text bytes(ce::Rng& rng, std::size_t n, int lo, int hi) {
  return ce::Rng::vector<unsigned char>(n, [&] { return static_cast<unsigned char>(rng.integer(lo, hi)); });
}

template <class Iterator>
Counts oracle(Iterator first, Iterator last) {
  Counts counts(256);
  while (first != last) ++counts[*first++];
  return counts;
}

// The call gets the text from element `skip` on, which sets its alignment.
void check(const Text& text, std::size_t skip = 0) {
  CE_SCOPE("n %zu, the first %zu skipped", text.size(), skip);
  const ce::DeviceBuffer<unsigned char> d_text(text);
  ce::DeviceBuffer<unsigned int> d_counts(256);
  CE_CALL(count_bytes(d_text.data() + skip, text.size() - skip, d_counts.data(), nullptr));
  ce::expect_equal(d_counts.download(), oracle(text.begin() + static_cast<std::ptrdiff_t>(skip), text.end()), "counts");
  d_counts.check_guards("counts");
  ce::expect_unchanged(d_text, text, "text");
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 65537})
    check(bytes(rng, n, 0, 255));
}

CE_TEST(alignments) {
  ce::Rng rng;
  for (const std::size_t skip : {1, 2, 3, 5, 8, 15}) check(bytes(rng, 5003, 0, 255), skip);
}

CE_TEST(few_values) {  // many threads add to the same count
  ce::Rng rng;
  for (const int value : {0, 1, 127, 255}) check(bytes(rng, 100003, value, value));
  check(bytes(rng, 100003, 97, 98));
}

CE_TEST(large) {
  ce::Rng rng;
  check(bytes(rng, ce::sanitized() ? 300007 : (1 << 24) + 13, 0, 255));
}

// The text arrives by a copy in the same stream, which is held back until the call has returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Text text = bytes(rng, 30011, 0, 255);
  const ce::DeviceBuffer<unsigned char> source(text);
  ce::DeviceBuffer<unsigned char> d_text(bytes(rng, text.size(), 0, 9));
  ce::DeviceBuffer<unsigned int> d_counts(256);
  const ce::Stream stream;
  CE_CALL(count_bytes(d_text.data(), text.size(), d_counts.data(), stream));  // loads the kernel, which may wait
  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(d_text.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(count_bytes(d_text.data(), text.size(), d_counts.data(), stream));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(d_counts.download(), oracle(text.begin(), text.end()), "counts");
}

CE_BENCH(hundred_million_bytes) {
  constexpr int kIterations = 10, kSize = 100000000, kStep = 1001;
  ce::Rng rng;
  // Iteration i reads from byte i * kStep on, so no two have the same counts.
  const Text text = bytes(rng, kSize + kIterations * kStep, 32, 126);
  const ce::DeviceBuffer<unsigned char> d_text(text);
  std::vector<ce::DeviceBuffer<unsigned int>> d_counts;
  for (int i = 0; i <= kIterations; ++i) d_counts.emplace_back(256);

  ce::timed("count_bytes", kIterations, [&](int i) {
    CE_CALL(count_bytes(d_text.data() + i * kStep, kSize, d_counts[i].data(), nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    const auto from = text.begin() + i * kStep;
    ce::expect_equal(d_counts[i].download(), oracle(from, from + kSize), "counts");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
