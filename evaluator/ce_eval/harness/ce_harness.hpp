// SPDX-License-Identifier: Apache-2.0
//
// ce_harness.hpp: what a hidden C++ test needs, in one header that travels with the problem.
//
//   CE_TEST(odd_sizes) {
//     ce::Rng rng;                                       // seeded from CE_SEED and the case's name
//     for (std::size_t n : {0, 1, 31, 1023}) {
//       CE_SCOPE("n = %zu", n);                          // named in any failure below
//       const auto x = rng.uniform_vector<float>(n, -1, 1);
//       ce::DeviceBuffer<float> in(x), out(n);           // guard zones both sides, `out` is poisoned
//       CE_CALL(negate(in.data(), out.data(), n, stream));
//       ce::expect_close(out.download(), want, {0.0, 1e-6}, "out");
//       ce::expect_unchanged(in, x, "in");
//     }
//   }
//   int main(int argc, char** argv) { return ce::run(argc, argv); }
//
// The first failed check ends its case; a CUDA error that outlives a reset of the error state ends the run. A case that
// checks nothing fails. Exit code 0 means that at least one case ran and that every case which ran passed.
// Host code only, C++17, CUDA 12 or 13. Not for use from more than one thread at a time.
#pragma once

#define CE_HARNESS_VERSION "1.0.0"

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ce {

inline std::string format() { return {}; }

__attribute__((format(printf, 1, 2))) inline std::string format(const char* text, ...) {
  char line[512];
  va_list args;
  va_start(args, text);
  std::vsnprintf(line, sizeof line, text, args);
  va_end(args);
  return line;
}

namespace detail {

struct Failure : std::runtime_error { using std::runtime_error::runtime_error; };  // fails the case
struct Fatal : Failure { using Failure::Failure; };                                // and ends the run

struct Case {
  const char* name;
  void (*body)();
};

inline std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

struct State {
  std::vector<Case> tests, benches;
  const char* case_name = "";
  unsigned rngs = 0;                // generators made by this case so far
  long checks = 0, calls = 0;       // in this case
  long verified_calls = 0;          // candidate calls in cases that passed
  double bench_ms = -1;
  std::string late_failure;         // found where nothing may be thrown
  std::vector<std::string> scopes;
  std::string report = environment("COMPUTE_EVAL_SANITIZER_REPORT");
  std::string token = environment("COMPUTE_EVAL_SANITIZER_TOKEN");
  bool sanitized = !report.empty();
  bool finished = false;
};

inline State& state() {
  static State the_state;
  return the_state;
}

inline bool add(std::vector<Case>& cases, const char* name, void (*body)()) {
  cases.push_back({name, body});
  return true;
}

inline std::string scoped(std::string text) {
  for (const std::string& scope : state().scopes) text += " [" + scope + "]";
  return text;
}

inline std::string located(const char* file, int line, const std::string& what) {
  const char* slash = std::strrchr(file, '/');
  return scoped(format("%s:%d: ", slash ? slash + 1 : file, line) + what);
}

inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  throw Fatal(located(file, line, format("%s: %s (%s)", call, cudaGetErrorName(error), cudaGetErrorString(error))));
}

inline void check(bool good, const char* file, int line, const std::string& what) {
  ++state().checks;
  if (!good) throw Failure(located(file, line, what));
}

// After a candidate's call: it must not leave an error behind, and it counts as verified once its case has passed.
inline void called(const char* call, const char* file, int line) {
  ++state().calls;
  const cudaError_t error = cudaPeekAtLastError();
  if (error != cudaSuccess)
    throw Failure(located(file, line, format("%s left the CUDA error %s", call, cudaGetErrorName(error))));
}

struct Scope {
  explicit Scope(std::string text) { state().scopes.push_back(std::move(text)); }
  ~Scope() { state().scopes.pop_back(); }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
};

}  // namespace detail

// CUDA calls of the test itself. A failure ends the run: no later result could be trusted.
#define CE_CUDA(call) ce::detail::check_cuda((call), #call, __FILE__, __LINE__)

// CE_CHECK(condition) or CE_CHECK(condition, "format", ...).
#define CE_CHECK(condition, ...)                                                                          \
  do {                                                                                                    \
    const bool ce_good = static_cast<bool>(condition);                                                    \
    ce::detail::check(ce_good, __FILE__, __LINE__,                                                        \
                      ce_good ? std::string() : "CHECK(" #condition ") " + ce::format(__VA_ARGS__));      \
  } while (0)

// Wraps each call of the candidate; variadic, so that commas in template arguments are welcome.
#define CE_CALL(...)                                         \
  do {                                                       \
    __VA_ARGS__;                                             \
    ce::detail::called(#__VA_ARGS__, __FILE__, __LINE__);    \
  } while (0)

#define CE_CONCAT_(a, b) a##b
#define CE_CONCAT(a, b) CE_CONCAT_(a, b)
#define CE_SCOPE(...) const ce::detail::Scope CE_CONCAT(ce_scope_, __LINE__)(ce::format(__VA_ARGS__))

#define CE_CASE_(kind, name)                                                                                     \
  static void ce_##kind##_##name();                                                                              \
  [[maybe_unused]] static const bool ce_added_##kind##_##name =                                                  \
      ce::detail::add(ce::detail::state().kind, #name, ce_##kind##_##name);                                      \
  static void ce_##kind##_##name()
#define CE_TEST(name) CE_CASE_(tests, name)
#define CE_BENCH(name) CE_CASE_(benches, name)

// For candidate calls that CE_CALL cannot wrap.
inline void count_launch(long calls = 1) { detail::state().calls += calls; }

// True in a run under compute-sanitizer (or with --sanitized), where launches may block and bounds are kept exact.
inline bool sanitized() { return detail::state().sanitized; }

// The run's seed: CE_SEED, or a fresh one. Printed once, so that any failure can be repeated.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const std::string text = detail::environment("CE_SEED");
    std::uint64_t number = 0;
    if (text.empty()) {
      std::random_device device;
      number = (static_cast<std::uint64_t>(device()) << 32) | device();
    } else {
      errno = 0;
      number = std::strtoull(text.c_str(), nullptr, 10);
      if (errno != 0 || text.find_first_not_of("0123456789") != std::string::npos)
        throw detail::Fatal("CE_SEED is not an unsigned 64-bit decimal number");
    }
    std::printf("CE_SEED: %llu\n", static_cast<unsigned long long>(number));
    return number;
  }();
  return value;
}

// xoshiro256** (Blackman and Vigna), its state filled by splitmix64. The same numbers on every platform.
class Rng {
 public:
  // The k-th generator of a case depends on the seed, the case's name and k only, so a case repeats when run alone.
  Rng() : Rng(seed() ^ hash(detail::state().case_name) ^ (0x632be59bd9b4e019ull * ++detail::state().rngs)) {}
  explicit Rng(std::uint64_t start) {
    for (std::uint64_t& word : words_) word = splitmix(start);
  }

  std::uint64_t next() {
    const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
    const std::uint64_t result = rotate(words_[1] * 5, 7) * 9, shifted = words_[1] << 17;
    words_[2] ^= words_[0];
    words_[3] ^= words_[1];
    words_[1] ^= words_[2];
    words_[0] ^= words_[3];
    words_[2] ^= shifted;
    words_[3] = rotate(words_[3], 45);
    return result;
  }

  // Uniform in [lo, hi); rounding to T never yields hi.
  template <class T = double>
  T uniform(double lo, double hi) {
    for (;;) {
      const T value = static_cast<T>(lo + (hi - lo) * (static_cast<double>(next() >> 11) * 0x1p-53));
      if (!(lo < hi) || to_double(value) < hi) return value;
    }
  }

  // Uniform in [lo, hi], both included, without bias (rejection).
  template <class T = int>
  T integer(T lo, T hi) {
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    std::uint64_t bits = next();
    if (span != 0) {
      const std::uint64_t limit = UINT64_MAX - UINT64_MAX % span;
      while (bits >= limit) bits = next();
      bits %= span;
    }
    return static_cast<T>(static_cast<std::uint64_t>(lo) + bits);
  }

  template <class T = double>
  T normal(double mean = 0, double deviation = 1) {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform<double>(0, 1)));
    return static_cast<T>(mean + deviation * radius * std::cos(6.283185307179586 * uniform<double>(0, 1)));
  }

  template <class T>
  std::vector<T> uniform_vector(std::size_t n, double lo, double hi) {
    return filled<T>(n, [&] { return uniform<T>(lo, hi); });
  }
  template <class T>
  std::vector<T> integer_vector(std::size_t n, T lo, T hi) {
    return filled<T>(n, [&] { return integer<T>(lo, hi); });
  }
  template <class T>
  std::vector<T> normal_vector(std::size_t n, double mean = 0, double deviation = 1) {
    return filled<T>(n, [&] { return normal<T>(mean, deviation); });
  }

  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[integer<std::size_t>(0, i - 1)]);
  }

  // Narrow types (__half, __nv_bfloat16, ...) convert through float.
  template <class T>
  static double to_double(T value) {
    if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
    else return static_cast<double>(static_cast<float>(value));
  }

  static std::uint64_t splitmix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  template <class T, class Draw>
  static std::vector<T> filled(std::size_t n, Draw draw) {
    std::vector<T> values(n);
    for (T& value : values) value = draw();
    return values;
  }
  static std::uint64_t hash(const char* text) {  // FNV-1a
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (; *text; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 0x100000001b3ull;
    return h;
  }
  std::uint64_t words_[4];
};

namespace detail {

// Every 16-bit lane of poison is a quiet NaN as __half, __nv_bfloat16 or the top of a float or double, with a payload that
// arithmetic on a GPU does not produce; so "never written" can be told from a computed NaN. Other types get 0xA5 bytes.
template <class T>
inline constexpr bool is_float_like = std::is_floating_point_v<T> || (std::is_class_v<T> && std::is_constructible_v<float, T>);
template <> inline constexpr bool is_float_like<float2> = true;
template <> inline constexpr bool is_float_like<float4> = true;
template <> inline constexpr bool is_float_like<double2> = true;

template <class T>
inline constexpr std::uint16_t poison_lane = is_float_like<T> ? 0x7ffd : 0xa5a5;

template <class T>
bool is_poison(const T& value) {
  unsigned char bytes[sizeof(T)];
  std::memcpy(bytes, &value, sizeof(T));
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (bytes[i] != ((poison_lane<T> >> (8 * (i % 2))) & 0xff)) return false;
  return true;
}

template <class T>
std::string shown(const T& value) {
  const std::string unwritten = is_poison(value) ? " (never written)" : "";
  if constexpr (std::is_integral_v<T> && std::is_signed_v<T>)
    return format("%lld", static_cast<long long>(value)) + unwritten;
  else if constexpr (std::is_integral_v<T>)
    return format("%llu", static_cast<unsigned long long>(value)) + unwritten;
  else if constexpr (std::is_constructible_v<float, T>)
    return format("%.9g", Rng::to_double(value)) + unwritten;
  else
    return "an object" + unwritten;
}

template <class T, class Bound>
void compare(const std::vector<T>& got, const std::vector<double>& want, Bound bound, const char* name) {
  ++state().checks;
  if (got.size() != want.size())
    throw Failure(scoped(format("%s: %zu values, want %zu", name, got.size(), want.size())));
  std::size_t wrong = 0, first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double g = Rng::to_double(got[i]), w = want[i], error = std::fabs(g - w);
    const bool good = std::isnan(w)   ? std::isnan(g) && !is_poison(got[i])
                      : std::isinf(w) ? g == w
                                      : error <= bound(i, w);
    if (!std::isnan(w) && g != w) largest = std::isnan(error) ? HUGE_VAL : std::max(largest, error);
    if (!good && wrong++ == 0) first = i;
  }
  if (wrong == 0) return;
  throw Failure(scoped(format("%s[%zu]: got %s, want %.9g, tolerance %.3g; %zu of %zu wrong, largest |error| %.3g", name,
                              first, shown(got[first]).c_str(), want[first], bound(first, want[first]), wrong,
                              want.size(), largest)));
}

}  // namespace detail

struct Tolerance {
  double atol = 0, rtol = 0;
};

// Checks |actual - expected| <= atol + rtol * |expected| for each element. Where NaN is expected any computed NaN will do,
// where an infinity is expected that very infinity; where a finite value is expected, NaN and infinities are wrong.
template <class T>
void expect_close(const std::vector<T>& actual, const std::vector<double>& expected, Tolerance tolerance, const char* name) {
  detail::compare(actual, expected,
                  [=](std::size_t, double w) { return tolerance.atol + tolerance.rtol * std::fabs(w); }, name);
}

// The same with one absolute bound an element, for error bounds that follow from the data.
template <class T>
void expect_within(const std::vector<T>& actual, const std::vector<double>& expected, const std::vector<double>& bound,
                   const char* name) {
  CE_CHECK(bound.size() == expected.size(), "%s: one bound an element", name);
  detail::compare(actual, expected, [&](std::size_t i, double) { return bound[i]; }, name);
}

// Exact, bit by bit: also tells -0 from 0 and one NaN from another. T must have no padding.
template <class T>
void expect_equal(const std::vector<T>& actual, const std::vector<T>& expected, const char* name) {
  static_assert(std::is_trivially_copyable_v<T>);
  ++detail::state().checks;
  if (actual.size() != expected.size())
    throw detail::Failure(detail::scoped(format("%s: %zu values, want %zu", name, actual.size(), expected.size())));
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0 && wrong++ == 0) first = i;
  if (wrong == 0) return;
  throw detail::Failure(detail::scoped(format("%s[%zu]: got %s, want %s; %zu of %zu wrong", name, first,
                                              detail::shown(actual[first]).c_str(),
                                              detail::shown(expected[first]).c_str(), wrong, actual.size())));
}

// Device memory of n elements between two guard zones, aligned to 256 bytes, poisoned until written. Every buffer's guards
// are checked when it is destroyed, sooner with check_guards. Guards read as NaN, or as huge integers. In a sanitized run a
// buffer is an allocation of exactly n elements instead, so that memcheck sees its true bounds.
template <class T>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= 256);

 public:
  explicit DeviceBuffer(std::size_t n)
      : size_(n), guard_(sanitized() && n > 0 ? 0 : 16384), salt_(++buffers()) {
    CE_CUDA(cudaMalloc(&base_, guard_ + bytes() + guard_));
    if (guard_ > 0) {
      CE_CUDA(cudaMemcpy(base_, guard(0).data(), guard_, cudaMemcpyHostToDevice));
      CE_CUDA(cudaMemcpy(base_ + guard_ + bytes(), guard(guard_ + bytes()).data(), guard_, cudaMemcpyHostToDevice));
    }
    poison();
  }
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) { upload(host); }
  DeviceBuffer(DeviceBuffer&& other) noexcept { swap(other); }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    DeviceBuffer(std::move(other)).swap(*this);
    return *this;
  }
  ~DeviceBuffer() {
    if (base_ == nullptr) return;
    if (detail::state().late_failure.empty()) detail::state().late_failure = broken("a buffer");
    cudaFree(base_);
  }

  T* data() { return reinterpret_cast<T*>(base_ + guard_); }
  const T* data() const { return reinterpret_cast<const T*>(base_ + guard_); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  // These three return when all work on the device, in any stream, is done.
  void upload(const std::vector<T>& host) {
    if (host.size() != size_) throw detail::Fatal(format("upload of %zu values into %zu", host.size(), size_));
    CE_CUDA(cudaDeviceSynchronize());
    if (size_ > 0) CE_CUDA(cudaMemcpy(data(), host.data(), bytes(), cudaMemcpyHostToDevice));
    CE_CUDA(cudaDeviceSynchronize());
  }
  std::vector<T> download() const {
    std::vector<T> host(size_);
    CE_CUDA(cudaDeviceSynchronize());
    if (size_ > 0) CE_CUDA(cudaMemcpy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost));
    return host;
  }
  void poison() {  // by copies that double in length: no kernel of ours shows up in a profile
    if (size_ == 0) return;
    const std::vector<std::uint16_t> lanes(32768, detail::poison_lane<T>);
    unsigned char* const first = base_ + guard_;
    std::size_t done = std::min(bytes(), lanes.size() * 2);
    CE_CUDA(cudaDeviceSynchronize());
    CE_CUDA(cudaMemcpy(first, lanes.data(), done, cudaMemcpyHostToDevice));
    for (std::size_t step = 0; done < bytes(); done += step) {
      step = std::min(done, bytes() - done);
      CE_CUDA(cudaMemcpy(first + done, first, step, cudaMemcpyDeviceToDevice));
    }
    CE_CUDA(cudaDeviceSynchronize());
  }
  void check_guards(const char* name) const {
    const std::string text = broken(name);
    ++detail::state().checks;
    if (!text.empty()) throw detail::Failure(text);
  }

 private:
  static std::uint64_t& buffers() {
    static std::uint64_t count = 0;
    return count;
  }
  void swap(DeviceBuffer& other) noexcept {
    std::swap(base_, other.base_);
    std::swap(size_, other.size_);
    std::swap(guard_, other.guard_);
    std::swap(salt_, other.salt_);
  }
  // The zone that starts `offset` bytes into the allocation: NaNs whose payload and sign depend on buffer and place, so that
  // a guard copied from elsewhere does not fit.
  std::vector<unsigned char> guard(std::size_t offset) const {
    std::vector<unsigned char> zone(guard_);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < guard_; ++i) {
      std::uint64_t lane = salt_ * 0x9e3779b97f4a7c15ull + (offset + i) / 2;
      if (i == 0 || (offset + i) % 2 == 0) bits = Rng::splitmix(lane);
      zone[i] = static_cast<unsigned char>((0x7ff8u | (bits & 0x8007u)) >> (8 * ((offset + i) % 2)));
    }
    return zone;
  }
  std::string broken(const char* name) const noexcept {
    if (guard_ == 0 || cudaDeviceSynchronize() != cudaSuccess) return {};
    std::vector<unsigned char> zone(guard_);
    for (const std::size_t offset : {std::size_t{0}, guard_ + bytes()}) {
      if (cudaMemcpy(zone.data(), base_ + offset, guard_, cudaMemcpyDeviceToHost) != cudaSuccess) return {};
      const std::vector<unsigned char> want = guard(offset);
      const auto at = std::mismatch(zone.begin(), zone.end(), want.begin()).first;
      if (at == zone.end()) continue;
      const long long byte = static_cast<long long>(offset + (at - zone.begin())) - static_cast<long long>(guard_);
      return detail::scoped(format("%s: written out of bounds at byte %lld of %zu", name, byte, bytes()));
    }
    return {};
  }

  unsigned char* base_ = nullptr;
  std::size_t size_ = 0, guard_ = 0;
  std::uint64_t salt_ = 0;
};

// For what the candidate may only read: the buffer still holds `host` bit by bit, and its guards are intact.
template <class T>
void expect_unchanged(const DeviceBuffer<T>& buffer, const std::vector<T>& host, const char* name) {
  const std::vector<T> now = buffer.download();
  ++detail::state().checks;
  if (now.size() != host.size() || (!host.empty() && std::memcmp(now.data(), host.data(), buffer.bytes()) != 0))
    throw detail::Failure(detail::scoped(format("%s: an input was modified", name)));
  buffer.check_guards(name);
}

// A stream that does not synchronise with the legacy default stream.
class Stream {
 public:
  Stream() { CE_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  ~Stream() { cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

// Holds back a stream's work until open(): what the candidate enqueues there cannot start before, what it puts elsewhere by
// mistake can. Should the host still be stuck in a call after two seconds, the gate opens by itself and open() fails the
// case: the call waited for the stream. A sanitized run, in which any launch may block, does not hold anything back.
class StreamGate {
 public:
  explicit StreamGate(cudaStream_t stream) : state_(std::make_shared<Latch>()) {
    if (sanitized()) return;
    auto* const latch = new std::shared_ptr<Latch>(state_);
    CE_CUDA(cudaLaunchHostFunc(stream, wait, latch));
  }
  ~StreamGate() { release(); }
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;

  void open() {
    const bool in_time = release();
    CE_CHECK(in_time, "the call waited for the work in its stream, which it must only enqueue");
  }

 private:
  struct Latch {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false, timed_out = false;
  };
  static void CUDART_CB wait(void* data) {
    const std::unique_ptr<std::shared_ptr<Latch>> held(static_cast<std::shared_ptr<Latch>*>(data));
    Latch& latch = **held;
    std::unique_lock<std::mutex> lock(latch.mutex);
    latch.timed_out = !latch.changed.wait_for(lock, std::chrono::seconds(2), [&] { return latch.open; });
  }
  bool release() {
    const std::lock_guard<std::mutex> lock(state_->mutex);
    state_->open = true;
    state_->changed.notify_all();
    return !state_->timed_out;
  }
  std::shared_ptr<Latch> state_;
};

// For benchmarks: runs iteration(0) to warm up, then times iteration(1) ... iteration(iterations) inside the NVTX range
// `region`. Give every index its own output and check them all afterwards, so that no iteration can be skipped. The mean
// wall time is printed as COMPUTE_EVAL_TIME_MS once the benchmark's checks have passed.
template <class Iteration>
void timed(const char* region, int iterations, Iteration&& iteration) {
  iteration(0);
  CE_CUDA(cudaDeviceSynchronize());
  nvtxRangePushA(region);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 1; i <= iterations; ++i) iteration(i);
  CE_CUDA(cudaDeviceSynchronize());
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  nvtxRangePop();
  detail::state().bench_ms = elapsed.count() / iterations;
}

namespace detail {

// Empty when the case passed. Sets `fatal` when nothing that ran later could be trusted.
inline std::string failure_of(const Case& the_case, bool& fatal) {
  State& s = state();
  s.case_name = the_case.name;
  s.rngs = 0;
  s.checks = s.calls = 0;
  s.bench_ms = -1;
  s.late_failure.clear();
  std::string text;
  try {
    the_case.body();
    if (s.checks == 0) text = "the case checked nothing";
  } catch (const Fatal& error) {
    fatal = true;
    text = error.what();
  } catch (const std::exception& error) {
    text = error.what();
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  if (text.empty()) text = s.late_failure;
  const cudaError_t pending = cudaDeviceSynchronize(), left = cudaGetLastError();
  const cudaError_t error = pending != cudaSuccess ? pending : left;
  if (text.empty() && error != cudaSuccess) text = format("the case left the CUDA error %s", cudaGetErrorName(error));
  if (cudaDeviceSynchronize() != cudaSuccess) fatal = true;
  return text;
}

inline bool write_coverage() {
  const State& s = state();
  if (s.report.empty()) return true;
  std::string token;
  for (const char c : s.token) token += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string(1, c);
  std::FILE* file = std::fopen(s.report.c_str(), "w");
  if (file == nullptr) return false;
  const bool written =
      std::fprintf(file, "{\"token\": \"%s\", \"target_launches\": %ld}\n", token.c_str(), s.verified_calls) > 0;
  return std::fclose(file) == 0 && written;
}

}  // namespace detail

// Runs the tests, or with --bench the benchmarks; --case=TEXT picks those whose name contains TEXT. Returns main's result.
inline int run(int argc, char** argv) {
  detail::State& s = detail::state();
  bool bench = false, list = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--bench") bench = true;
    else if (option == "--list") list = true;
    else if (option == "--sanitized") s.sanitized = true;
    else if (option.rfind("--case=", 0) == 0) only = option.substr(7);
    else return std::fprintf(stderr, "usage: %s [--bench] [--list] [--case=TEXT] [--sanitized]\n", argv[0]), 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  unsetenv("COMPUTE_EVAL_SANITIZER_REPORT");  // not for the candidate, nor for a child of its making
  unsetenv("COMPUTE_EVAL_SANITIZER_TOKEN");
  std::atexit([] {  // whoever ends the process before the verdict does not get to choose it
    if (!detail::state().finished) std::fflush(nullptr), _exit(1);
  });

  int ran = 0, passed = 0;
  bool fatal = false;
  try {
    if (!list) seed(), CE_CUDA(cudaFree(nullptr));
  } catch (const detail::Failure& error) {
    std::printf("FAIL  %s\n", error.what());
    fatal = true;
  }
  for (const detail::Case& one : bench ? s.benches : s.tests) {
    if (fatal) break;
    if (std::strstr(one.name, only.c_str()) == nullptr) continue;
    if (list && std::printf("%s\n", one.name)) continue;
    ++ran;
    const auto start = std::chrono::steady_clock::now();
    const std::string text = detail::failure_of(one, fatal);
    const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
    std::printf("%s  %s (%.1f ms)%s%s\n", text.empty() ? "PASS" : "FAIL", one.name, elapsed.count(),
                text.empty() ? "" : ": ", text.c_str());
    if (!text.empty()) continue;
    ++passed;
    s.verified_calls += s.calls;
    if (s.bench_ms >= 0) std::printf("COMPUTE_EVAL_TIME_MS: %.6f\n", s.bench_ms);
  }
  bool good = list || (!fatal && ran > 0 && passed == ran);
  if (!list) std::printf("%d of %d passed%s\n", passed, ran, fatal ? ", run ended early" : "");
  if (good && !list && !detail::write_coverage()) {
    std::printf("FAIL  cannot write the sanitizer coverage report\n");
    good = false;
  }
  s.finished = true;
  return good ? 0 : 1;
}

}  // namespace ce
