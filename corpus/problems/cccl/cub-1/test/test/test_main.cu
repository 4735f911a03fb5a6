#include "ce_harness.hpp"
#include "segmented_max.h"

#include <cmath>
#include <limits>
#include <vector>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Expected {
  std::vector<float> value;
  std::vector<int> index;
};

// Exact: nothing is rounded anywhere, so neither are the comparisons with the results.
Expected oracle(const std::vector<float>& values, const std::vector<int>& offsets) {
  Expected want;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    int best = -1;
    for (int i = offsets[s]; i < offsets[s + 1]; ++i)
      if (!std::isnan(values[i]) && (best < 0 || values[i] > values[best])) best = i;
    want.index.push_back(best);
    want.value.push_back(best < 0 ? -kInf : values[best]);
  }
  return want;
}

// Offsets of segments with these lengths, the first of which starts at `start`.
std::vector<int> offsets_of(const std::vector<int>& lengths, int start) {
  std::vector<int> offsets{start};
  for (const int length : lengths) offsets.push_back(offsets.back() + length);
  return offsets;
}

std::size_t storage_for(int num_segments, cudaStream_t stream) {
  std::size_t bytes = 0;
  const cudaError_t error = segmented_max(nullptr, bytes, nullptr, nullptr, num_segments, nullptr, nullptr, stream);
  CE_CHECK(error == cudaSuccess, "the query for %d segments returned %s", num_segments, cudaGetErrorName(error));
  CE_CHECK(bytes > 0, "the query for %d segments asked for no storage", num_segments);
  return bytes;
}

// `values` is placed `shift` elements past an aligned address.
void check(const std::vector<float>& values, const std::vector<int>& offsets, std::size_t shift = 0) {
  const int num_segments = static_cast<int>(offsets.size()) - 1;
  std::vector<float> shifted(shift, kInf);
  shifted.insert(shifted.end(), values.begin(), values.end());
  const ce::DeviceBuffer<float> d_values(shifted);
  const ce::DeviceBuffer<int> d_offsets(offsets);
  ce::DeviceBuffer<float> d_value(num_segments);
  ce::DeviceBuffer<int> d_index(num_segments);
  const ce::Stream stream;

  std::size_t bytes = storage_for(num_segments, stream);
  ce::DeviceBuffer<unsigned char> storage(bytes);
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = segmented_max(storage.data(), bytes, d_values.data() + shift, d_offsets.data(), num_segments,
                                d_value.data(), d_index.data(), stream));
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));

  const Expected want = oracle(values, offsets);
  ce::expect_equal(d_index.download(), want.index, "max_index");
  ce::expect_equal(d_value.download(), want.value, "max_value");
  d_index.check_guards("max_index");
  d_value.check_guards("max_value");
  storage.check_guards("temp_storage");
  ce::expect_unchanged(d_values, shifted, "values");
  ce::expect_unchanged(d_offsets, offsets, "offsets");
}

// Segments of these lengths filled by `draw`, between two stretches that belong to no segment and would win everywhere.
template <class Draw>
void check_lengths(const std::vector<int>& lengths, Draw draw, std::size_t shift = 0) {
  const int around = 37;
  const std::vector<int> offsets = offsets_of(lengths, around);
  std::vector<float> values(offsets.back() + around, kInf);
  for (int i = offsets.front(); i < offsets.back(); ++i) values[i] = draw();
  check(values, offsets, shift);
}

CE_TEST(no_segments) {
  const ce::DeviceBuffer<float> values(std::vector<float>{1, 2, 3});
  const ce::DeviceBuffer<int> offsets(std::vector<int>{1});
  const std::vector<float> value_before{5, 6};
  const std::vector<int> index_before{7, 8};
  ce::DeviceBuffer<float> value(value_before);
  ce::DeviceBuffer<int> index(index_before);
  std::size_t bytes = storage_for(0, nullptr);
  ce::DeviceBuffer<unsigned char> storage(bytes);
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = segmented_max(storage.data(), bytes, values.data(), offsets.data(), 0, value.data(), index.data(),
                                nullptr));
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  ce::expect_unchanged(value, value_before, "max_value");
  ce::expect_unchanged(index, index_before, "max_index");
}

CE_TEST(one_segment_of_every_size) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4097, 65537}) {
    CE_SCOPE("length %d", n);
    check_lengths({n}, [&] { return rng.uniform<float>(-1, 1); });
  }
}

CE_TEST(mixed_lengths) {
  ce::Rng rng;
  const std::vector<int> usual{0, 0, 1, 2, 3, 5, 8, 31, 32, 33, 64, 100, 255, 256, 257, 511, 513, 1024, 2049, 5000};
  for (const std::size_t shift : {0, 1, 2, 3}) {
    CE_SCOPE("values %zu elements past an aligned address", shift);
    const auto lengths =
        ce::Rng::vector<int>(500, [&] { return usual[rng.integer<std::size_t>(0, usual.size() - 1)]; });
    check_lengths(lengths, [&] { return rng.normal<float>(-100, 30); }, shift);  // all below zero, nearly
  }
}

CE_TEST(maximum_at_every_position) {
  ce::Rng rng;
  for (const int n : {7, 32, 300}) {
    CE_SCOPE("length %d", n);
    const std::vector<int> offsets = offsets_of(std::vector<int>(n, n), 0);
    auto values = rng.uniform_vector<float>(static_cast<std::size_t>(n) * n, -5, -4);
    for (int s = 0; s < n; ++s) values[static_cast<std::size_t>(s) * n + s] = -3;
    check(values, offsets);
  }
}

CE_TEST(ties_go_to_the_smallest_index) {
  ce::Rng rng;
  const std::vector<int> lengths{1, 2, 33, 64, 257, 1000, 4096, 30000, 300001};
  check_lengths(lengths, [] { return 2.5f; });
  check_lengths(lengths, [&] { return static_cast<float>(rng.integer(-3, 0)); });
  check_lengths(std::vector<int>(3000, 40), [&] { return rng.integer(0, 30) == 0 ? 1.0f : -1.0f; });
}

CE_TEST(signed_zeros_are_equal) {
  ce::Rng rng;
  check_lengths({1, 2, 5, 33, 700, 20000}, [&] { return rng.integer(0, 1) ? 0.0f : -0.0f; });
  check_lengths(std::vector<int>(2000, 3), [&] { return rng.integer(0, 1) ? 0.0f : -0.0f; });
}

CE_TEST(nan_is_passed_over) {
  ce::Rng rng;
  for (const int share : {1, 2, 10, 1000}) {  // one in `share` is NaN
    CE_SCOPE("one in %d", share);
    check_lengths({0, 1, 1, 2, 3, 33, 128, 1000, 0, 5000, 100000}, [&] {
      return rng.integer(1, share) == 1 ? std::copysign(kNaN, rng.uniform<float>(-1, 1)) : rng.uniform<float>(-9, -8);
    });
  }
}

CE_TEST(infinities_and_extremes) {
  ce::Rng rng;
  const std::vector<int> lengths{0, 1, 2, 40, 300, 0, 7000};
  check_lengths(lengths, [] { return -kInf; });  // which differs from a segment without elements by the index
  check_lengths(lengths, [&] { return rng.integer(0, 1) ? kNaN : -kInf; });
  check_lengths(lengths, [&] { return rng.integer(0, 50) ? 1.0f : kInf; });
  check_lengths(lengths, [&] { return rng.integer(0, 50) ? -kInf : -std::numeric_limits<float>::max(); });
  check_lengths(lengths,
                [&] { return static_cast<float>(rng.integer(-4, 3)) * std::numeric_limits<float>::denorm_min(); });
}

CE_TEST(a_long_segment_among_many_short_ones) {
  ce::Rng rng;
  auto lengths = rng.integer_vector<int>(ce::sanitized() ? 3000 : 200000, 0, 6);
  lengths[lengths.size() / 2] = ce::sanitized() ? 100000 : 4000037;
  check_lengths(lengths, [&] { return rng.uniform<float>(-2, -1); });
}

// All work goes to the stream, whose earlier work produces the inputs, and the call does not wait for it.
CE_TEST(stream_order) {
  ce::Rng rng;
  const std::vector<int> offsets = offsets_of(rng.integer_vector<int>(1000, 0, 200), 0);
  const auto values = rng.uniform_vector<float>(offsets.back(), -1, 1),
             decoys = rng.uniform_vector<float>(offsets.back(), 2, 3);
  const int num_segments = static_cast<int>(offsets.size()) - 1;
  const ce::DeviceBuffer<float> source(values);
  const ce::DeviceBuffer<int> d_offsets(offsets);
  ce::DeviceBuffer<float> d_values(decoys), d_value(num_segments);
  ce::DeviceBuffer<int> d_index(num_segments);
  const ce::Stream stream;
  std::size_t bytes = storage_for(num_segments, stream);
  ce::DeviceBuffer<unsigned char> storage(bytes);
  const auto call = [&] {
    return segmented_max(storage.data(), bytes, d_values.data(), d_offsets.data(), num_segments, d_value.data(),
                         d_index.data(), stream);
  };
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = call());  // loads the kernels, which may take a wait of its own
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));

  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(d_values.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CHECK(storage_for(num_segments, stream) <= bytes, "two queries disagree");
  CE_CALL(error = call());
  gate.open();
  CE_CHECK(error == cudaSuccess, "returned %s", cudaGetErrorName(error));
  CE_CUDA(cudaStreamSynchronize(stream));
  const Expected want = oracle(values, offsets);
  ce::expect_equal(d_index.download(), want.index, "max_index");
  ce::expect_equal(d_value.download(), want.value, "max_value");
}

CE_BENCH(segments_of_a_thousand) {
  ce::Rng rng;
  const int iterations = 20;
  const std::vector<int> offsets = offsets_of(rng.integer_vector<int>(30000, 0, 2000), 0);
  const auto values = rng.uniform_vector<float>(offsets.back(), -1, 1);
  const int num_segments = static_cast<int>(offsets.size()) - 1;
  const ce::DeviceBuffer<float> d_values(values);
  const ce::DeviceBuffer<int> d_offsets(offsets);
  std::vector<ce::DeviceBuffer<float>> d_value;
  std::vector<ce::DeviceBuffer<int>> d_index;
  for (int i = 0; i <= iterations; ++i) d_value.emplace_back(num_segments), d_index.emplace_back(num_segments);
  const ce::Stream stream;
  std::size_t bytes = storage_for(num_segments, stream);
  ce::DeviceBuffer<unsigned char> storage(bytes);

  ce::timed("segmented_max", iterations, [&](int i) {
    CE_CALL(segmented_max(storage.data(), bytes, d_values.data(), d_offsets.data(), num_segments, d_value[i].data(),
                          d_index[i].data(), stream));
  });
  const Expected want = oracle(values, offsets);
  for (int i = 0; i <= iterations; ++i) {
    ce::expect_equal(d_index[i].download(), want.index, "max_index");
    ce::expect_equal(d_value[i].download(), want.value, "max_value");
  }
}

}  // namespace

int main(int argc, char** argv) { return ce::run(argc, argv); }
