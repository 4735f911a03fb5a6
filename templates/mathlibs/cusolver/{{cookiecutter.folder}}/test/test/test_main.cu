// Hidden test of solve.
#include "ce_harness.hpp"
#include "solve.h"

namespace {

struct Handle {
  Handle() {
    CE_CHECK(cusolverDnCreate(&handle) == CUSOLVER_STATUS_SUCCESS);
    CE_CHECK(cusolverDnSetStream(handle, stream) == CUSOLVER_STATUS_SUCCESS);
  }
  ~Handle() { cusolverDnDestroy(handle); }
  ce::Stream stream;
  cusolverDnHandle_t handle = nullptr;
};

// Uniform elements, with one per row and column that outweighs the others: well-conditioned, but its large elements
// stand on a random permutation instead of the diagonal, so that elimination without pivoting breaks down.
std::vector<double> make_matrix(ce::Rng& rng, int n) {
  auto a = rng.uniform_vector<double>(static_cast<std::size_t>(n) * n, -1, 1);
  std::vector<int> place(n);
  for (int i = 0; i < n; ++i) place[i] = i;
  rng.shuffle(place);
  for (int i = 0; i < n; ++i) {
    a[i + static_cast<std::size_t>(i) * n] = 0;
    a[i + static_cast<std::size_t>(place[i]) * n] = 2 * n;
  }
  return a;
}

double largest(const double* values, int n) {
  double size = 0;
  for (int i = 0; i < n; ++i) size = std::fmax(size, std::fabs(values[i]));
  return size;
}

double largest_row_sum(const std::vector<double>& a, int n) {
  std::vector<double> sums(n);
  for (std::size_t i = 0; i < a.size(); ++i) sums[i % n] += std::fabs(a[i]);
  return largest(sums.data(), n);
}

// Elimination with row pivoting solves exactly a system whose elements differ by a small multiple of 2^-53 in practice;
// the prompt grants 16 n units, relative to |A| |x| + |b|. The residual below is itself rounded, by at most n + 1 such
// units.
void expect_solution(const std::vector<double>& x, const std::vector<double>& a, const std::vector<double>& b, int n) {
  const double norm = largest_row_sum(a, n);
  for (std::size_t column = 0; column < x.size(); column += n) {
    CE_SCOPE("right-hand side %zu", column / n);
    std::vector<double> residual(n), none(n);
    for (int i = 0; i < n; ++i) residual[i] = -b[column + i];
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) residual[i] += a[i + static_cast<std::size_t>(j) * n] * x[column + j];
    const double bound = 16 * n * 0x1p-53 * (norm * largest(&x[column], n) + largest(&b[column], n));
    ce::expect_close(residual, none, {bound, 0}, "A x - b");
  }
}

void check(ce::Rng& rng, int n, int m) {
  CE_SCOPE("n %d, m %d", n, m);
  const auto a = make_matrix(rng, n), b = rng.uniform_vector<double>(static_cast<std::size_t>(n) * m, -1, 1);
  const Handle cusolver;
  ce::DeviceBuffer<double> d_a(a), d_b(b);
  CE_CALL(solve(cusolver.handle, d_a.data(), d_b.data(), n, m));
  const auto x = d_b.download();
  d_a.check_guards("a");
  d_b.check_guards("b");
  expect_solution(x, a, b, n);
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const int n : {0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257})
    for (const int m : {0, 1, 3}) check(rng, n, m);
}

CE_TEST(right_hand_sides) {
  ce::Rng rng;
  for (const int m : {1, 2, 31, 32, 33, 257}) check(rng, 50, m);
}

CE_TEST(large) {
  ce::Rng rng;
  check(rng, ce::sanitized() ? 150 : 1500, 2);
}

// B arrives by a copy in the handle's stream.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int n = 100, m = 5000;
  const auto a = make_matrix(rng, n), b = rng.uniform_vector<double>(n * m, -1, 1);
  const Handle cusolver;
  const ce::DeviceBuffer<double> source(b);
  ce::DeviceBuffer<double> d_a(a), d_b(b.size());
  for (int i = 0; i < 20; ++i)  // enough to be late for whoever does not wait
    CE_CUDA(cudaMemcpyAsync(d_b.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, cusolver.stream));
  CE_CALL(solve(cusolver.handle, d_a.data(), d_b.data(), n, m));
  CE_CUDA(cudaStreamSynchronize(cusolver.stream));
  expect_solution(d_b.download(), a, b, n);
}

CE_BENCH(two_thousand_unknowns) {
  constexpr int kIterations = 5, n = 2000, m = 4;
  ce::Rng rng;
  const Handle cusolver;
  std::vector<std::vector<double>> a, b;
  std::vector<ce::DeviceBuffer<double>> d_a, d_b;
  for (int i = 0; i <= kIterations; ++i) {
    a.push_back(make_matrix(rng, n)), b.push_back(rng.uniform_vector<double>(n * m, -1, 1));
    d_a.emplace_back(a.back()), d_b.emplace_back(b.back());
  }
  ce::timed("solve", kIterations,
            [&](int i) { CE_CALL(solve(cusolver.handle, d_a[i].data(), d_b[i].data(), n, m)); });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    expect_solution(d_b[i].download(), a[i], b[i], n);
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
