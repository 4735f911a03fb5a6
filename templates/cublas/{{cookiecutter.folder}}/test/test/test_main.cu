// Hidden test of multiply.
#include "ce_harness.hpp"
#include "multiply.h"

namespace {

struct Handle {
  Handle() {
    CE_CHECK(cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS);
    CE_CHECK(cublasSetStream(handle, stream) == CUBLAS_STATUS_SUCCESS);
  }
  ~Handle() { cublasDestroy(handle); }
  ce::Stream stream;
  cublasHandle_t handle = nullptr;
};

std::vector<float> whole_numbers(ce::Rng& rng, std::size_t n) {
  return ce::Rng::vector<float>(n, [&] { return static_cast<float>(rng.integer(-8, 8)); });
}

struct Matrices {
  int m, n, k;
  std::vector<float> a, b;
};

Matrices whole_matrices(ce::Rng& rng, int m, int n, int k) {
  const auto a = whole_numbers(rng, static_cast<std::size_t>(m) * k);
  return {m, n, k, a, whole_numbers(rng, static_cast<std::size_t>(k) * n)};
}

// A B, or |A| |B|, in double precision.
std::vector<double> product(const Matrices& x, bool of_magnitudes) {
  std::vector<double> c(static_cast<std::size_t>(x.m) * x.n);
  for (int i = 0; i < x.m; ++i)
    for (int l = 0; l < x.k; ++l)
      for (int j = 0; j < x.n; ++j) {
        const double term = static_cast<double>(x.a[i * x.k + l]) * x.b[l * x.n + j];
        c[i * x.n + j] += of_magnitudes ? std::fabs(term) : term;
      }
  return c;
}

void check(const Matrices& x, double granted) {
  CE_SCOPE("m %d, n %d, k %d", x.m, x.n, x.k);
  const Handle cublas;
  const ce::DeviceBuffer<float> a(x.a), b(x.b);
  ce::DeviceBuffer<float> c(static_cast<std::size_t>(x.m) * x.n);
  CE_CALL(multiply(cublas.handle, a.data(), b.data(), c.data(), x.m, x.n, x.k));
  std::vector<double> bounds = product(x, true);
  for (double& bound : bounds) bound *= granted;
  ce::expect_within(c.download(), product(x, false), bounds, "c");
  c.check_guards("c");
  ce::expect_unchanged(a, x.a, "a");
  ce::expect_unchanged(b, x.b, "b");
}

// C x = A (B x) for a random x, in integers that double precision holds exactly. A single wrong element of C goes
// unnoticed with a probability of 1 in 2001 (Freivalds), at the cost of three passes over the matrices.
void check_by_vector(ce::Rng& rng, const std::vector<float>& a, const std::vector<float>& b,
                     const std::vector<float>& c, int n) {
  const auto times = [n](const float* matrix, const std::vector<double>& x) {
    std::vector<double> y(x.size());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) y[i] += static_cast<double>(matrix[static_cast<std::size_t>(i) * n + j]) * x[j];
    return y;
  };
  const auto x = ce::Rng::vector<double>(n, [&] { return rng.integer(-1000, 1000); });
  const std::vector<double> got = times(c.data(), x);
  ce::expect_close(got, times(a.data(), times(b.data(), x)), {}, "c times a vector");
}

}  // namespace

// Small integers: every partial sum stays below 2^24, so single precision is exact in any order and nothing need be
// granted.
CE_TEST(shapes) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 31, 32, 33, 127, 128, 129, 257}) {
    check(whole_matrices(rng, n, n + 3, n + 1), 0);
    check(whole_matrices(rng, 5, n, 70), 0);
    check(whole_matrices(rng, n, 7, 2), 0);
    check(whole_matrices(rng, 9, 4, n), 0);
  }
}

CE_TEST(large) {
  ce::Rng rng;
  const int n = ce::sanitized() ? 150 : 700;
  check(whole_matrices(rng, n, n + 13, n - 11), 0);
}

// A sum of k products in any order errs by at most k * 2^-24 * (|A| |B|) to first order. The prompt grants twice that,
// and two units more, which covers the higher orders.
CE_TEST(rounding) {
  ce::Rng rng;
  for (const int k : {3, 60, 500}) {
    Matrices x{40, 50, k, rng.uniform_vector<float>(40 * k, -1, 1), rng.uniform_vector<float>(50 * k, -1, 1)};
    check(x, (k + 2) * 0x1p-23);
  }
}

// A arrives by a copy in the handle's stream.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Matrices x = whole_matrices(rng, 200, 100, 300);
  const Handle cublas;
  const ce::DeviceBuffer<float> source(x.a), b(x.b);
  ce::DeviceBuffer<float> a(whole_numbers(rng, x.a.size())), c(200 * 100);
  CE_CALL(multiply(cublas.handle, a.data(), b.data(), c.data(), 200, 100, 300));  // loads the kernels, which may wait
  ce::StreamGate gate(cublas.stream);
  CE_CUDA(cudaMemcpyAsync(a.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, cublas.stream));
  CE_CALL(multiply(cublas.handle, a.data(), b.data(), c.data(), 200, 100, 300));
  gate.open();
  CE_CUDA(cudaStreamSynchronize(cublas.stream));
  ce::expect_close(c.download(), product(x, false), {}, "c");
}

CE_BENCH(square_2048) {
  constexpr int kIterations = 10, n = 2048;
  constexpr std::size_t kSize = static_cast<std::size_t>(n) * n;
  ce::Rng rng;
  // Iteration i reads A from row i on, so no two have the same input.
  const auto a = whole_numbers(rng, kSize + kIterations * n), b = whole_numbers(rng, kSize);
  const Handle cublas;
  const ce::DeviceBuffer<float> d_a(a), d_b(b);
  std::vector<ce::DeviceBuffer<float>> d_c;
  for (int i = 0; i <= kIterations; ++i) d_c.emplace_back(kSize);

  ce::timed("multiply", kIterations, [&](int i) {
    CE_CALL(multiply(cublas.handle, d_a.data() + i * n, d_b.data(), d_c[i].data(), n, n, n));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    check_by_vector(rng, {a.begin() + i * n, a.end()}, b, d_c[i].download(), n);
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
