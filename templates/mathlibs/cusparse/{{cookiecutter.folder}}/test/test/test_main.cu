// Hidden test of multiply.
#include "ce_harness.hpp"
#include "multiply.h"

namespace {

struct Handle {
  Handle() {
    CE_CHECK(cusparseCreate(&handle) == CUSPARSE_STATUS_SUCCESS);
    CE_CHECK(cusparseSetStream(handle, stream) == CUSPARSE_STATUS_SUCCESS);
  }
  ~Handle() { cusparseDestroy(handle); }
  ce::Stream stream;
  cusparseHandle_t handle = nullptr;
};

struct Matrix {
  int rows, cols;
  std::vector<int> offsets{0}, columns{};
  std::vector<float> values{};
  int nnz() const { return offsets.back(); }
};

float whole_number(ce::Rng& rng) { return static_cast<float>(rng.integer(-8, 8)); }

// A matrix whose row r has length(r) elements, at most cols: evenly spread columns from a random one on.
template <class Length>
Matrix make_matrix(ce::Rng& rng, int rows, int cols, Length length) {
  Matrix a{rows, cols};
  for (int r = 0; r < rows; ++r) {
    const int count = length(r), step = count > 0 ? cols / count : 0;
    const int start = count > 0 ? rng.integer(0, cols - 1 - (count - 1) * step) : 0;
    for (int i = 0; i < count; ++i) a.columns.push_back(start + i * step), a.values.push_back(whole_number(rng));
    a.offsets.push_back(static_cast<int>(a.columns.size()));
  }
  return a;
}

// The product in double precision, and `granted` times its error bound without the factor 2^-23.
void expect_product(const std::vector<float>& y, const Matrix& a, const float* x, double granted) {
  std::vector<double> want(a.rows), bounds(a.rows);
  for (int r = 0; r < a.rows; ++r) {
    for (int i = a.offsets[r]; i < a.offsets[r + 1]; ++i) {
      const double term = static_cast<double>(a.values[i]) * x[a.columns[i]];
      want[r] += term, bounds[r] += std::fabs(term);
    }
    bounds[r] *= granted * (a.offsets[r + 1] - a.offsets[r] + 2);
  }
  ce::expect_within(y, want, bounds, "y");
}

// The device's copy of a matrix.
struct DeviceMatrix {
  explicit DeviceMatrix(const Matrix& a) : offsets(a.offsets), columns(a.columns), values(a.values) {}
  void expect_unchanged(const Matrix& a) const {
    ce::expect_unchanged(offsets, a.offsets, "offsets");
    ce::expect_unchanged(columns, a.columns, "columns");
    ce::expect_unchanged(values, a.values, "values");
  }
  ce::DeviceBuffer<int> offsets, columns;
  ce::DeviceBuffer<float> values;
};

void call(const Handle& cusparse, const Matrix& a, const DeviceMatrix& d_a, const float* x, float* y) {
  CE_CALL(multiply(cusparse.handle, a.rows, a.cols, a.nnz(), d_a.offsets.data(), d_a.columns.data(),
                   d_a.values.data(), x, y));
}

void check(const Matrix& a, const std::vector<float>& x, double granted = 0) {
  CE_SCOPE("rows %d, cols %d, nnz %d", a.rows, a.cols, a.nnz());
  const Handle cusparse;
  const DeviceMatrix d_a(a);
  const ce::DeviceBuffer<float> d_x(x);
  ce::DeviceBuffer<float> d_y(a.rows);
  call(cusparse, a, d_a, d_x.data(), d_y.data());
  expect_product(d_y.download(), a, x.data(), granted);
  d_y.check_guards("y");
  d_a.expect_unchanged(a);
  ce::expect_unchanged(d_x, x, "x");
}

// Small integers: every partial sum stays below 2^24, so single precision is exact in any order and nothing need be
// granted.
std::vector<float> whole_numbers(ce::Rng& rng, int n) {
  return ce::Rng::vector<float>(n, [&] { return whole_number(rng); });
}

}  // namespace

CE_TEST(shapes) {
  ce::Rng rng;
  for (const int rows : {0, 1, 2, 31, 32, 33, 255, 256, 257, 1025})
    for (const int cols : {1, 33, 1000}) {
      const auto length = [&](int) { return rng.integer(0, std::min(cols, 9)); };
      check(make_matrix(rng, rows, cols, length), whole_numbers(rng, cols));
    }
}

CE_TEST(row_lengths) {
  ce::Rng rng;
  for (const int length : {0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1025, 5000})
    check(make_matrix(rng, 7, 5000, [&](int) { return length; }), whole_numbers(rng, 5000));
}

CE_TEST(uneven_rows) {  // empty ones at either end, a full one in between
  ce::Rng rng;
  const auto length = [](int r) { return r < 40 || r >= 260 ? 0 : r == 100 ? 30000 : r % 50; };
  check(make_matrix(rng, 300, 30000, length), whole_numbers(rng, 30000));
}

CE_TEST(large) {
  ce::Rng rng;
  const int n = ce::sanitized() ? 3001 : 200003;
  check(make_matrix(rng, n, n, [&](int) { return rng.integer(0, 40); }), whole_numbers(rng, n));
}

// A sum of k products in any order errs by at most k * 2^-24 * (sum of the magnitudes) to first order. The prompt
// grants twice that, and two units more, which covers the higher orders.
CE_TEST(rounding) {
  ce::Rng rng;
  Matrix a = make_matrix(rng, 400, 2000, [&](int) { return rng.integer(1, 500); });
  for (float& value : a.values) value = rng.uniform<float>(-1, 1);
  check(a, rng.uniform_vector<float>(2000, -1, 1), 0x1p-23);
}

// x arrives by a copy in the handle's stream.
CE_TEST(stream_order) {
  ce::Rng rng;
  const int n = 100003;
  const Matrix a = make_matrix(rng, n, n, [&](int) { return 5; });
  const auto x = whole_numbers(rng, n);
  const Handle cusparse;
  const DeviceMatrix d_a(a);
  const ce::DeviceBuffer<float> source(x);
  ce::DeviceBuffer<float> d_x(whole_numbers(rng, n)), d_y(n);
  for (int i = 0; i < 50; ++i)  // enough to be late for whoever does not wait
    CE_CUDA(cudaMemcpyAsync(d_x.data(), source.data(), source.bytes(), cudaMemcpyDeviceToDevice, cusparse.stream));
  call(cusparse, a, d_a, d_x.data(), d_y.data());
  CE_CUDA(cudaStreamSynchronize(cusparse.stream));
  expect_product(d_y.download(), a, x.data(), 0);
}

CE_BENCH(million_rows) {
  constexpr int kIterations = 10, kRows = 1000000;
  ce::Rng rng;
  const Matrix a = make_matrix(rng, kRows, kRows, [&](int) { return rng.integer(0, 40); });
  // Iteration i reads x from element i on, so no two have the same input.
  const auto x = whole_numbers(rng, kRows + kIterations);
  const Handle cusparse;
  const DeviceMatrix d_a(a);
  const ce::DeviceBuffer<float> d_x(x);
  std::vector<ce::DeviceBuffer<float>> d_y;
  for (int i = 0; i <= kIterations; ++i) d_y.emplace_back(kRows);

  ce::timed("multiply", kIterations, [&](int i) { call(cusparse, a, d_a, d_x.data() + i, d_y[i].data()); });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    expect_product(d_y[i].download(), a, x.data() + i, 0);
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
