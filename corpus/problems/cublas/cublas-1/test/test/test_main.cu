#include "ce_harness.hpp"
#include "gemm_row_major.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

void ok(cublasStatus_t status, const char* what) {
  CE_CHECK(status == CUBLAS_STATUS_SUCCESS, "%s: status %d", what, static_cast<int>(status));
}

class Handle {
 public:
  explicit Handle(cudaStream_t stream) {
    ok(cublasCreate(&handle_), "cublasCreate");
    ok(cublasSetStream(handle_, stream), "cublasSetStream");
  }
  ~Handle() { cublasDestroy(handle_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator cublasHandle_t() const { return handle_; }

  void expect_state(cublasPointerMode_t mode, cudaStream_t stream) const {
    cublasPointerMode_t mode_now;
    cudaStream_t stream_now;
    cublasMath_t math_now;
    ok(cublasGetPointerMode(handle_, &mode_now), "cublasGetPointerMode");
    ok(cublasGetStream(handle_, &stream_now), "cublasGetStream");
    ok(cublasGetMathMode(handle_, &math_now), "cublasGetMathMode");
    CE_CHECK(mode_now == mode, "the handle's pointer mode was changed");
    CE_CHECK(stream_now == stream, "the handle's stream was changed");
    CE_CHECK(math_now == CUBLAS_DEFAULT_MATH, "the handle's math mode was changed");
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

// Matrices of one size stored by rows, `offset` elements into a buffer, with NaN in all gaps.
struct Batch {
  int rows, cols, ld;
  long long stride;
  std::size_t offset;
  int count;  // distinct matrices
  std::vector<float> host;

  Batch(ce::Rng& rng, int rows_, int cols_, int count_, bool shared = false, bool padded = true)
      : rows(rows_), cols(cols_), ld(std::max(1, cols_)), stride(0), offset(0),
        count(shared ? std::min(count_, 1) : count_) {
    if (padded) ld += rng.integer(0, 5), offset = rng.integer<std::size_t>(0, 3);
    if (!shared) stride = static_cast<long long>(rows) * ld + (padded ? rng.integer(0, 9) : 0);
    host.assign(offset + static_cast<std::size_t>(count) * (static_cast<std::size_t>(rows) * ld + 9), kNaN);
    each([&](std::size_t at) { host[at] = rng.uniform<float>(-1, 1); });
  }
  std::size_t at(int b, int i, int j) const {
    return offset + static_cast<std::size_t>(b * stride) + static_cast<std::size_t>(i) * ld + j;
  }
  template <class Visit>
  void each(Visit visit) const {
    for (int b = 0; b < count; ++b)
      for (int i = 0; i < rows; ++i)
        for (int j = 0; j < cols; ++j) visit(at(b, i, j));
  }
};

struct Case {
  Op op_a, op_b;
  int m, n, k, batch;
  float alpha, beta;
  bool share_a = false, share_b = false, padded = true;
};

struct Operands {
  Case c;
  Batch a, b, out;
  Operands(ce::Rng& rng, const Case& c_)
      : c(c_),
        a(rng, c.op_a == Op::none ? c.m : c.k, c.op_a == Op::none ? c.k : c.m, c.batch, c.share_a, c.padded),
        b(rng, c.op_b == Op::none ? c.k : c.n, c.op_b == Op::none ? c.n : c.k, c.batch, c.share_b, c.padded),
        out(rng, c.m, c.n, c.batch, false, c.padded) {
    if (c.beta == 0) out.each([&](std::size_t at) { out.host[at] = kNaN; });
  }
  double a_at(int x, int i, int l) const { return a.host[c.op_a == Op::none ? a.at(x, i, l) : a.at(x, l, i)]; }
  double b_at(int x, int l, int j) const { return b.host[c.op_b == Op::none ? b.at(x, l, j) : b.at(x, j, l)]; }

  // Element (i, j) of C_x in double precision, and the prompt's bound on its error. k products added in any order in
  // single precision, with or without FMA, err by at most k * u * sum |ab| to first order in u; scaling by alpha, by
  // beta and the last addition add 3 u, a pre-scaled operand one more. The factor of two covers the higher orders, as
  // k * u < 0.01 here.
  void exact(int x, int i, int j, double& value, double& bound) const {
    double sum = 0, magnitude = 0;
    for (int l = 0; l < c.k; ++l) {
      const double product = a_at(x, i, l) * b_at(x, l, j);
      sum += product, magnitude += std::fabs(product);
    }
    const double old = c.beta == 0 ? 0 : c.beta * static_cast<double>(out.host[out.at(x, i, j)]);
    value = c.alpha * sum + old;
    bound = 2 * (c.k + 4) * 0x1p-24 * (std::fabs(c.alpha) * magnitude + std::fabs(old));
  }
};

struct OnDevice {
  ce::DeviceBuffer<float> a, b, c, alpha, beta;
  explicit OnDevice(const Operands& o)
      : a(o.a.host), b(o.b.host), c(o.out.host), alpha(std::vector<float>{o.c.alpha}),
        beta(std::vector<float>{o.c.beta}) {}
};

cublasStatus_t call(cublasHandle_t handle, const Operands& o, const OnDevice& d, float* c) {
  return gemm_row_major(handle, o.c.op_a, o.c.op_b, o.c.m, o.c.n, o.c.k, d.alpha.data(), d.a.data() + o.a.offset,
                        o.a.ld, o.a.stride, d.b.data() + o.b.offset, o.b.ld, o.b.stride, d.beta.data(),
                        c + o.out.offset, o.out.ld, o.out.stride, o.c.batch);
}

void expect_product(const Operands& o, const ce::DeviceBuffer<float>& c) {
  std::vector<float> now = c.download(), gaps = o.out.host, got;
  std::vector<double> want, bound;
  for (int x = 0; x < o.out.count; ++x)
    for (int i = 0; i < o.c.m; ++i)
      for (int j = 0; j < o.c.n; ++j) {
        const std::size_t at = o.out.at(x, i, j);
        want.push_back(0), bound.push_back(0);
        o.exact(x, i, j, want.back(), bound.back());
        got.push_back(now[at]);
        now[at] = gaps[at] = 0;
      }
  ce::expect_within(got, want, bound, "c (its elements one after the other)");
  ce::expect_equal(now, gaps, "c between its rows and matrices");
  c.check_guards("c");
}

void check(ce::Rng& rng, const Case& c) {
  CE_SCOPE("op_a %s, op_b %s, m %d, n %d, k %d, batch %d, alpha %g, beta %g", c.op_a == Op::none ? "none" : "transpose",
           c.op_b == Op::none ? "none" : "transpose", c.m, c.n, c.k, c.batch, c.alpha, c.beta);
  const Operands o(rng, c);
  OnDevice d(o);
  static const ce::Stream& stream = *new ce::Stream;  // made once, for cuBLAS takes its time; never destroyed, for at
  static const Handle& handle = *new Handle(stream);  // exit the runtime may be gone first
  const cublasPointerMode_t mode = rng.integer(0, 1) ? CUBLAS_POINTER_MODE_HOST : CUBLAS_POINTER_MODE_DEVICE;
  ok(cublasSetPointerMode(handle, mode), "cublasSetPointerMode");
  cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
  CE_CALL(status = call(handle, o, d, d.c.data()));
  ok(status, "gemm_row_major");
  CE_CUDA(cudaStreamSynchronize(stream));
  handle.expect_state(mode, stream);
  expect_product(o, d.c);
  ce::expect_unchanged(d.a, o.a.host, "a");
  ce::expect_unchanged(d.b, o.b.host, "b");
  ce::expect_unchanged(d.alpha, {c.alpha}, "alpha");
  ce::expect_unchanged(d.beta, {c.beta}, "beta");
}

constexpr Op kOps[] = {Op::none, Op::transpose};

void check_all_ops(ce::Rng& rng, int m, int n, int k, int batch, float alpha, float beta) {
  for (const Op op_a : kOps)
    for (const Op op_b : kOps) check(rng, {op_a, op_b, m, n, k, batch, alpha, beta});
}

CE_TEST(shapes) {
  ce::Rng rng;
  const int shapes[][3] = {{1, 1, 1},    {1, 7, 3},    {7, 1, 3},    {5, 6, 1},     {2, 3, 4},     {16, 16, 16},
                           {31, 33, 32}, {33, 31, 65}, {64, 128, 8}, {127, 65, 129}, {200, 10, 33}, {10, 200, 33}};
  for (const auto& s : shapes)
    check_all_ops(rng, s[0], s[1], s[2], 3, rng.uniform<float>(-2, 2), rng.uniform<float>(-2, 2));
}

CE_TEST(scalars) {
  ce::Rng rng;
  for (const float alpha : {1.0f, -0.75f, 0.0f})
    for (const float beta : {0.0f, 1.0f, 2.5f}) check_all_ops(rng, 37, 29, 18, 2, alpha, beta);
}

CE_TEST(one_matrix_for_the_whole_batch) {
  ce::Rng rng;
  for (const bool share_a : {false, true})
    for (const bool share_b : {false, true})
      for (const Op op : kOps) check(rng, {op, Op::none, 20, 13, 9, 5, 1.5f, 0.5f, share_a, share_b});
}

CE_TEST(without_padding) {
  ce::Rng rng;
  for (const Op op_a : kOps)
    for (const Op op_b : kOps) check(rng, {op_a, op_b, 24, 40, 17, 4, 1, 0, false, false, false});
}

CE_TEST(nothing_to_do) {
  ce::Rng rng;
  for (const float beta : {0.0f, 1.0f}) {
    check_all_ops(rng, 0, 5, 4, 2, 1, beta);
    check_all_ops(rng, 5, 0, 4, 2, 1, beta);
    check_all_ops(rng, 5, 4, 3, 0, 1, beta);
  }
}

CE_TEST(inner_size_zero) {
  ce::Rng rng;
  for (const float beta : {0.0f, 1.0f, -3.0f}) check_all_ops(rng, 19, 6, 0, 3, 2, beta);
}

CE_TEST(long_inner_size) {
  ce::Rng rng;
  check_all_ops(rng, 9, 14, 20000, 1, 1, 0);
}

CE_TEST(many_matrices) {
  ce::Rng rng;
  check(rng, {Op::none, Op::none, 3, 5, 4, ce::sanitized() ? 300 : 3001, 1, 1});
  check(rng, {Op::transpose, Op::none, 2, 3, 2, ce::sanitized() ? 300 : 70001, -1, 0});
}

CE_TEST(large) {
  ce::Rng rng;
  check(rng, {Op::none, Op::transpose, 701, 515, 200, 1, 0.5f, 1});
  check(rng, {Op::transpose, Op::none, 260, 515, 130, 4, 1, 0});
}

CE_TEST(negative_sizes_are_refused) {
  ce::Rng rng;
  const Operands o(rng, {Op::none, Op::none, 4, 4, 4, 2, 1, 1});
  OnDevice d(o);
  const ce::Stream stream;
  const Handle handle(stream);
  for (const cublasPointerMode_t mode : {CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE})
    for (int which = 0; which < 4; ++which) {
      ok(cublasSetPointerMode(handle, mode), "cublasSetPointerMode");
      Operands bad = o;
      (which == 0 ? bad.c.m : which == 1 ? bad.c.n : which == 2 ? bad.c.k : bad.c.batch) = -1;
      const cublasStatus_t status = call(handle, bad, d, d.c.data());
      CE_CHECK(status == CUBLAS_STATUS_INVALID_VALUE, "size %d negative: status %d", which, static_cast<int>(status));
      handle.expect_state(mode, stream);
    }
  ce::expect_unchanged(d.c, o.out.host, "c");
}

// All work goes to the handle's stream, whose earlier work produces an operand and the scalars; the call does not wait.
CE_TEST(stream_order) {
  ce::Rng rng;
  const Operands o(rng, {Op::none, Op::transpose, 150, 90, 70, 3, 1.25f, -0.5f});
  const OnDevice source(o);
  OnDevice d(o);
  const ce::Stream stream;
  const Handle handle(stream);
  cublasStatus_t status = CUBLAS_STATUS_NOT_INITIALIZED;
  CE_CALL(status = call(handle, o, d, d.c.data()));  // loads the kernels, which may take a wait of its own
  ok(status, "gemm_row_major");
  CE_CUDA(cudaStreamSynchronize(stream));
  d.c.upload(o.out.host);
  d.a.upload(std::vector<float>(o.a.host.size(), 7));
  d.alpha.upload({11}), d.beta.upload({13});

  ce::StreamGate gate(stream);
  CE_CUDA(cudaMemcpyAsync(d.a.data(), source.a.data(), d.a.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CUDA(cudaMemcpyAsync(d.alpha.data(), source.alpha.data(), d.alpha.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CUDA(cudaMemcpyAsync(d.beta.data(), source.beta.data(), d.beta.bytes(), cudaMemcpyDeviceToDevice, stream));
  CE_CALL(status = call(handle, o, d, d.c.data()));
  gate.open();
  ok(status, "gemm_row_major");
  CE_CUDA(cudaStreamSynchronize(stream));
  expect_product(o, d.c);
}

CE_BENCH(sixteen_products) {
  ce::Rng rng;
  const int iterations = 10;
  const Operands o(rng, {Op::none, Op::none, 768, 640, 512, 16, 1.5f, 0, false, false, false});
  const OnDevice d(o);
  std::vector<ce::DeviceBuffer<float>> c;
  for (int i = 0; i <= iterations; ++i) c.emplace_back(o.out.host.size());
  const ce::Stream stream;
  const Handle handle(stream);
  ce::timed("gemm_row_major", iterations,
            [&](int i) { CE_CALL(ok(call(handle, o, d, c[i].data()), "gemm_row_major")); });
  for (const auto& buffer : c) {  // a sample of each: all elements would take a CPU minutes
    const std::vector<float> now = buffer.download();
    std::vector<float> got;
    std::vector<double> want(5000), bound(5000);
    for (std::size_t s = 0; s < want.size(); ++s) {
      const int x = rng.integer(0, o.c.batch - 1), i = rng.integer(0, o.c.m - 1), j = rng.integer(0, o.c.n - 1);
      o.exact(x, i, j, want[s], bound[s]);
      got.push_back(now[o.out.at(x, i, j)]);
    }
    ce::expect_within(got, want, bound, "a sample of c");
  }
}

}  // namespace

int main(int argc, char** argv) { return ce::run(argc, argv); }
