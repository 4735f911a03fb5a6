// Hidden test of snapshot. Copies are exact, so there is no tolerance.
#include "ce_harness.hpp"
#include "snapshot.h"

namespace {

enum class Held { producer, consumer };

void copy(ce::DeviceBuffer<float>& to, const ce::DeviceBuffer<float>& from, cudaStream_t stream) {
  CE_CUDA(cudaMemcpyAsync(to.data(), from.data(), from.bytes(), cudaMemcpyDeviceToDevice, stream));
}

// `producer` has yet to write the values to src, and `consumer` has yet to overwrite dst, when the candidate is called.
// One of the two is held back: a copy that does not wait for both ends up with the decoys.
void check(ce::Rng& rng, std::size_t n, Held held) {
  CE_SCOPE("n %zu, the %s is held back", n, held == Held::producer ? "producer" : "consumer");
  const auto values = rng.uniform_vector<float>(n, -1, 1), decoys = rng.uniform_vector<float>(n, 2, 3);
  const ce::DeviceBuffer<float> d_values(values), d_decoys(decoys);
  ce::DeviceBuffer<float> src(decoys), dst(n);
  const ce::Stream producer, consumer;
  CE_CALL(snapshot(dst.data(), src.data(), n, producer, consumer));  // the first call may wait for what it loads
  CE_CUDA(cudaDeviceSynchronize());

  ce::StreamGate gate(held == Held::producer ? producer : consumer);
  copy(src, d_values, producer);
  copy(dst, d_decoys, consumer);
  CE_CALL(snapshot(dst.data(), src.data(), n, producer, consumer));
  if (held == Held::consumer) CE_CUDA(cudaStreamSynchronize(producer));  // must not depend on the consumer
  gate.open();
  CE_CUDA(cudaStreamSynchronize(consumer));

  ce::expect_equal(dst.download(), values, "dst");
  dst.check_guards("dst");
  ce::expect_unchanged(src, values, "src");
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const std::size_t n : {0, 1, 31, 32, 33, 255, 256, 257, 1023, 1025, 40009}) {
    check(rng, n, Held::producer);
    check(rng, n, Held::consumer);
  }
}

CE_TEST(large) {
  ce::Rng rng;
  for (const Held held : {Held::producer, Held::consumer}) check(rng, ce::sanitized() ? 100003 : (1 << 22) + 3, held);
}

CE_TEST(one_stream_for_both) {
  ce::Rng rng;
  const auto values = rng.uniform_vector<float>(1000, -1, 1);
  const ce::DeviceBuffer<float> d_values(values);
  ce::DeviceBuffer<float> src(1000), dst(1000);
  const ce::Stream stream;
  CE_CALL(snapshot(dst.data(), src.data(), 1000, stream, stream));  // the first call may wait for what it loads
  CE_CUDA(cudaDeviceSynchronize());
  ce::StreamGate gate(stream);
  copy(src, d_values, stream);
  CE_CALL(snapshot(dst.data(), src.data(), 1000, stream, stream));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(dst.download(), values, "dst");
}

CE_BENCH(sixteen_million_floats) {
  constexpr int kIterations = 10, kSize = 1 << 24;
  ce::Rng rng;
  // Iteration i copies from element i on, so no two have the same input.
  const auto values = rng.uniform_vector<float>(kSize + kIterations, -1, 1);
  const ce::DeviceBuffer<float> src(values);
  std::vector<ce::DeviceBuffer<float>> dst;
  for (int i = 0; i <= kIterations; ++i) dst.emplace_back(kSize);
  const ce::Stream producer, consumer;

  ce::timed("snapshot", kIterations, [&](int i) {
    CE_CALL(snapshot(dst[i].data(), src.data() + i, kSize, producer, consumer));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    ce::expect_equal(dst[i].download(), {values.begin() + i, values.begin() + i + kSize}, "dst");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
