// Hidden test of row_softmax.
#include "ce_harness.hpp"
#include "row_softmax.h"

#include <limits>

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr float kInfF = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// What the prompt grants. With u = 2^-24 a careful single-precision result has these relative errors where it is at
// least 1e-30, so that |x - m| <= 70: rounding of x - m, 70 u = 4e-6; exp, 83 ulp = 1e-5 for the fast intrinsic; 1024
// additions one after the other, 1024 u = 6e-5 (real data: a tenth of it); the division, 1 u. In all 8e-5.
constexpr ce::Tolerance kTolerance{1e-30, 1e-4};

struct Shape {
  int rows, cols;
  std::size_t in_ld, out_ld;
  std::size_t cells(std::size_t ld) const { return rows && cols ? (rows - 1) * ld + cols : 0; }
};

void softmax_reference(const float* x, double* y, int cols) {
  double top = -kInf, sum = 0;
  bool nan = false;
  for (int c = 0; c < cols; ++c) {
    nan = nan || std::isnan(x[c]);
    top = std::fmax(top, x[c]);
  }
  const auto term = [&](int c) { return x[c] == top ? 1.0 : std::exp(x[c] - top); };
  for (int c = 0; c < cols; ++c) sum += term(c);
  for (int c = 0; c < cols; ++c) y[c] = nan ? kNan : top == -kInf ? 0.0 : term(c) / sum;
}

// A row whose offset defeats a softmax without the maximum, and whose largest elements sit where bounds go wrong.
void fill_row(ce::Rng& rng, float* x, int cols) {
  const double offset = rng.uniform(-2000, 2000);
  for (int c = 0; c < cols; ++c) x[c] = rng.normal<float>(offset, 3);
  const float peak = static_cast<float>(offset + 14);
  const int places[] = {0, cols - 1, cols - cols % 32, rng.integer(0, cols - 1), rng.integer(0, cols - 1)};
  for (const int place : places)
    if (place < cols) x[place] = peak - rng.uniform<float>(0, 2);
}

// Padding that spoils any result it enters.
std::vector<float> hostile_matrix(ce::Rng& rng, const Shape& s) {
  const float poison[] = {kNan, kInfF, 3e38f, -3e38f};
  auto x = ce::Rng::vector<float>(s.cells(s.in_ld), [&] { return poison[rng.integer(0, 3)]; });
  for (int r = 0; s.cols > 0 && r < s.rows; ++r) fill_row(rng, &x[r * s.in_ld], s.cols);
  return x;
}

// Checks every cell against the oracle and every padding element against what was there before.
void check(const std::vector<float>& got, const std::vector<float>& x, const std::vector<float>& before,
           const Shape& s) {
  CE_CHECK(got.size() == before.size());
  std::vector<float> cells, pad, pad_before;
  std::vector<double> want(static_cast<std::size_t>(s.rows) * s.cols);
  for (int r = 0; r < s.rows; ++r) {
    softmax_reference(&x[r * s.in_ld], &want[static_cast<std::size_t>(r) * s.cols], s.cols);
    const std::size_t first = r * s.out_ld, last = std::min(first + s.out_ld, got.size());
    cells.insert(cells.end(), got.begin() + first, got.begin() + first + s.cols);
    pad.insert(pad.end(), got.begin() + first + s.cols, got.begin() + last);
    pad_before.insert(pad_before.end(), before.begin() + first + s.cols, before.begin() + last);
  }
  ce::expect_close(cells, want, kTolerance, "out");
  ce::expect_equal(pad, pad_before, "padding of out");
}

void run_on(const std::vector<float>& x, const Shape& s, ce::Rng& rng) {
  CE_SCOPE("rows %d, cols %d, in_ld %zu, out_ld %zu", s.rows, s.cols, s.in_ld, s.out_ld);
  const auto before = rng.uniform_vector<float>(s.cells(s.out_ld), -9, -1);
  ce::DeviceBuffer<float> in(x), out(before);
  CE_CALL(row_softmax(in.data(), s.in_ld, out.data(), s.out_ld, s.rows, s.cols, nullptr));
  check(out.download(), x, before, s);
  out.check_guards("out");
  ce::expect_unchanged(in, x, "in");
}

void run_shape(int rows, int cols, std::size_t in_pad, std::size_t out_pad, ce::Rng& rng) {
  const Shape s{rows, cols, cols + in_pad, cols + out_pad};
  run_on(hostile_matrix(rng, s), s, rng);
}

}  // namespace

CE_TEST(column_counts) {
  ce::Rng rng;
  for (const int cols : {1,   2,   3,    31,   32,   33,   63,   64,   65,   127,  128,  129,  255,  256,  257,
                         511, 512, 513,  1000, 1023, 1024, 1025, 1535, 2047, 2048, 2049, 4095, 4096, 4097, 10007})
    run_shape(rng.integer(2, 19), cols, rng.integer(0, 5), rng.integer(0, 5), rng);
}

CE_TEST(row_counts) {
  ce::Rng rng;
  for (const int rows : {1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1025})
    for (const int cols : {1, 5, 70, 1100}) run_shape(rows, cols, rng.integer(0, 3), rng.integer(0, 3), rng);
}

CE_TEST(many_rows) {
  ce::Rng rng;
  run_shape(ce::sanitized() ? 2077 : 300007, 7, 1, 0, rng);
  run_shape(ce::sanitized() ? 1033 : 70001, 33, 0, 2, rng);
  run_shape(ce::sanitized() ? 5 : 66001, 1, 0, 0, rng);
}

CE_TEST(long_rows) {
  ce::Rng rng;
  run_shape(1, ce::sanitized() ? 20011 : (1 << 20) + 13, 0, 0, rng);
  run_shape(3, ce::sanitized() ? 9001 : 300001, 5, 7, rng);
}

CE_TEST(empty) {
  ce::Rng rng;
  for (const auto& [rows, cols] : {std::pair{0, 5}, {5, 0}, {0, 0}, {0, 5000}, {5000, 0}}) {
    const auto before = rng.uniform_vector<float>(64, -9, -1);
    ce::DeviceBuffer<float> out(before);
    CE_CALL(row_softmax(nullptr, 8, out.data(), 8, rows, cols, nullptr));
    CE_CALL(row_softmax(nullptr, 8, nullptr, 8, rows, cols, nullptr));
    ce::expect_unchanged(out, before, "out of an empty matrix");
  }
}

CE_TEST(in_place) {
  ce::Rng rng;
  for (const int cols : {1, 30, 257, 1024, 3001}) {
    const Shape s{rng.integer(3, 40), cols, cols + 3u, cols + 3u};
    CE_SCOPE("rows %d, cols %d", s.rows, s.cols);
    const auto x = hostile_matrix(rng, s);
    ce::DeviceBuffer<float> both(x);
    CE_CALL(row_softmax(both.data(), s.in_ld, both.data(), s.out_ld, s.rows, s.cols, nullptr));
    check(both.download(), x, x, s);
    both.check_guards("in and out");
  }
}

// Extremes of the range, and the three special cases at places that fall to different threads, warps and passes.
CE_TEST(special_values) {
  ce::Rng rng;
  for (const int cols : {1, 2, 31, 33, 64, 100, 1024, 1025, 5000}) {
    const int kinds = 12;
    const Shape s{kinds * 3, cols, cols + 1u, cols + 1u};
    auto x = hostile_matrix(rng, s);
    for (int r = 0; r < s.rows; ++r) {
      float* row = &x[r * s.in_ld];
      const auto anywhere = [&]() -> float& {
        const int places[] = {0, cols - 1, rng.integer(0, cols - 1)};
        return row[places[rng.integer(0, 2)]];
      };
      const auto all = [&](float value) { std::fill(row, row + cols, value); };
      switch (r % kinds) {
        case 0: all(-kInfF); break;
        case 1: all(kInfF); break;
        case 2: all(-3.4e38f); anywhere() = 3.4e38f; break;
        case 3: all(3.4e38f); break;
        case 4: all(-3.4e38f); break;
        case 5: all(-kInfF); anywhere() = -3e38f; break;
        case 6: anywhere() = kNan; break;
        case 7: anywhere() = kInfF; anywhere() = kInfF; anywhere() = -kInfF; break;
        case 8: all(-kInfF); anywhere() = kNan; break;
        case 9: all(kInfF); anywhere() = kNan; break;
        case 10: for (int c = 0; c < cols; ++c) if (rng.integer(0, 1)) row[c] = -kInfF; break;
        default: for (int c = 0; c < cols; ++c) row[c] = rng.uniform<float>(-1e-30, 1e-30); break;
      }
    }
    run_on(x, s, rng);
  }
}

// A serious loss of precision shows as a row that does not sum to one.
CE_TEST(rows_sum_to_one) {
  ce::Rng rng;
  const Shape s{5, 20000, 20000, 20000};
  const auto x = rng.uniform_vector<float>(s.cells(s.in_ld), -1, 1);
  ce::DeviceBuffer<float> in(x), out(x.size());
  CE_CALL(row_softmax(in.data(), s.in_ld, out.data(), s.out_ld, s.rows, s.cols, nullptr));
  const auto got = out.download();
  for (int r = 0; r < s.rows; ++r) {
    double sum = 0;
    for (int c = 0; c < s.cols; ++c) sum += got[r * s.out_ld + c];
    CE_CHECK(std::fabs(sum - 1) <= 1e-4, "row %d sums to %.7f", r, sum);
  }
}

// The input arrives and the output leaves by copies in the same stream, which is held back until the call has returned.
CE_TEST(stream_order) {
  ce::Rng rng;
  ce::Stream stream;
  for (const int cols : {100, 3000}) {
    const Shape s{17, cols, static_cast<std::size_t>(cols), static_cast<std::size_t>(cols)};
    const auto x = hostile_matrix(rng, s);
    const std::vector<float> nothing(x.size(), -7);
    const ce::DeviceBuffer<float> source(x);
    ce::DeviceBuffer<float> in(nothing), out(nothing), result(nothing);
    CE_CALL(row_softmax(in.data(), s.in_ld, out.data(), s.out_ld, s.rows, s.cols, stream));  // loads the kernel
    CE_CUDA(cudaStreamSynchronize(stream));
    ce::StreamGate gate(stream);
    CE_CUDA(cudaMemcpyAsync(in.data(), source.data(), in.bytes(), cudaMemcpyDeviceToDevice, stream));
    CE_CALL(row_softmax(in.data(), s.in_ld, out.data(), s.out_ld, s.rows, s.cols, stream));
    CE_CUDA(cudaMemcpyAsync(result.data(), out.data(), in.bytes(), cudaMemcpyDeviceToDevice, stream));
    CE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
    gate.open();
    CE_CUDA(cudaStreamSynchronize(stream));
    check(result.download(), x, nothing, s);
  }
}

CE_BENCH(square_4096) {
  constexpr int kIterations = 8;
  const int rows = 4096, cols = 4096;
  const std::size_t cells = static_cast<std::size_t>(rows) * cols;
  ce::Rng rng;
  // Iteration i reads rows i to i + rows - 1: no two have the same input.
  const auto x = rng.uniform_vector<float>(cells + kIterations * cols, -8, 8);
  std::vector<double> want(x.size());
  for (std::size_t first = 0; first < x.size(); first += cols) softmax_reference(&x[first], &want[first], cols);
  ce::DeviceBuffer<float> in(x);
  std::vector<ce::DeviceBuffer<float>> out;
  for (int i = 0; i <= kIterations; ++i) out.emplace_back(cells);

  ce::timed("row_softmax", kIterations, [&](int i) {
    const float* first = in.data() + static_cast<std::size_t>(i) * cols;
    CE_CALL(row_softmax(first, cols, out[i].data(), cols, rows, cols, nullptr));
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    const auto from = want.begin() + static_cast<std::ptrdiff_t>(i) * cols;
    ce::expect_close(out[i].download(), {from, from + static_cast<std::ptrdiff_t>(cells)}, kTolerance, "out");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
