// SPDX-License-Identifier: Apache-2.0
//
// ce_harness.hpp: what a hidden C++ test needs, in one header that travels with the problem.
//
//   CE_TEST(odd_sizes) {
//     ce::Rng rng;                                       // seeded from CE_SEED and the case's name
//     for (std::size_t n : {0, 1, 31, 1023}) {
//       CE_SCOPE("n = %zu", n);                          // named in any failure below
//       const auto x = rng.uniform_vector<float>(n, -1, 1);
//       ce::DeviceBuffer<float> in(x), out(n);           // guard zones both sides; `out` is poisoned
//       CE_CALL(negate(in.data(), out.data(), n, stream));
//       ce::expect_close(out.download(), want, {0.0, 1e-6}, "out");
//       ce::expect_unchanged(in, x, "in");
//     }
//   }
//   int main(int argc, char** argv) { return ce::run(argc, argv); }
//
// The first failed check ends its case; a failed CUDA call of the test, or an error that sticks, ends the run. A case
// that checks nothing fails. Exit code 0: at least one case ran, and every case that ran passed.
// Host code only; C++17; CUDA 12 and 13. Use it from one thread.
#pragma once

#define CE_HARNESS_VERSION "1.0.0"

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <unistd.h>

#include <algorithm>
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
struct Case { const char* name; void (*body)(); };

inline std::string environment(const char* name) { return std::getenv(name) ? std::getenv(name) : ""; }

struct State {
  std::vector<Case> tests, benches;
  const char* case_name = "";
  unsigned rngs = 0;           // generators this case has made
  long checks = 0, calls = 0;  // in this case
  long verified_calls = 0;     // candidate calls in the cases that passed
  double bench_ms = -1;
  std::string late_failure;    // found where nothing may be thrown
  std::vector<std::string> scopes;
  std::string report = environment("COMPUTE_EVAL_SANITIZER_REPORT");
  std::string token = environment("COMPUTE_EVAL_SANITIZER_TOKEN");
  bool sanitized = !report.empty(), finished = false;
};
inline State& state() { static State only; return only; }

inline bool add(std::vector<Case>& cases, Case one) { return cases.push_back(one), true; }

struct Scope {
  explicit Scope(std::string text) { state().scopes.push_back(std::move(text)); }
  ~Scope() { state().scopes.pop_back(); }
};
inline std::string scoped(std::string text) {
  for (const std::string& scope : state().scopes) text += " [" + scope + "]";
  return text;
}

inline void check(bool good, const std::string& what) {
  ++state().checks;
  if (!good) throw Failure(scoped(what));
}
inline std::string place(const char* file, int line) {
  const char* slash = std::strrchr(file, '/');
  return format("%s:%d: ", slash ? slash + 1 : file, line);
}
inline void check_cuda(cudaError_t error, const char* call, const char* file, int line) {
  if (error == cudaSuccess) return;
  const char *name = cudaGetErrorName(error), *meaning = cudaGetErrorString(error);
  throw Fatal(scoped(place(file, line) + format("%s: %s, %s", call, name, meaning)));
}
inline void called(const char* call, const char* file, int line) {
  ++state().calls;
  const cudaError_t error = cudaPeekAtLastError();
  if (error != cudaSuccess) check(false, place(file, line) + format("%s left %s", call, cudaGetErrorName(error)));
}

}  // namespace detail

// A CUDA call of the test itself.
#define CE_CUDA(call) ce::detail::check_cuda((call), #call, __FILE__, __LINE__)

// CE_CHECK(condition) or CE_CHECK(condition, "format", ...).
#define CE_CHECK(condition, ...)                                                                       \
  do {                                                                                                 \
    const bool ce_good = static_cast<bool>(condition);                                                 \
    ce::detail::check(ce_good, ce_good ? "" : ce::detail::place(__FILE__, __LINE__) + #condition " " + \
                                                  ce::format(__VA_ARGS__));                            \
  } while (0)

// A call of the candidate. It must not leave a CUDA error, and counts as verified once its case has passed.
#define CE_CALL(...)                                      \
  do {                                                    \
    __VA_ARGS__;                                          \
    ce::detail::called(#__VA_ARGS__, __FILE__, __LINE__); \
  } while (0)

#define CE_JOIN_(a, b) a##b
#define CE_JOIN(a, b) CE_JOIN_(a, b)
#define CE_SCOPE(...) const ce::detail::Scope CE_JOIN(ce_scope_, __LINE__)(ce::format(__VA_ARGS__))

#define CE_CASE_(kind, name)                                                      \
  static void ce_##kind##_##name();                                               \
  [[maybe_unused]] static const bool ce_added_##kind##_##name =                   \
      ce::detail::add(ce::detail::state().kind, {#name, ce_##kind##_##name});     \
  static void ce_##kind##_##name()
#define CE_TEST(name) CE_CASE_(tests, name)
#define CE_BENCH(name) CE_CASE_(benches, name)

// For a candidate's calls that CE_CALL cannot wrap.
inline void count_launch(long calls = 1) { detail::state().calls += calls; }

// True under compute-sanitizer (or with --sanitized): launches may block, and exact bounds matter more than guards.
inline bool sanitized() { return detail::state().sanitized; }

// if (ce::skip_sanitized("why")) return; for what makes no sense there: provoked API errors, races against the clock.
inline bool skip_sanitized(const char* why) {
  if (!sanitized()) return false;
  std::printf("SKIP  %s: %s\n", detail::state().case_name, why);
  return ++detail::state().checks > 0;
}

// The run's seed: CE_SEED, or a fresh one. Printed once, so that any failure can be repeated.
inline std::uint64_t seed() {
  static const std::uint64_t value = [] {
    const std::string text = detail::environment("CE_SEED");
    if (text.find_first_not_of("0123456789") != text.npos) throw detail::Fatal("CE_SEED is not a decimal number");
    std::random_device device;
    const std::uint64_t fresh = (static_cast<std::uint64_t>(device()) << 32) | device();
    const std::uint64_t number = text.empty() ? fresh : std::strtoull(text.c_str(), nullptr, 10);
    std::printf("CE_SEED: %llu\n", static_cast<unsigned long long>(number));
    return number;
  }();
  return value;
}

// Narrow types (__half, __nv_bfloat16, ...) convert by way of float.
template <class T>
double to_double(T value) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(value);
  else return static_cast<double>(static_cast<float>(value));
}

// xoshiro256** (Blackman and Vigna), its state filled by splitmix64. The same numbers on every platform.
class Rng {
 public:
  // The k-th generator of a case depends on the seed, the case's name and k alone: a case repeats when it is run alone.
  Rng() : Rng(seed() ^ hash(detail::state().case_name) ^ (0x632be59bd9b4e019ull * ++detail::state().rngs)) {}
  explicit Rng(std::uint64_t start) { for (std::uint64_t& word : s_) word = splitmix(start); }

  std::uint64_t next() {
    const auto rotate = [](std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); };
    const std::uint64_t result = rotate(s_[1] * 5, 7) * 9, shifted = s_[1] << 17;
    s_[2] ^= s_[0], s_[3] ^= s_[1], s_[1] ^= s_[2], s_[0] ^= s_[3], s_[2] ^= shifted, s_[3] = rotate(s_[3], 45);
    return result;
  }
  template <class T = double>
  T uniform(double lo, double hi) {  // in [lo, hi), also after rounding to T
    T value;
    do value = static_cast<T>(lo + (hi - lo) * (static_cast<double>(next() >> 11) * 0x1p-53));
    while (lo < hi && to_double(value) >= hi);
    return value;
  }
  template <class T = int>
  T integer(T lo, T hi) {  // in [lo, hi], without bias
    const std::uint64_t span = static_cast<std::uint64_t>(hi) - static_cast<std::uint64_t>(lo) + 1;
    std::uint64_t bits = next();
    while (span != 0 && bits >= UINT64_MAX - UINT64_MAX % span) bits = next();
    return static_cast<T>(static_cast<std::uint64_t>(lo) + (span != 0 ? bits % span : bits));
  }
  template <class T = double>
  T normal(double mean = 0, double deviation = 1) {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log(1 - uniform(0, 1)));
    return static_cast<T>(mean + deviation * radius * std::cos(6.283185307179586 * uniform(0, 1)));
  }

  template <class T, class Draw>
  static std::vector<T> vector(std::size_t n, Draw draw) {
    std::vector<T> values(n);
    for (T& value : values) value = draw();
    return values;
  }
  template <class T>
  std::vector<T> uniform_vector(std::size_t n, double lo, double hi) {
    return vector<T>(n, [&] { return uniform<T>(lo, hi); });
  }
  template <class T>
  std::vector<T> integer_vector(std::size_t n, T lo, T hi) {
    return vector<T>(n, [&] { return integer<T>(lo, hi); });
  }
  template <class T>
  std::vector<T> normal_vector(std::size_t n, double mean = 0, double deviation = 1) {
    return vector<T>(n, [&] { return normal<T>(mean, deviation); });
  }
  template <class T>
  void shuffle(std::vector<T>& values) {
    for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[integer<std::size_t>(0, i - 1)]);
  }

  static std::uint64_t splitmix(std::uint64_t& x) {
    std::uint64_t z = (x += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }

 private:
  static std::uint64_t hash(const char* text) {  // FNV-1a
    std::uint64_t h = 0xcbf29ce484222325ull;
    for (; *text; ++text) h = (h ^ static_cast<unsigned char>(*text)) * 0x100000001b3ull;
    return h;
  }
  std::uint64_t s_[4];
};

namespace detail {

// Poison repeats one 16-bit lane. For floating point it is a quiet NaN in __half, __nv_bfloat16, float and double, with
// a payload that GPU arithmetic does not produce: "never written" differs from a computed NaN. Else 0xA5 bytes.
template <class T>
inline constexpr bool floats = std::is_floating_point_v<T> || (std::is_class_v<T> && std::is_constructible_v<float, T>);
template <> inline constexpr bool floats<float2> = true;
template <> inline constexpr bool floats<float4> = true;
template <> inline constexpr bool floats<double2> = true;
template <class T>
inline constexpr std::uint16_t poison_lane = floats<T> ? 0x7ffd : 0xa5a5;

template <class T>
bool is_poison(const T& value) {
  const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
  for (std::size_t i = 0; i < sizeof(T); ++i)
    if (bytes[i] != ((poison_lane<T> >> (8 * (i % 2))) & 0xff)) return false;
  return true;
}

template <class T>
std::string shown(const T& value) {
  std::string text = "an object";
  if constexpr (std::is_integral_v<T>) text = std::to_string(value);
  else if constexpr (std::is_constructible_v<float, T>) text = format("%.9g", to_double(value));
  return is_poison(value) ? text + " (never written)" : text;
}

template <class T, class Bound>
void compare(const std::vector<T>& got, const std::vector<double>& want, Bound bound, const char* name) {
  check(got.size() == want.size(), format("%s: %zu values, want %zu", name, got.size(), want.size()));
  std::size_t wrong = 0, first = 0;
  double largest = 0;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double g = to_double(got[i]), w = want[i], error = g == w ? 0 : std::fabs(g - w);
    const bool good = std::isnan(w)   ? std::isnan(g) && !is_poison(got[i])
                      : std::isinf(w) ? g == w
                                      : error <= bound(i);
    if (good) continue;
    if (wrong++ == 0) first = i;
    largest = std::max(largest, std::isnan(error) ? HUGE_VAL : error);
  }
  if (wrong == 0) return;
  check(false, format("%s[%zu]: got %s, want %.9g within %.3g; %zu of %zu wrong, largest |error| %.3g", name, first,
                      shown(got[first]).c_str(), want[first], bound(first), wrong, want.size(), largest));
}

}  // namespace detail

struct Tolerance { double atol = 0, rtol = 0; };

// Each |actual - expected| <= atol + rtol * |expected|. Where NaN is expected any computed NaN will do, where an
// infinity is expected that very infinity; where a finite value is expected NaN and infinities are wrong.
template <class T>
void expect_close(const std::vector<T>& actual, const std::vector<double>& expected, Tolerance tolerance,
                  const char* name) {
  const auto bound = [&](std::size_t i) { return tolerance.atol + tolerance.rtol * std::fabs(expected[i]); };
  detail::compare(actual, expected, bound, name);
}

// The same with an absolute bound for each element, where the error bound follows from the data.
template <class T>
void expect_within(const std::vector<T>& actual, const std::vector<double>& expected, const std::vector<double>& bounds,
                   const char* name) {
  detail::check(bounds.size() == expected.size(), format("%s: %zu bounds", name, bounds.size()));
  detail::compare(actual, expected, [&](std::size_t i) { return bounds[i]; }, name);
}

// Exact, bit by bit: also tells -0 from 0 and one NaN from another. T must have no padding.
template <class T>
void expect_equal(const std::vector<T>& actual, const std::vector<T>& expected, const char* name) {
  const std::size_t n = expected.size();
  detail::check(actual.size() == n, format("%s: %zu values, want %zu", name, actual.size(), n));
  std::size_t wrong = 0, first = 0;
  for (std::size_t i = 0; i < n; ++i)
    if (std::memcmp(&actual[i], &expected[i], sizeof(T)) != 0 && wrong++ == 0) first = i;
  if (wrong == 0) return;
  const std::string got = detail::shown(actual[first]), want = detail::shown(expected[first]);
  detail::check(false, format("%s[%zu]: got %s, want %s; %zu of %zu wrong", name, first, got.c_str(), want.c_str(),
                              wrong, n));
}

// Device memory of n elements between two guard zones, aligned to 256 bytes and poisoned. Guards read as NaN or as huge
// integers and are checked at the latest when the buffer is destroyed. In a sanitized run the allocation holds exactly
// the n elements instead, so that memcheck sees the true bounds. Copies wait for all work on the device.
template <class T>
class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t n) : size_(n), guard_(sanitized() && n > 0 ? 0 : 16384), salt_(++made_) {
    CE_CUDA(cudaMalloc(&base_, guard_ + bytes() + guard_));
    copy(base_, zone(0).data(), guard_, cudaMemcpyHostToDevice);
    copy(base_ + guard_ + bytes(), zone(guard_ + bytes()).data(), guard_, cudaMemcpyHostToDevice);
    poison();
  }
  explicit DeviceBuffer(const std::vector<T>& host) : DeviceBuffer(host.size()) { upload(host); }
  DeviceBuffer(DeviceBuffer&& other) noexcept : size_(other.size_), guard_(other.guard_), salt_(other.salt_) {
    base_ = std::exchange(other.base_, nullptr);
  }
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(base_, other.base_), std::swap(size_, other.size_);
    std::swap(guard_, other.guard_), std::swap(salt_, other.salt_);
    return *this;
  }
  ~DeviceBuffer() {
    const std::string text = base_ != nullptr ? broken("a buffer") : "";
    if (!text.empty() && detail::state().late_failure.empty()) detail::state().late_failure = detail::scoped(text);
    cudaFree(base_);
  }

  T* data() { return reinterpret_cast<T*>(base_ + guard_); }
  const T* data() const { return reinterpret_cast<const T*>(base_ + guard_); }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return size_ * sizeof(T); }

  void upload(const std::vector<T>& host) {
    if (host.size() != size_) throw detail::Fatal(format("upload of %zu values into %zu", host.size(), size_));
    copy(data(), host.data(), bytes(), cudaMemcpyHostToDevice);
  }
  std::vector<T> download() const {
    std::vector<T> host(size_);
    copy(host.data(), data(), bytes(), cudaMemcpyDeviceToHost);
    return host;
  }
  void poison() {  // by copies, each as long as all before it: no kernel of ours shows up in a profile
    const std::vector<std::uint16_t> lanes(32768, detail::poison_lane<T>);
    unsigned char* const first = base_ + guard_;
    std::size_t done = std::min(bytes(), lanes.size() * sizeof lanes[0]);
    copy(first, lanes.data(), done, cudaMemcpyHostToDevice);
    for (std::size_t step = 0; done < bytes(); done += step)
      copy(first + done, first, step = std::min(done, bytes() - done), cudaMemcpyDeviceToDevice);
  }
  void check_guards(const char* name) const {
    const std::string text = broken(name);
    detail::check(text.empty(), text);
  }

 private:
  static void copy(void* to, const void* from, std::size_t count, cudaMemcpyKind kind) {
    CE_CUDA(cudaDeviceSynchronize());
    if (count > 0) CE_CUDA(cudaMemcpy(to, from, count, kind));
    CE_CUDA(cudaDeviceSynchronize());
  }
  // The guard that starts `offset` bytes into the allocation: NaN lanes whose sign and payload depend on the buffer and
  // the place, so that a guard which was copied from elsewhere shows.
  std::vector<unsigned char> zone(std::size_t offset) const {
    std::vector<unsigned char> bytes(guard_);
    for (std::size_t i = 0; i < guard_; ++i) {
      std::uint64_t key = salt_ * 0x9e3779b97f4a7c15ull + (offset + i) / 2;
      bytes[i] = static_cast<unsigned char>((0x7ff8u | (Rng::splitmix(key) & 0x8007u)) >> (8 * ((offset + i) % 2)));
    }
    return bytes;
  }
  std::string broken(const char* name) const {  // empty when both guards are intact
    std::vector<unsigned char> now(guard_);
    for (const std::size_t offset : {std::size_t{0}, guard_ + bytes()}) {
      if (guard_ == 0 || cudaDeviceSynchronize() != cudaSuccess) return {};
      if (cudaMemcpy(now.data(), base_ + offset, guard_, cudaMemcpyDeviceToHost) != cudaSuccess) return {};
      const std::vector<unsigned char> want = zone(offset);
      const auto at = std::mismatch(now.begin(), now.end(), want.begin()).first - now.begin();
      if (static_cast<std::size_t>(at) == guard_) continue;
      const long long byte = static_cast<long long>(offset) + at - static_cast<long long>(guard_);
      return format("%s of %zu bytes was written out of bounds, at byte %lld", name, bytes(), byte);
    }
    return {};
  }

  static inline std::uint64_t made_ = 0;
  unsigned char* base_ = nullptr;
  std::size_t size_, guard_;
  std::uint64_t salt_;
};

// For what the candidate may only read: the buffer still holds `host` bit by bit, and its guards are intact.
template <class T>
void expect_unchanged(const DeviceBuffer<T>& buffer, const std::vector<T>& host, const char* name) {
  const std::vector<T> now = buffer.download();
  const bool same = now.size() == host.size() && std::memcmp(now.data(), host.data(), buffer.bytes()) == 0;
  detail::check(same || now.empty(), format("%s: an input was modified", name));
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

// Holds a stream's work back until open(): what the candidate enqueues there cannot start before, what it puts
// elsewhere by mistake can. Should the host be stuck in a call, the gate opens by itself after five seconds, and open()
// then fails the case: the call waited for the stream. Make the same call once before, without a gate, since loading a
// kernel or growing a pool for the first time may wait. A sanitized run, where any launch may, holds nothing back.
class StreamGate {
 public:
  explicit StreamGate(cudaStream_t stream) {
    auto* const copy = new std::shared_ptr<Latch>(latch_);  // the callback's own: it may outlive this object
    if (sanitized()) delete copy;
    else CE_CUDA(cudaLaunchHostFunc(stream, wait, copy));
  }
  ~StreamGate() { release(); }
  StreamGate(const StreamGate&) = delete;
  StreamGate& operator=(const StreamGate&) = delete;
  void open() { detail::check(release(), "the call waited for work in its stream instead of only enqueueing"); }

 private:
  struct Latch {
    std::mutex mutex;
    std::condition_variable changed;
    bool open = false, late = false;
  };
  static void CUDART_CB wait(void* data) {
    const std::unique_ptr<std::shared_ptr<Latch>> held(static_cast<std::shared_ptr<Latch>*>(data));
    std::unique_lock<std::mutex> lock((*held)->mutex);
    (*held)->late = !(*held)->changed.wait_for(lock, std::chrono::seconds(5), [&] { return (*held)->open; });
  }
  bool release() {
    const std::lock_guard<std::mutex> lock(latch_->mutex);
    latch_->open = true;
    latch_->changed.notify_all();
    return !latch_->late;
  }
  std::shared_ptr<Latch> latch_ = std::make_shared<Latch>();
};

// For benchmarks: iteration(0) warms up, then iteration(1) to iteration(iterations) run inside the NVTX range `region`.
// Give every index its own output and check them all afterwards, so that no iteration can be skipped. The mean wall
// time is printed as COMPUTE_EVAL_TIME_MS once the benchmark has passed its checks.
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

// Runs one case. Empty when it passed; sets `fatal` when nothing that ran later could be trusted.
inline std::string failure_of(const Case& one, bool& fatal) {
  State& s = state();
  s.case_name = one.name, s.rngs = 0, s.checks = s.calls = 0, s.bench_ms = -1, s.late_failure.clear();
  std::string text;
  try {
    one.body();
    if (s.checks == 0) text = "the case checked nothing";
  } catch (const std::exception& error) {
    text = error.what();
    fatal = dynamic_cast<const Fatal*>(&error) != nullptr;
  } catch (...) {
    text = "an exception that is no std::exception";
  }
  if (text.empty()) text = s.late_failure;
  const cudaError_t pending = cudaDeviceSynchronize(), last = cudaGetLastError();
  const cudaError_t error = pending != cudaSuccess ? pending : last;
  if (text.empty() && error != cudaSuccess) text = format("the case left %s", cudaGetErrorName(error));
  fatal = fatal || cudaDeviceSynchronize() != cudaSuccess;
  return text;
}

inline bool write_coverage() {
  std::string token;
  for (const char c : state().token) token += (c == '"' || c == '\\') ? std::string{'\\', c} : std::string{c};
  std::FILE* const file = std::fopen(state().report.c_str(), "w");
  if (file == nullptr) return false;
  std::fprintf(file, "{\"token\": \"%s\", \"target_launches\": %ld}\n", token.c_str(), state().verified_calls);
  return std::fclose(file) == 0;
}

}  // namespace detail

// Runs the tests, or with --bench the benchmarks; --case=TEXT picks those whose name contains TEXT. What main returns.
inline int run(int argc, char** argv) {
  detail::State& s = detail::state();
  bool bench = false, fatal = false;
  std::string only;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--bench") bench = true;
    else if (option == "--sanitized") s.sanitized = true;
    else if (option.rfind("--case=", 0) == 0) only = option.substr(7);
    else return std::fprintf(stderr, "usage: %s [--bench] [--case=TEXT] [--sanitized]\n", argv[0]), 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  unsetenv("COMPUTE_EVAL_SANITIZER_REPORT");  // not for the candidate, nor for a child it might start
  unsetenv("COMPUTE_EVAL_SANITIZER_TOKEN");
  std::atexit([] { if (!detail::state().finished) std::fflush(nullptr), _exit(1); });  // ended before the verdict

  std::size_t ran = 0, passed = 0;
  try {
    seed(), CE_CUDA(cudaFree(nullptr));
    for (const detail::Case& one : bench ? s.benches : s.tests) {
      if (fatal || std::strstr(one.name, only.c_str()) == nullptr) continue;
      const auto start = std::chrono::steady_clock::now();
      const std::string text = detail::failure_of(one, fatal);
      const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
      const bool good = text.empty();
      const std::string verdict = good ? "" : ": " + text;
      std::printf("%s  %s (%.0f ms)%s\n", good ? "PASS" : "FAIL", one.name, took.count(), verdict.c_str());
      if (good && s.bench_ms >= 0) std::printf("COMPUTE_EVAL_TIME_MS: %.6f\n", s.bench_ms);
      ++ran, passed += good, s.verified_calls += good ? s.calls : 0;
    }
    if (passed == ran && !s.report.empty() && !detail::write_coverage())
      throw detail::Fatal("the sanitizer coverage report cannot be written");
  } catch (const detail::Failure& error) {
    fatal = true;
    std::printf("FAIL  %s\n", error.what());
  }
  std::printf("%zu of %zu passed%s\n", passed, ran, fatal ? "; the run ended early" : "");
  s.finished = true;
  return !fatal && ran > 0 && passed == ran ? 0 : 1;
}

}  // namespace ce
