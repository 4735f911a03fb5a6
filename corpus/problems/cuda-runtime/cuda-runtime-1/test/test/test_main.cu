// Hidden test of run_pipeline. The work is the test's own, so it sees every stream and buffer the pipeline hands out,
// and can hold a chunk back to find out what goes on meanwhile.
#include "ce_harness.hpp"
#include "run_pipeline.h"

#include <atomic>
#include <set>
#include <thread>

namespace {

// Exact, and different for every index, so that a chunk in the wrong place or from the wrong buffer shows.
__host__ __device__ std::uint32_t mixed(std::uint32_t x, std::size_t index, int rounds) {
  x ^= static_cast<std::uint32_t>(index * 2654435761u);
  for (int i = 0; i < rounds; ++i) x = x * 747796405u + 2891336453u + (x >> 13);
  return x;
}

__global__ void transform(const std::uint32_t* in, std::uint32_t* out, std::size_t first, std::size_t count,
                          int rounds) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = mixed(in[i], first + i, rounds);
}

// Page-locked words between guards.
class Pinned {
 public:
  explicit Pinned(const std::vector<std::uint32_t>& words) : size_(words.size()) {
    CE_CUDA(cudaMallocHost(&base_, (size_ + 2 * kGuard) * sizeof(std::uint32_t)));
    std::fill(base_, base_ + size_ + 2 * kGuard, kPattern);
    std::copy(words.begin(), words.end(), base_ + kGuard);
  }
  ~Pinned() { cudaFreeHost(base_); }
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  float* data() { return reinterpret_cast<float*>(base_ + kGuard); }
  std::uint32_t word(std::size_t i) const { return static_cast<const volatile std::uint32_t*>(base_)[kGuard + i]; }
  std::vector<std::uint32_t> words() const { return {base_ + kGuard, base_ + kGuard + size_}; }
  bool guards_intact() const {
    const auto good = [](std::uint32_t word) { return word == kPattern; };
    return std::all_of(base_, base_ + kGuard, good) &&
           std::all_of(base_ + kGuard + size_, base_ + 2 * kGuard + size_, good);
  }

 private:
  static constexpr std::size_t kGuard = 4096;
  static constexpr std::uint32_t kPattern = 0x7ff9a5c3u;
  std::uint32_t* base_ = nullptr;
  std::size_t size_;
};

struct Call {
  const float* in;
  float* out;
  std::size_t first, count;
  cudaStream_t stream;
};

// What the work is told, and what it saw. Nothing may be thrown through the pipeline, so findings are kept for later.
struct Probe {
  std::thread::id thread = std::this_thread::get_id();
  std::vector<Call> calls;
  std::size_t fail_at = SIZE_MAX;
  cudaError_t failure = cudaErrorNotSupported;
  bool slow = false;               // a host function after each kernel dawdles
  std::atomic<int> finished{0};    // chunks whose work has run, when slow
  int rounds = 1;
  bool other_thread = false;
  cudaError_t (*before_kernel)(Probe&, const Call&) = nullptr;  // hook of the overlap cases
  void* extra = nullptr;
};

void CUDART_CB dawdle(void* data) {
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  ++static_cast<Probe*>(data)->finished;
}

cudaError_t work(const float* in, float* out, std::size_t first, std::size_t count, cudaStream_t stream, void* user) {
  Probe& probe = *static_cast<Probe*>(user);
  const Call call{in, out, first, count, stream};
  probe.calls.push_back(call);
  probe.other_thread = probe.other_thread || std::this_thread::get_id() != probe.thread;
  if (probe.calls.size() - 1 == probe.fail_at) return probe.failure;
  if (probe.before_kernel != nullptr) {
    const cudaError_t error = probe.before_kernel(probe, call);
    if (error != cudaSuccess) return error;
  }
  const auto blocks = static_cast<unsigned>(std::min<std::size_t>((count + 255) / 256, 4096));
  transform<<<blocks, 256, 0, stream>>>(reinterpret_cast<const std::uint32_t*>(in),
                                        reinterpret_cast<std::uint32_t*>(out), first, count, probe.rounds);
  if (probe.slow) return cudaLaunchHostFunc(stream, dawdle, &probe);
  return cudaGetLastError();
}

void check_calls(const Probe& probe, std::size_t n, std::size_t chunk, int depth) {
  std::set<const float*> inputs, outputs;
  CE_CHECK(probe.calls.size() == (n - 1) / std::min(chunk, n) + 1, "work was called %zu times", probe.calls.size());
  CE_CHECK(!probe.other_thread, "work was called on another thread");
  for (std::size_t i = 0; i < probe.calls.size(); ++i) {
    const Call& call = probe.calls[i];
    CE_CHECK(call.first == i * chunk, "call %zu of work: first is %zu", i, call.first);
    CE_CHECK(call.count == std::min(chunk, n - call.first), "call %zu of work: count is %zu", i, call.count);
    CE_CHECK(call.in + call.count <= call.out || call.out + call.count <= call.in, "call %zu: buffers overlap", i);
    const auto in_address = reinterpret_cast<std::uintptr_t>(call.in);
    const auto out_address = reinterpret_cast<std::uintptr_t>(call.out);
    CE_CHECK(in_address % 256 == 0 && out_address % 256 == 0, "call %zu of work: a buffer is not aligned", i);
    inputs.insert(call.in);
    outputs.insert(call.out);
  }
  CE_CHECK(inputs.size() <= static_cast<std::size_t>(depth), "%zu different input buffers", inputs.size());
  CE_CHECK(outputs.size() <= static_cast<std::size_t>(depth), "%zu different output buffers", outputs.size());
}

std::vector<std::uint32_t> transformed(std::vector<std::uint32_t> words, int rounds = 1) {
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = mixed(words[i], i, rounds);
  return words;
}

std::vector<std::uint32_t> random_words(ce::Rng& rng, std::size_t n) {
  return rng.integer_vector<std::uint32_t>(n, 0, UINT32_MAX);
}

void run_case(ce::Rng& rng, std::size_t n, std::size_t chunk, int depth, Probe& probe) {
  CE_SCOPE("n %zu, chunk %zu, depth %d", n, chunk, depth);
  const auto input = random_words(rng, n);
  Pinned in(input), out(random_words(rng, n));
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = run_pipeline(in.data(), out.data(), n, chunk, depth, work, &probe));
  CE_CHECK(error == cudaSuccess, "run_pipeline returned %s", cudaGetErrorName(error));
  const auto output = out.words();  // before anything that waits for the device
  check_calls(probe, n, chunk, depth);
  ce::expect_equal(output, transformed(input), "host_out");
  ce::expect_equal(in.words(), input, "host_in");
  CE_CHECK(in.guards_intact() && out.guards_intact(), "written beyond a host array");
}

}  // namespace

CE_TEST(sizes) {
  ce::Rng rng;
  for (const std::size_t chunk : {1, 2, 7, 256, 1000, 4096})
    for (const std::size_t chunks : {1, 2, 3, 5, 16})
      for (const int missing : {0, 1, 5}) {
        const std::size_t n = chunk * chunks;
        if (n <= static_cast<std::size_t>(missing)) continue;
        Probe probe;
        run_case(rng, n - missing, chunk, rng.integer(1, 6), probe);
      }
}

CE_TEST(depths) {
  ce::Rng rng;
  for (const int depth : {1, 2, 3, 4, 7, 16, 100}) {
    Probe probe;
    run_case(rng, 50021, 3001, depth, probe);
  }
}

CE_TEST(chunk_larger_than_all) {
  ce::Rng rng;
  for (const std::size_t chunk : {std::size_t{1001}, std::size_t{1} << 40, SIZE_MAX / 4, SIZE_MAX})
    for (const int depth : {1, 3}) {
      Probe probe;
      run_case(rng, 1000, chunk, depth, probe);
    }
}

CE_TEST(large) {
  ce::Rng rng;
  Probe probe;
  if (ce::sanitized()) run_case(rng, 100003, 9000, 3, probe);
  else run_case(rng, (std::size_t{1} << 23) + 77, (std::size_t{1} << 19) - 3, 3, probe);
}

CE_TEST(buffers_are_device_memory) {
  ce::Rng rng;
  static bool device_memory;  // asked while the buffers live
  device_memory = true;
  Probe probe;
  probe.before_kernel = [](Probe&, const Call& call) {
    for (const void* buffer : {static_cast<const void*>(call.in), static_cast<const void*>(call.out)}) {
      cudaPointerAttributes attributes{};
      const cudaError_t error = cudaPointerGetAttributes(&attributes, buffer);
      device_memory = device_memory && error == cudaSuccess && attributes.type == cudaMemoryTypeDevice;
    }
    return cudaSuccess;
  };
  run_case(rng, 5000, 600, 3, probe);
  CE_CHECK(device_memory, "a buffer is not device memory");
}

// The device lags far behind the host: an input copied over one still needed, or a return before the end, shows.
CE_TEST(slow_work) {
  ce::Rng rng;
  for (const int depth : {1, 2, 3}) {
    Probe probe;
    probe.slow = true;
    run_case(rng, 9 * 1000 - 1, 1000, depth, probe);
    CE_CHECK(probe.finished == 9, "returned when %d of 9 chunks had finished", probe.finished.load());
  }
}

namespace {

struct Overlap {
  Pinned* out;
  std::vector<std::uint32_t> input, output;
  std::size_t watched;  // the chunk that is held back
  bool watch_input;     // of the next chunk, or else the output of the last one
  std::unique_ptr<ce::StreamGate> gate;
  cudaStream_t side;
  std::uint32_t* seen;  // page-locked
  bool overlapped = false, late = false;
};

// Polls for up to two seconds.
template <class Condition>
bool soon(Condition condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (!condition())
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// Holds the chunk `watched` back before its kernel. In the next call the hold is still on, and what is watched must
// arrive before it is lifted.
cudaError_t hold_and_watch(Probe& probe, const Call& call) {
  Overlap& o = *static_cast<Overlap*>(probe.extra);
  const std::size_t i = probe.calls.size() - 1;
  if (i == o.watched) o.gate = std::make_unique<ce::StreamGate>(call.stream);
  if (i != o.watched + 1) return cudaSuccess;
  const auto input_arrived = [&] {
    const float* const last = call.in + call.count - 1;
    return cudaMemcpyAsync(o.seen, last, sizeof *o.seen, cudaMemcpyDeviceToHost, o.side) != cudaSuccess ||
           cudaStreamSynchronize(o.side) != cudaSuccess || *o.seen == o.input[call.first + call.count - 1];
  };
  const Call& held = probe.calls[o.watched];
  const auto output_arrived = [&] { return o.out->word(held.first - 1) == o.output[held.first - 1]; };
  o.overlapped = o.watch_input ? soon(input_arrived) : soon(output_arrived);
  try {
    o.gate->open();
  } catch (const std::exception&) {
    o.late = true;
  }
  return cudaSuccess;
}

void run_overlap(ce::Rng& rng, int depth, std::size_t watched, bool watch_input) {
  const std::size_t chunk = 40000, n = 6 * chunk - 11;
  CE_SCOPE("depth %d, chunk %zu held back", depth, watched);
  const auto input = random_words(rng, n);
  Pinned in(input), out(random_words(rng, n)), seen(std::vector<std::uint32_t>(1, 0));
  ce::Stream side;
  Overlap o{&out, input, transformed(input), watched, watch_input, nullptr, side,
            reinterpret_cast<std::uint32_t*>(seen.data())};
  Probe first;
  run_case(rng, n, chunk, depth, first);  // loads the kernel
  Probe probe;
  probe.extra = &o;
  probe.before_kernel = hold_and_watch;
  CE_CALL(CE_CHECK(run_pipeline(in.data(), out.data(), n, chunk, depth, work, &probe) == cudaSuccess));
  check_calls(probe, n, chunk, depth);
  CE_CHECK(!o.late, "the next call of work came only when the held chunk had finished");
  CE_CHECK(o.overlapped, "the copy waited for the held chunk");
  ce::expect_equal(out.words(), o.output, "host_out");
}

}  // namespace

CE_TEST(copies_in_overlap_work) {
  if (ce::skip_sanitized("launches may wait")) return;
  ce::Rng rng;
  for (const int depth : {2, 3})
    for (const std::size_t watched : {0, 1, 3}) run_overlap(rng, depth, watched, true);
}

CE_TEST(copies_out_overlap_work) {
  if (ce::skip_sanitized("launches may wait")) return;
  ce::Rng rng;
  for (const int depth : {2, 3})
    for (const std::size_t watched : {1, 2, 4}) run_overlap(rng, depth, watched, false);
}

CE_TEST(errors_of_the_work) {
  ce::Rng rng;
  const auto input = random_words(rng, 7000);
  for (const int depth : {1, 2, 4})
    for (const std::size_t fail_at : {0, 1, 2, 6}) {
      CE_SCOPE("depth %d, call %zu fails", depth, fail_at);
      Pinned in(input), out(input);
      Probe probe;
      probe.slow = true;
      probe.fail_at = fail_at;
      probe.failure = fail_at % 2 ? cudaErrorNotSupported : cudaErrorInvalidConfiguration;
      cudaError_t error = cudaSuccess;
      CE_CALL(error = run_pipeline(in.data(), out.data(), 7000, 1000, depth, work, &probe));
      CE_CHECK(error == probe.failure, "run_pipeline returned %s", cudaGetErrorName(error));
      CE_CHECK(probe.calls.size() == fail_at + 1, "work was called %zu times", probe.calls.size());
      const auto finished = static_cast<std::size_t>(probe.finished);
      CE_CHECK(finished == fail_at, "returned when %zu of %zu chunks had finished", finished, fail_at);
      ce::expect_equal(in.words(), input, "host_in");
      CE_CHECK(out.guards_intact(), "written beyond host_out");
    }
}

CE_TEST(arguments) {
  ce::Rng rng;
  const auto before = random_words(rng, 100);
  Pinned in(before), out(before);
  Probe probe;
  const auto refused = [&](const float* from, float* to, std::size_t chunk, int depth, ChunkWork call) {
    CE_CALL(CE_CHECK(run_pipeline(from, to, 100, chunk, depth, call, &probe) == cudaErrorInvalidValue));
  };
  refused(in.data(), out.data(), 0, 2, work);
  refused(in.data(), out.data(), 10, 0, work);
  refused(in.data(), out.data(), 10, -3, work);
  refused(in.data(), out.data(), 10, 2, nullptr);
  refused(nullptr, out.data(), 10, 2, work);
  refused(in.data(), nullptr, 10, 2, work);
  CE_CALL(CE_CHECK(run_pipeline(in.data(), out.data(), 0, 10, 2, work, &probe) == cudaSuccess));
  CE_CALL(CE_CHECK(run_pipeline(nullptr, nullptr, 0, 10, 2, work, &probe) == cudaSuccess));
  CE_CHECK(probe.calls.empty(), "work was called");
  ce::expect_equal(out.words(), before, "host_out");
}

// Sixteen runs with 768 MiB of buffers each. Other processes may use the GPU, so only a loss of several runs counts.
CE_TEST(memory_is_released) {
  const std::size_t chunk = std::size_t{1} << (ce::sanitized() ? 16 : 25), n = 3 * chunk;
  Pinned in(std::vector<std::uint32_t>(n, 1)), out(std::vector<std::uint32_t>(n, 2));
  std::size_t before = 0, after = 0, total = 0;
  CE_CUDA(cudaMemGetInfo(&before, &total));
  for (int i = 0; i < 16; ++i) {
    Probe probe;
    probe.fail_at = i % 2 == 0 ? SIZE_MAX : 2;
    CE_CALL(CE_CHECK((run_pipeline(in.data(), out.data(), n, chunk, 3, work, &probe) == cudaSuccess) == (i % 2 == 0)));
  }
  const std::size_t leak = std::size_t{5} * 6 * chunk * sizeof(float);
  const bool released = [&] {
    for (int i = 0; i < 60; ++i) {
      CE_CUDA(cudaMemGetInfo(&after, &total));
      if (after + leak > before) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  }();
  CE_CHECK(released, "%zu MiB of device memory are gone", (before - after) >> 20);
}

CE_BENCH(pipeline_32M) {
  constexpr int kIterations = 5, kRounds = 600;
  const std::size_t n = std::size_t{1} << 25, chunk = std::size_t{1} << 21;
  ce::Rng rng;
  const auto input = random_words(rng, n + kIterations);  // iteration i starts at element i
  Pinned in(input);
  std::vector<std::unique_ptr<Pinned>> out;
  std::vector<Probe> probes(kIterations + 1);
  for (Probe& probe : probes) {
    probe.rounds = kRounds;
    out.push_back(std::make_unique<Pinned>(std::vector<std::uint32_t>(n, 0)));
  }
  ce::timed("run_pipeline", kIterations, [&](int i) {
    CE_CALL(CE_CHECK(run_pipeline(in.data() + i, out[i]->data(), n, chunk, 3, work, &probes[i]) == cudaSuccess));
  });
  ce::DeviceBuffer<std::uint32_t> all(input), want(n);
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    check_calls(probes[i], n, chunk, 3);
    transform<<<4096, 256>>>(all.data() + i, want.data(), 0, n, kRounds);
    ce::expect_equal(out[i]->words(), want.download(), "host_out");
  }
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
