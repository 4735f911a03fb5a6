// Hidden test of fill_uniform. There is no oracle for the numbers, so the test asks what must hold of any such
// sequence. Each statistical bound is one that a good generator misses with a probability below 1e-12.
#include "ce_harness.hpp"
#include "fill_uniform.h"

#include <algorithm>

namespace {

constexpr double kAlpha = 1e-12;

std::vector<float> numbers(std::size_t n, unsigned long long seed) {
  CE_SCOPE("n %zu, seed %llu", n, seed);
  ce::DeviceBuffer<float> out(n);
  CE_CALL(fill_uniform(out.data(), n, seed, nullptr));
  out.check_guards("out");
  const auto values = out.download();
  for (std::size_t i = 0; i < n; ++i) CE_CHECK(values[i] > 0 && values[i] <= 1, "out[%zu] is %g", i, values[i]);
  return values;
}

double same_share(const std::vector<float>& a, const std::vector<float>& b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < a.size(); ++i) same += a[i] == b[i];
  return static_cast<double>(same) / static_cast<double>(a.size());
}

// The largest distance between the distribution of n numbers and the uniform one exceeds e with a probability of at
// most 2 exp(-2 n e^2) (Dvoretzky, Kiefer, Wolfowitz; Massart).
void check_distribution(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  const double n = static_cast<double>(values.size()), bound = std::sqrt(std::log(2 / kAlpha) / (2 * n));
  double largest = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    largest = std::max({largest, values[i] - i / n, (i + 1) / n - values[i]});
  CE_CHECK(largest <= bound, "the distribution is %g away from the uniform one, at most %g granted", largest, bound);
}

// Products of two independent numbers have the mean 1/4; that of m disjoint pairs is e away from it with a probability
// of at most 2 exp(-2 m e^2) (Hoeffding).
void check_independence(const std::vector<float>& a, const std::vector<float>& b) {
  const double m = static_cast<double>(a.size()), bound = std::sqrt(std::log(2 / kAlpha) / (2 * m));
  double mean = 0;
  for (std::size_t i = 0; i < a.size(); ++i) mean += static_cast<double>(a[i]) * b[i] / m;
  CE_CHECK(std::fabs(mean - 0.25) <= bound, "products have the mean %g, at most %g from 0.25 granted", mean, bound);
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const std::size_t n : {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 65537}) {
    const unsigned long long seed = rng.next();
    const auto first = numbers(n, seed);
    ce::expect_equal(numbers(n, seed), first, "the second call with the same seed");
  }
}

CE_TEST(distribution) {
  ce::Rng rng;
  const std::size_t n = ce::sanitized() ? 10001 : 1000003;
  for (int i = 0; i < 3; ++i) check_distribution(numbers(n, rng.next()));
}

CE_TEST(neighbours_are_independent) {
  ce::Rng rng;
  const auto values = numbers(ce::sanitized() ? 10000 : 1000000, rng.next());
  for (const std::size_t lag : {1, 4, 32, 256, 1024}) {
    std::vector<float> a, b;
    for (std::size_t i = 0; i + lag < values.size(); i += (i + 1) % lag == 0 ? lag + 1 : 1)
      a.push_back(values[i]), b.push_back(values[i + lag]);
    check_independence(a, b);
  }
}

// Of numbers with 24 bits or more, fewer than one in a thousand agree by chance.
CE_TEST(seeds_differ) {
  ce::Rng rng;
  const unsigned long long seed = rng.next();
  for (const unsigned long long other : {seed + 1, seed ^ (1ull << 32), seed ^ (1ull << 63)}) {
    const auto a = numbers(100003, seed), b = numbers(100003, other);
    CE_CHECK(same_share(a, b) < 0.001, "seeds %llu and %llu give the same numbers", seed, other);
    check_independence(a, b);
  }
}

// Earlier work in the stream writes to the same place.
CE_TEST(stream_order) {
  ce::Rng rng;
  const std::size_t n = 1 << 20;
  const unsigned long long seed = rng.next();
  const auto want = numbers(n, seed);
  const ce::DeviceBuffer<float> decoys(std::vector<float>(n, 2.0f));
  ce::DeviceBuffer<float> out(n);
  const ce::Stream stream;
  for (int i = 0; i < 20; ++i)  // enough to be late for whoever does not wait
    CE_CUDA(cudaMemcpyAsync(out.data(), decoys.data(), decoys.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(fill_uniform(out.data(), n, seed, stream));
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::expect_equal(out.download(), want, "out");
}

CE_BENCH(sixty_four_million_numbers) {
  constexpr int kIterations = 10;
  constexpr std::size_t kSize = 1 << 26;
  ce::Rng rng;
  const auto seeds = ce::Rng::vector<unsigned long long>(kIterations + 1, [&] { return rng.next(); });
  std::vector<ce::DeviceBuffer<float>> out;
  for (int i = 0; i <= kIterations; ++i) out.emplace_back(kSize);

  ce::timed("fill_uniform", kIterations,
            [&](int i) { CE_CALL(fill_uniform(out[i].data(), kSize, seeds[i], nullptr)); });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    const auto values = out[i].download();
    CE_CHECK(std::all_of(values.begin(), values.end(), [](float x) { return x > 0 && x <= 1; }));
    check_distribution({values.begin(), values.begin() + 1000000});
    check_distribution({values.end() - 1000000, values.end()});
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
