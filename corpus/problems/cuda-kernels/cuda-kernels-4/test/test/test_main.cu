// Hidden test of csr_spmv.
#include "ce_harness.hpp"
#include "csr_spmv.h"

#include <limits>
#include <numeric>

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

struct Matrix {
  int rows = 0, cols = 0;
  std::vector<int> offsets, columns;
  std::vector<float> values;
  int nnz() const { return rows == 0 ? 0 : offsets[rows] - offsets[0]; }
};

// Rows of the given lengths behind `before` entries of a larger matrix that would spoil any sum. The ends of a row
// weigh as much as all the rest of it, so that none can be lost unnoticed however long the row.
Matrix make_matrix(ce::Rng& rng, const std::vector<int>& lengths, int cols, int before = 0) {
  Matrix a;
  a.rows = static_cast<int>(lengths.size());
  a.cols = cols;
  a.offsets.push_back(before);
  for (const int length : lengths) a.offsets.push_back(a.offsets.back() + length);
  a.columns = rng.integer_vector<int>(a.offsets.back(), 0, cols - 1);
  a.values = rng.uniform_vector<float>(a.offsets.back(), -1, 1);
  std::fill(a.values.begin(), a.values.begin() + before, kNan);
  for (int r = 0; r < a.rows; ++r) {
    const float weight = 1.0f + static_cast<float>(lengths[r]) / 4;
    if (lengths[r] > 0) a.values[a.offsets[r]] *= weight;
    if (lengths[r] > 1) a.values[a.offsets[r + 1] - 1] *= weight;
  }
  return a;
}

struct Sums {
  std::vector<double> sum, magnitude;  // of values[k] * x[columns[k]], a row
};

Sums sums_of(const Matrix& a, const std::vector<float>& x) {
  Sums s{std::vector<double>(a.rows), std::vector<double>(a.rows)};
  for (int r = 0; r < a.rows; ++r)
    for (int k = a.offsets[r]; k < a.offsets[r + 1]; ++k) {
      const double product = static_cast<double>(a.values[k]) * x[a.columns[k]];
      s.sum[r] += product;
      s.magnitude[r] += std::fabs(product);
    }
  return s;
}

// The prompt's bound. Adding k terms in any order errs by at most (k - 1) u times the sum of magnitudes, u = 2^-24;
// each term carries 2 u for its products, beta * y and the last sum 1 u each. Beyond 1000 terms sums are made of parts
// that are added separately, or err far less than the worst case.
void check(const std::vector<float>& got, const Matrix& a, const Sums& s, double alpha, double beta,
           const std::vector<float>& y) {
  std::vector<double> want(a.rows), bound(a.rows);
  for (int r = 0; r < a.rows; ++r) {
    const double product = alpha == 0 ? 0 : alpha * s.sum[r], old = beta == 0 ? 0 : beta * y[r];
    want[r] = product + old;
    bound[r] = (std::min(a.offsets[r + 1] - a.offsets[r], 1000) + 4) * 0x1p-24 *
               ((alpha == 0 ? 0 : std::fabs(alpha) * s.magnitude[r]) + std::fabs(old));
  }
  ce::expect_within(got, want, bound, "y");
}

struct OnDevice {
  explicit OnDevice(const Matrix& a) : offsets(a.offsets), columns(a.columns), values(a.values) {}
  ce::DeviceBuffer<int> offsets, columns;
  ce::DeviceBuffer<float> values;
};

cudaError_t multiply(const Matrix& a, const OnDevice& d, float alpha, const float* x, float beta, float* y,
                     cudaStream_t stream = nullptr) {
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = csr_spmv(a.rows, a.cols, a.nnz(), d.offsets.data(), d.columns.data(), d.values.data(), alpha, x, beta,
                           y, stream));
  return error;
}

void run_on(const Matrix& a, const std::vector<float>& x, const std::vector<float>& y, float alpha, float beta) {
  CE_SCOPE("rows %d, cols %d, nnz %d, alpha %g, beta %g", a.rows, a.cols, a.nnz(), alpha, beta);
  const OnDevice device(a);
  const ce::DeviceBuffer<float> dx(x);
  ce::DeviceBuffer<float> dy(y);
  CE_CHECK(multiply(a, device, alpha, dx.data(), beta, dy.data()) == cudaSuccess);
  check(dy.download(), a, sums_of(a, x), alpha, beta, y);
  dy.check_guards("y");
  ce::expect_unchanged(dx, x, "x");
  ce::expect_unchanged(device.offsets, a.offsets, "row_offsets");
  ce::expect_unchanged(device.columns, a.columns, "columns");
  ce::expect_unchanged(device.values, a.values, "values");
}

void run_lengths(ce::Rng& rng, const std::vector<int>& lengths, int before = 0) {
  const Matrix a = make_matrix(rng, lengths, rng.integer(1, 5000), before);
  const auto x = rng.uniform_vector<float>(a.cols, -2, 2), y = rng.uniform_vector<float>(a.rows, -9, 9);
  run_on(a, x, y, rng.uniform<float>(-3, 3), rng.uniform<float>(-3, 3));
}

}  // namespace

CE_TEST(one_row) {
  ce::Rng rng;
  for (const int length : {0,   1,    2,    31,   32,   33,   127,  128,  255,  256,  257,  511,
                           1023, 1024, 1025, 2046, 2047, 2048, 2049, 4095, 4096, 4097, 10007})
    run_lengths(rng, {length}, rng.integer(0, 70));
}

// Each row the same length, so that rows begin and end at every offset in a warp and a block.
CE_TEST(equal_rows) {
  ce::Rng rng;
  for (const int length : {0, 1, 2, 3, 7, 8, 31, 32, 33, 100, 256, 300})
    for (const int rows : {1, 2, 31, 33, 256, 257}) run_lengths(rng, std::vector<int>(rows, length), rng.integer(0, 3));
}

CE_TEST(random_rows) {
  ce::Rng rng;
  for (int i = 0; i < (ce::sanitized() ? 5 : 30); ++i) {
    const int longest = 1 << rng.integer(0, 10);
    run_lengths(rng, rng.integer_vector<int>(rng.integer(1, 700), 0, longest), rng.integer(0, 9));
  }
}

// Runs of empty rows, at the start, at the end and around rows that are not.
CE_TEST(empty_rows) {
  ce::Rng rng;
  for (const int run : {1, 31, 256, 2047, 2048, 2049, 5000}) {
    std::vector<int> lengths(3 * run, 0);
    run_lengths(rng, lengths, 5);
    lengths[run] = 3000;
    run_lengths(rng, lengths);
    lengths[run - 1] = lengths[2 * run] = 1;
    run_lengths(rng, lengths);
    std::vector<int> ends(run, 0);
    ends.front() = ends.back() = 77;
    run_lengths(rng, ends);
  }
}

// One row longer than all others together, first, last and in between.
CE_TEST(one_giant_row) {
  ce::Rng rng;
  const int giant = ce::sanitized() ? 20011 : 2000003;
  for (const int place : {0, 250, 499}) {
    std::vector<int> lengths = rng.integer_vector<int>(500, 0, 12);
    lengths[place] = giant;
    run_lengths(rng, lengths, 17);
  }
}

CE_TEST(many_rows) {
  ce::Rng rng;
  const int rows = ce::sanitized() ? 5003 : 1500007;
  run_lengths(rng, rng.integer_vector<int>(rows, 0, 2));
  std::vector<int> lengths(rows, 0);
  for (int i = 0; i < 100; ++i) lengths[rng.integer(0, rows - 1)] = rng.integer(1, 400);
  run_lengths(rng, lengths);
}

// A row of ones and a vector of ones counts its entries: all partial sums are exact, so is the result.
CE_TEST(counts_exactly) {
  ce::Rng rng;
  Matrix a = make_matrix(rng, {1000, 0, 50000, 1, 2047, 0, 0, 99999}, 300);
  std::fill(a.values.begin(), a.values.end(), 1.0f);
  const OnDevice device(a);
  const ce::DeviceBuffer<float> x(std::vector<float>(a.cols, 1.0f));
  ce::DeviceBuffer<float> y(std::vector<float>(a.rows, 2.0f));
  CE_CHECK(multiply(a, device, 1, x.data(), -1, y.data()) == cudaSuccess);
  ce::expect_close(y.download(), {998, -2, 49998, -1, 2045, -2, -2, 99997}, {}, "y");
}

CE_TEST(alpha_and_beta) {
  ce::Rng rng;
  const Matrix a = make_matrix(rng, rng.integer_vector<int>(333, 0, 40), 100, 4);
  const auto x = rng.uniform_vector<float>(a.cols, -2, 2), y = rng.uniform_vector<float>(a.rows, -9, 9);
  for (const float alpha : {0.0f, 1.0f, -2.5f})
    for (const float beta : {0.0f, 1.0f, 0.75f}) run_on(a, x, y, alpha, beta);

  const std::vector<float> nan_x(a.cols, kNan), inf_y(a.rows, kInf);
  std::vector<float> nan_y(a.rows, kNan);
  run_on(a, x, nan_y, 1.5f, 0);
  run_on(a, x, inf_y, 1.5f, 0);
  run_on(a, nan_x, y, 0, 1.5f);
  run_on(a, nan_x, nan_y, 0, 0);
  nan_y.assign(a.rows, 1);
  nan_y[7] = kNan;
  run_on(a, x, nan_y, 1, 1);
}

// One special value in a row makes that row special, and no other.
CE_TEST(infinities_and_nan) {
  ce::Rng rng;
  Matrix a = make_matrix(rng, rng.integer_vector<int>(400, 1, 300), 1000);
  auto x = rng.uniform_vector<float>(a.cols, 1, 2);
  const auto y = rng.uniform_vector<float>(a.rows, -9, 9);
  for (int r = 0; r < a.rows; r += 3) {
    const int k = rng.integer(a.offsets[r], a.offsets[r + 1] - 1);
    a.values[k] = r % 9 == 0 ? kInf : r % 9 == 3 ? -kInf : kNan;
    if (r % 27 == 0 && a.offsets[r + 1] - a.offsets[r] > 1) a.values[k == a.offsets[r] ? k + 1 : k - 1] = -kInf;
  }
  x[rng.integer(0, a.cols - 1)] = kInf;
  run_on(a, x, y, 1, 1);
}

CE_TEST(nothing_to_do) {
  ce::Rng rng;
  CE_CALL(CE_CHECK(csr_spmv(0, 5, 0, nullptr, nullptr, nullptr, 1, nullptr, 1, nullptr, nullptr) == cudaSuccess));
  CE_CALL(CE_CHECK(csr_spmv(0, 0, 0, nullptr, nullptr, nullptr, 1, nullptr, 0, nullptr, nullptr) == cudaSuccess));
  for (const int rows : {1, 300, 5000}) {  // no entries, hence no x
    CE_SCOPE("rows %d", rows);
    const ce::DeviceBuffer<int> offsets(std::vector<int>(rows + 1, 6));
    ce::DeviceBuffer<float> y(std::vector<float>(rows, 3.0f));
    CE_CALL(CE_CHECK(csr_spmv(rows, 4, 0, offsets.data(), nullptr, nullptr, 1, nullptr, 2, y.data(), nullptr) ==
                     cudaSuccess));
    ce::expect_close(y.download(), std::vector<double>(rows, 6), {}, "y");
  }
}

// x and y arrive by copies in the stream, which is held back until both of two calls have returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  ce::Stream streams[2];
  const Matrix a = make_matrix(rng, rng.integer_vector<int>(900, 0, 60), 500, 2);
  const OnDevice device(a);
  const auto x = rng.uniform_vector<float>(a.cols, -2, 2), y = rng.uniform_vector<float>(a.rows, -9, 9);
  const ce::DeviceBuffer<float> x_source(x), y_source(y);
  ce::DeviceBuffer<float> dx[2] = {ce::DeviceBuffer<float>(std::vector<float>(a.cols, 0)),
                                   ce::DeviceBuffer<float>(std::vector<float>(a.cols, 0))};
  ce::DeviceBuffer<float> dy[2] = {ce::DeviceBuffer<float>(std::vector<float>(a.rows, 0)),
                                   ce::DeviceBuffer<float>(std::vector<float>(a.rows, 0))};
  CE_CHECK(multiply(a, device, 1, dx[0].data(), 0.5f, dy[0].data(), streams[0]) == cudaSuccess);  // loads the kernels
  CE_CUDA(cudaStreamSynchronize(streams[0]));
  ce::StreamGate gate0(streams[0]), gate1(streams[1]);
  for (const int i : {0, 1}) {
    CE_CUDA(cudaMemcpyAsync(dx[i].data(), x_source.data(), dx[i].bytes(), cudaMemcpyDeviceToDevice, streams[i]));
    CE_CUDA(cudaMemcpyAsync(dy[i].data(), y_source.data(), dy[i].bytes(), cudaMemcpyDeviceToDevice, streams[i]));
    CE_CHECK(multiply(a, device, 1 + i, dx[i].data(), 0.5f, dy[i].data(), streams[i]) == cudaSuccess);
  }
  CE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  gate0.open();
  gate1.open();
  for (const int i : {0, 1}) check(dy[i].download(), a, sums_of(a, x), 1 + i, 0.5, y);
}

CE_BENCH(power_law) {
  constexpr int kIterations = 10, rows = 1 << 20;
  ce::Rng rng;
  // Lengths at equal steps of probability, P(length > n) = (6 / n)^1.25: the same in every run, in a random order.
  std::vector<int> lengths;
  for (int i = 0; i < rows; ++i) lengths.push_back(static_cast<int>(6 * std::pow((i + 0.5) / rows, -0.8)));
  rng.shuffle(lengths);
  const Matrix a = make_matrix(rng, lengths, rows);
  const auto x = rng.uniform_vector<float>(a.cols, -2, 2), y = rng.uniform_vector<float>(a.rows, -9, 9);
  const OnDevice device(a);
  const ce::DeviceBuffer<float> dx(x);
  std::vector<ce::DeviceBuffer<float>> dy;
  for (int i = 0; i <= kIterations; ++i) dy.emplace_back(y);
  const auto alpha = [](int i) { return 1 + 0.125f * i; };  // no two iterations have the same result

  ce::timed("csr_spmv", kIterations, [&](int i) { multiply(a, device, alpha(i), dx.data(), 0.5f, dy[i].data()); });
  const Sums sums = sums_of(a, x);
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    check(dy[i].download(), a, sums, alpha(i), 0.5, y);
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
