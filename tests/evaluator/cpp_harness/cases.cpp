// SPDX-License-Identifier: Apache-2.0
// Cases for test_cpp_harness.py, which runs them one at a time and reads the verdict. Those called good_* must pass.
#include "ce_harness.hpp"

#include <limits>

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

void expect(const std::vector<float>& got, const std::vector<double>& want, ce::Tolerance tolerance = {}) {
  ce::expect_close(got, want, tolerance, "y");
}

}  // namespace

CE_TEST(good_comparisons) {
  expect({1, -0.0f, INFINITY, -INFINITY, NAN}, {1, 0, kInf, -kInf, kNan});
  expect({1.05f, 100.5f}, {1, 100}, {0.06, 0.01});
  ce::expect_within(std::vector<float>{1, 2}, {1.5, 2}, {0.5, 0}, "y");
  ce::expect_equal<float>({NAN, 1}, {NAN, 1}, "y");
  ce::expect_equal<int>({}, {}, "y");
}
CE_TEST(bad_value) { expect({1, 2, 3}, {1, 2.5, 4}, {0.25, 0}); }
CE_TEST(bad_size) { expect({1}, {1, 2}); }
CE_TEST(bad_nan_for_a_number) { expect({NAN}, {1}, {1e300, 0}); }
CE_TEST(bad_infinity_for_a_number) { expect({INFINITY}, {1}, {1e300, 0}); }
CE_TEST(bad_number_for_a_nan) { expect({1}, {kNan}, {1e300, 0}); }
CE_TEST(bad_sign_of_infinity) { expect({-INFINITY}, {kInf}); }
CE_TEST(bad_number_for_an_infinity) { expect({3e38f}, {kInf}, {1e300, 0}); }
CE_TEST(bad_negative_zero) { ce::expect_equal<float>({-0.0f}, {0.0f}, "y"); }
CE_TEST(bad_unwritten_nan) { expect(ce::DeviceBuffer<float>(3).download(), {kNan, kNan, kNan}); }
CE_TEST(bad_unwritten_int) { ce::expect_equal(ce::DeviceBuffer<int>(3).download(), {1, 2, 3}, "n"); }
CE_TEST(bad_nothing_checked) {}
CE_TEST(bad_check) {
  CE_SCOPE("n = %d", 7);
  CE_CHECK(1 + 1 == 3, "sum is %d", 2);
}

CE_TEST(good_buffers) {
  ce::Rng rng;
  for (const std::size_t n : {0, 1, 3, 127, 32768, 100001}) {
    const auto words = rng.integer_vector<std::uint8_t>(n, 0, 255);
    ce::DeviceBuffer<std::uint8_t> bytes(words);
    ce::DeviceBuffer<double> doubles(n);
    CE_CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % 256 == 0);
    ce::expect_unchanged(bytes, words, "bytes");
    for (const double value : doubles.download()) CE_CHECK(std::isnan(value));
    ce::DeviceBuffer<double> moved = std::move(doubles);
    moved = ce::DeviceBuffer<double>(n + 1);
    moved.check_guards("moved");
    bytes.poison();
    ce::expect_equal(bytes.download(), std::vector<std::uint8_t>(n, 0xa5), "poison");
  }
}
CE_TEST(bad_write_behind) {
  ce::DeviceBuffer<float> out(5);
  out.data()[5] = 1;
  out.check_guards("out");
}
CE_TEST(bad_write_before) {
  ce::DeviceBuffer<float> out(5);
  out.data()[-1] = 1;
  out.check_guards("out");
}
CE_TEST(bad_write_nobody_looks_for) {
  CE_CHECK(true);
  CE_SCOPE("n = %d", 5);
  ce::DeviceBuffer<char> out(5);
  out.data()[5] = 1;
}
CE_TEST(bad_guard_copied_from_another_buffer) {
  ce::DeviceBuffer<float> in(5), out(5);
  for (int i = 0; i < 30; ++i) out.data()[i] = in.data()[i];
  out.check_guards("out");
}
CE_TEST(bad_input_modified) {
  const std::vector<int> host{1, 2, 3};
  ce::DeviceBuffer<int> in(host);
  in.data()[2] = 4;
  ce::expect_unchanged(in, host, "in");
}

CE_TEST(good_random_numbers) {
  ce::Rng rng;
  bool seen[3] = {};
  double sum = 0, squares = 0;
  for (int i = 0; i < 100000; ++i) {
    const float x = rng.uniform<float>(1, std::nextafter(1.0f, 2.0f));
    CE_CHECK(x == 1);
    seen[rng.integer(-1, 1) + 1] = true;
    CE_CHECK(rng.integer<std::uint64_t>(5, 5) == 5);
    const double z = rng.normal(0, 1);
    sum += z;
    squares += z * z;
  }
  CE_CHECK(seen[0] && seen[1] && seen[2]);
  CE_CHECK(std::fabs(sum / 1e5) < 0.03 && std::fabs(squares / 1e5 - 1) < 0.05);  // nine standard errors
  CE_CHECK(ce::Rng(1).next() == 0xb3f2af6d0fc710c5u, "xoshiro256** with splitmix64");
  std::printf("first %016llx\n", static_cast<unsigned long long>(ce::Rng().next()));
}

CE_TEST(bad_error_left) { CE_CALL(fake::last = cudaErrorInvalidValue); }
CE_TEST(bad_error_found_later) {
  CE_CHECK(true);
  fake::last = cudaErrorInvalidValue;
}
CE_TEST(bad_exception) { throw 7; }
CE_TEST(bad_exit) { std::exit(0); }
CE_TEST(good_calls) {
  CE_CHECK(std::getenv("COMPUTE_EVAL_SANITIZER_TOKEN") == nullptr);
  CE_CALL(std::vector<int>{1, 2});
  ce::count_launch(2);
}
CE_TEST(good_gate) {
  ce::Stream stream;
  ce::StreamGate gate(stream);
  gate.open();
  CE_CUDA(cudaDeviceSynchronize());
}
CE_TEST(bad_unless_sanitized) {
  if (ce::skip_sanitized("a reason")) return;
  CE_CHECK(false);
}
CE_TEST(zz_sticky_error) { CE_CALL(fake::sticky = cudaErrorIllegalAddress); }
CE_TEST(zz_sticky_error_again) { CE_CHECK(true); }

CE_BENCH(good_bench) {
  std::vector<int> order;
  ce::timed("region", 3, [&](int i) { order.push_back(i); });
  ce::expect_equal(order, {0, 1, 2, 3}, "order");
}
CE_BENCH(bad_bench) {
  ce::timed("region", 3, [](int) {});
  CE_CHECK(false);
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
