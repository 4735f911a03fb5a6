// Hidden test of spectra.
#include "ce_harness.hpp"
#include "spectra.h"

#include <complex>

namespace {

using Complex = std::complex<double>;

// A fast Fourier transform errs, relative to the norm of the whole spectrum, by a small multiple of 2^-24 *
// log2(length); the norm of the spectrum is sqrt(length) times that of the signal. The prompt grants 16 times that,
// which covers the three transforms that make up one of prime length. An element that is missing, swapped or conjugated
// is off by far more.
double granted(const float* signal, int length) {
  double squares = 0;
  for (int j = 0; j < length; ++j) squares += static_cast<double>(signal[j]) * signal[j];
  return 0x1p-20 * (1 + std::log2(length)) * std::sqrt(length) * std::sqrt(squares);
}

// The definition in double precision, for the value k of one spectrum.
Complex transform_at(const float* signal, int length, int k, const std::vector<Complex>& roots) {
  Complex sum = 0;
  int turn = 0;  // j * k, modulo length
  for (int j = 0; j < length; ++j, turn = (turn + k) % length) sum += static_cast<double>(signal[j]) * roots[turn];
  return sum;
}

std::vector<Complex> roots_of_unity(int length) {
  std::vector<Complex> roots;
  for (int j = 0; j < length; ++j) roots.push_back(std::polar(1.0, -2 * 3.14159265358979323846 * j / length));
  return roots;
}

// Checks every step-th value of each spectrum, from a random one on.
void check_result(ce::Rng& rng, const std::vector<float2>& out, const float* in, int length, int count, int step) {
  const auto roots = roots_of_unity(length);
  const int values = length / 2 + 1;
  std::vector<float> got;
  std::vector<double> want, bounds;
  for (int s = 0; s < count; ++s) {
    const float* signal = in + static_cast<std::size_t>(s) * length;
    for (int k = rng.integer(0, std::min(step, values) - 1); k < values; k += step) {
      const float2 value = out[static_cast<std::size_t>(s) * values + k];
      const Complex exact = transform_at(signal, length, k, roots);
      got.insert(got.end(), {value.x, value.y});
      want.insert(want.end(), {exact.real(), exact.imag()});
      bounds.insert(bounds.end(), 2, granted(signal, length));
    }
  }
  ce::expect_within(got, want, bounds, "out, real and imaginary parts in turn");
}

void check(ce::Rng& rng, int length, int count, int step = 1) {
  CE_SCOPE("length %d, count %d", length, count);
  const auto in = rng.uniform_vector<float>(static_cast<std::size_t>(length) * count, -1, 1);
  const ce::DeviceBuffer<float> d_in(in);
  ce::DeviceBuffer<float2> d_out(static_cast<std::size_t>(length / 2 + 1) * count);
  CE_CALL(spectra(d_in.data(), d_out.data(), length, count, nullptr));
  check_result(rng, d_out.download(), in.data(), length, count, step);
  d_out.check_guards("out");
  ce::expect_unchanged(d_in, in, "in");
}

}  // namespace

CE_TEST(lengths) {
  ce::Rng rng;
  for (const int length : {1, 2, 3, 4, 31, 32, 33, 127, 128, 255, 256, 257, 1000, 1009, 1024, 2047})
    check(rng, length, 3);
}

CE_TEST(counts) {
  ce::Rng rng;
  for (const int count : {0, 1, 31, 32, 33, 257}) check(rng, 48, count);
}

CE_TEST(large) {
  ce::Rng rng;
  check(rng, ce::sanitized() ? 8192 : 1 << 18, 2, 1999);
  check(rng, ce::sanitized() ? 8191 : 131071, 1, 1999);  // primes
}

// The input arrives by a copy in the same stream.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int length = 100, count = 5000;
  const auto in = rng.uniform_vector<float>(length * count, -1, 1);
  const ce::DeviceBuffer<float> source(in);
  ce::DeviceBuffer<float> d_in(in.size());
  ce::DeviceBuffer<float2> d_out((length / 2 + 1) * count);
  const ce::Stream stream;
  for (int i = 0; i < 20; ++i)  // enough to be late for whoever does not wait
    CE_CUDA(cudaMemcpyAsync(d_in.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(spectra(d_in.data(), d_out.data(), length, count, stream));
  CE_CUDA(cudaStreamSynchronize(stream));
  check_result(rng, d_out.download(), in.data(), length, count, 7);
}

CE_BENCH(signals_of_4096) {
  constexpr int kIterations = 10, kLength = 4096, kCount = 4096;
  ce::Rng rng;
  // Iteration i starts at signal i, so no two have the same input.
  const auto in = rng.uniform_vector<float>(static_cast<std::size_t>(kCount + kIterations) * kLength, -1, 1);
  const ce::DeviceBuffer<float> d_in(in);
  std::vector<ce::DeviceBuffer<float2>> d_out;
  for (int i = 0; i <= kIterations; ++i) d_out.emplace_back(static_cast<std::size_t>(kLength / 2 + 1) * kCount);

  ce::timed("spectra", kIterations, [&](int i) {
    CE_CALL(spectra(d_in.data() + static_cast<std::size_t>(i) * kLength, d_out[i].data(), kLength, kCount, nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    check_result(rng, d_out[i].download(), in.data() + static_cast<std::size_t>(i) * kLength, kLength, kCount, 1024);
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
