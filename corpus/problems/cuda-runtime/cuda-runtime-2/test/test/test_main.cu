// Hidden test of replay. Recordings are small programs on arrays of words, which the host can execute too.
#include "ce_harness.hpp"
#include "replay.h"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>

namespace {

using Words = std::vector<std::uint32_t>;
using Buffer = ce::DeviceBuffer<std::uint32_t>;

// Order matters: no two of these commute.
__global__ void affine(std::uint32_t* data, int n, std::uint32_t a, std::uint32_t b) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * a + b + i;
}
__global__ void combine(std::uint32_t* data, const std::uint32_t* other, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] * 3 + other[i];
}

struct Step {
  enum Kind { kAffine, kCombine, kCopy, kClear, kCount } kind;
  int n;
  std::uint32_t a = 0, b = 0;
};

// What an enqueue function gets as `user`: a program and the arrays it works on.
struct Program {
  std::vector<Step> steps;
  std::uint32_t *data, *other;
  std::atomic<int>* counter;  // of kCount
  std::thread::id thread = std::this_thread::get_id();
  int calls = 0;
  bool captured = true;
};

void CUDART_CB count_up(void* counter) { ++*static_cast<std::atomic<int>*>(counter); }

cudaError_t enqueue_step(const Step& step, const Program& p, cudaStream_t stream) {
  const unsigned blocks = (step.n + 127) / 128;
  const std::size_t bytes = step.n * sizeof(std::uint32_t);
  switch (step.kind) {
    case Step::kAffine: affine<<<blocks, 128, 0, stream>>>(p.data, step.n, step.a, step.b); return cudaGetLastError();
    case Step::kCombine: combine<<<blocks, 128, 0, stream>>>(p.data, p.other, step.n); return cudaGetLastError();
    case Step::kCopy: return cudaMemcpyAsync(p.other, p.data, bytes, cudaMemcpyDeviceToDevice, stream);
    case Step::kClear: return cudaMemsetAsync(p.data, 0, bytes, stream);
    default: return cudaLaunchHostFunc(stream, count_up, p.counter);
  }
}

// The test's enqueue function. Records what it saw in the program.
cudaError_t enqueue_program(cudaStream_t stream, void* user) {
  Program& p = *static_cast<Program*>(user);
  ++p.calls;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  p.captured = p.captured && cudaStreamIsCapturing(stream, &status) == cudaSuccess &&
               status == cudaStreamCaptureStatusActive && std::this_thread::get_id() == p.thread;
  for (const Step& step : p.steps) {
    const cudaError_t error = enqueue_step(step, p, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// The host's execution of a program.
struct Model {
  Words data, other;
  int count = 0;
  void run(const std::vector<Step>& steps) {
    for (const Step& step : steps)
      for (int i = 0; i < step.n; ++i) switch (step.kind) {
          case Step::kAffine: data[i] = data[i] * step.a + step.b + i; break;
          case Step::kCombine: data[i] = data[i] * 3 + other[i]; break;
          case Step::kCopy: other[i] = data[i]; break;
          case Step::kClear: data[i] = 0; break;
          default: count += i == 0;
        }
  }
};

Words random_words(ce::Rng& rng, std::size_t n) { return rng.integer_vector<std::uint32_t>(n, 0, UINT32_MAX); }

Step random_affine(ce::Rng& rng, int n) {
  return {Step::kAffine, n, static_cast<std::uint32_t>(rng.next()) | 1, static_cast<std::uint32_t>(rng.next())};
}

// The kinds are the same for every draw, the arguments are not: updates between draws keep the topology.
std::vector<Step> random_steps(ce::Rng& rng, int size) {
  const int part = rng.integer(1, size);
  const Step first = random_affine(rng, size), second = random_affine(rng, part);
  return {first, {Step::kCopy, part}, second, {Step::kCombine, part}, {Step::kCount, 1}};
}

// Arrays on the device beside the host's idea of them.
struct World {
  World(ce::Rng& rng, int n)
      : size(n), model{random_words(rng, n), random_words(rng, n)}, data(model.data), other(model.other) {}
  Program program(std::vector<Step> steps) { return {std::move(steps), data.data(), other.data(), &counter}; }
  void check(const char* when) {
    const Words now = data.download();
    CE_SCOPE("%s", when);
    ce::expect_equal(now, model.data, "data");
    ce::expect_equal(other.download(), model.other, "other");
    CE_CHECK(counter == model.count, "the host function ran %d times, want %d", counter.load(), model.count);
  }
  int size;
  Model model;
  Buffer data, other;
  std::atomic<int> counter{0};
};

// Calls of the candidate. `user` is a copy of the program that is wiped once the call has returned.
cudaError_t record(const char* name, const Program& program, const std::function<cudaError_t(void*)>& call) {
  auto user = std::make_unique<Program>(program);
  user->calls = 0;
  const cudaError_t error = call(user.get());
  CE_CHECK(user->calls == 1, "%s called enqueue %d times", name, user->calls);
  CE_CHECK(user->captured, "%s: the stream was not being captured, or enqueue ran on another thread", name);
  *user = {};
  return error;
}
cudaError_t create(const Program& program, Replay** replay) {
  return record("replay_create", program, [&](void* user) {
    cudaError_t error = cudaErrorUnknown;
    CE_CALL(error = replay_create(enqueue_program, user, replay));
    return error;
  });
}
cudaError_t update(Replay* replay, const Program& program, bool* rebuilt) {
  return record("replay_update", program, [&](void* user) {
    cudaError_t error = cudaErrorUnknown;
    CE_CALL(error = replay_update(replay, enqueue_program, user, rebuilt));
    return error;
  });
}
Replay* created(const Program& program) {
  Replay* replay = nullptr;
  const cudaError_t error = create(program, &replay);
  CE_CHECK(error == cudaSuccess && replay != nullptr, "replay_create returned %s", cudaGetErrorName(error));
  return replay;
}
void expect_update(Replay* replay, const Program& program, bool want_rebuilt) {
  bool rebuilt = !want_rebuilt;
  const cudaError_t error = update(replay, program, &rebuilt);
  CE_CHECK(error == cudaSuccess, "replay_update returned %s", cudaGetErrorName(error));
  CE_CHECK(rebuilt == want_rebuilt, "rebuilt is %d", rebuilt);
}
void launch(Replay* replay, cudaStream_t stream) {
  CE_CALL(CE_CHECK(replay_launch(replay, stream) == cudaSuccess));
}
void destroy(Replay* replay) {
  CE_CUDA(cudaDeviceSynchronize());
  CE_CALL(CE_CHECK(replay_destroy(replay) == cudaSuccess));
}

}  // namespace

CE_TEST(nothing_runs_before_the_launch) {
  ce::Rng rng;
  World w(rng, 1000);
  Replay* const replay = created(w.program(random_steps(rng, w.size)));
  w.check("after replay_create");
  expect_update(replay, w.program(random_steps(rng, w.size)), false);
  w.check("after replay_update");
  destroy(replay);
  w.check("after replay_destroy");
}

CE_TEST(replays) {
  ce::Rng rng;
  ce::Stream stream;
  for (const int times : {1, 2, 17}) {
    CE_SCOPE("%d replays", times);
    World w(rng, 777);
    const auto steps = random_steps(rng, w.size);
    Replay* const replay = created(w.program(steps));
    for (int i = 0; i < times; ++i) {
      launch(replay, stream);
      w.model.run(steps);
    }
    w.check("after the launches");
    destroy(replay);
  }
}

CE_TEST(legacy_stream_and_others_in_turn) {
  ce::Rng rng;
  ce::Stream first, second;
  World w(rng, 300);
  const auto steps = random_steps(rng, w.size);
  Replay* const replay = created(w.program(steps));
  const cudaStream_t streams[] = {nullptr, first, second, cudaStreamLegacy, cudaStreamPerThread};
  for (const cudaStream_t stream : streams) {
    launch(replay, stream);
    w.model.run(steps);
    CE_CUDA(cudaStreamSynchronize(stream));
    w.check("after a launch");
  }
  destroy(replay);
}

// New arguments, sizes (hence grids) and arrays.
CE_TEST(updates_in_place) {
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 2000), v(rng, 2000);
  const auto original = random_steps(rng, w.size);
  Replay* const replay = created(w.program(original));
  launch(replay, stream);
  w.model.run(original);
  for (int i = 0; i < 12; ++i) {
    CE_SCOPE("update %d", i);
    World& target = rng.integer(0, 1) ? w : v;
    const auto steps = random_steps(rng, rng.integer(1, target.size));
    expect_update(replay, target.program(steps), false);
    for (int k = rng.integer(1, 3); k > 0; --k) {
      launch(replay, stream);
      target.model.run(steps);
    }
  }
  w.check("array set 0");
  v.check("array set 1");
  destroy(replay);
}

CE_TEST(updates_that_rebuild) {
  if (ce::skip_sanitized("memcheck reports the rejected update")) return;
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 1500);
  auto steps = random_steps(rng, w.size);
  Replay* const replay = created(w.program(steps));
  const auto go = [&](bool rebuilt) {
    expect_update(replay, w.program(steps), rebuilt);
    launch(replay, stream);
    w.model.run(steps);
  };
  launch(replay, stream);
  w.model.run(steps);
  steps.push_back(random_affine(rng, 99));  // one more node
  go(true);
  steps.back() = random_affine(rng, 1400);
  go(false);
  steps.pop_back();  // one less
  go(true);
  steps[0] = {Step::kClear, 700};  // another kind
  go(true);
  go(false);
  w.check("after the launches");

  steps.resize(2);
  CE_CHECK(update(replay, w.program(steps), nullptr) == cudaSuccess);  // nobody asks
  launch(replay, stream);
  w.model.run(steps);
  w.check("after an update with a null rebuilt");
  destroy(replay);
}

// The stream is held back. Launches wait in it while the recording changes; each must execute what was current then.
CE_TEST(launches_keep_their_recording) {
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 1200);
  auto steps = random_steps(rng, w.size);
  Replay* const replay = created(w.program(steps));
  launch(replay, stream);  // loads what the first launch of a graph loads
  w.model.run(steps);
  CE_CUDA(cudaStreamSynchronize(stream));
  ce::StreamGate gate(stream);
  for (int i = 0; i < 6; ++i) {
    launch(replay, stream);
    w.model.run(steps);
    const bool rebuilds = !ce::sanitized();  // memcheck reports a rejected update
    const bool longer = rebuilds && i % 3 == 1, shorter = rebuilds && i % 3 == 2;
    steps = random_steps(rng, rng.integer(1, w.size));
    if (longer) steps.push_back(random_affine(rng, 10));
    expect_update(replay, w.program(steps), longer || shorter);
  }
  launch(replay, stream);
  w.model.run(steps);
  CE_CUDA(cudaStreamSynchronize(cudaStreamLegacy));
  gate.open();
  w.check("after the launches");
  destroy(replay);
}

CE_TEST(two_objects) {
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 500);
  const auto a = random_steps(rng, 500), b = random_steps(rng, 400), c = random_steps(rng, 300);
  Replay* const first = created(w.program(a));
  Replay* const second = created(w.program(b));
  CE_CHECK(first != second);
  launch(first, stream), launch(second, stream), launch(first, stream);
  w.model.run(a), w.model.run(b), w.model.run(a);
  expect_update(first, w.program(c), false);
  launch(second, stream), launch(first, stream);
  w.model.run(b), w.model.run(c);
  CE_CUDA(cudaStreamSynchronize(stream));
  destroy(first);
  launch(second, stream);
  w.model.run(b);
  w.check("after the launches");
  destroy(second);
}

namespace {

// Two arrays are worked on in two streams between a fork and a join; then one absorbs the other.
struct Diamond {
  std::uint32_t *left, *right;
  int n;
  cudaStream_t side;
  cudaEvent_t fork, join;
  bool joins = true;
};

cudaError_t enqueue_diamond(cudaStream_t stream, void* user) {
  const Diamond& d = *static_cast<Diamond*>(user);
  const unsigned blocks = (d.n + 127) / 128;
  affine<<<blocks, 128, 0, stream>>>(d.right, d.n, 5, 1);
  cudaEventRecord(d.fork, stream);
  cudaStreamWaitEvent(d.side, d.fork, 0);
  affine<<<blocks, 128, 0, stream>>>(d.left, d.n, 3, 7);
  affine<<<blocks, 128, 0, d.side>>>(d.right, d.n, 9, 2);
  cudaEventRecord(d.join, d.side);
  if (d.joins) cudaStreamWaitEvent(stream, d.join, 0);
  combine<<<blocks, 128, 0, stream>>>(d.left, d.right, d.n);
  return cudaGetLastError();
}

// What a capture does not allow, hidden.
cudaError_t enqueue_forbidden_wait(cudaStream_t stream, void*) {
  cudaStreamSynchronize(stream);
  cudaGetLastError();
  return cudaSuccess;
}

cudaError_t enqueue_forbidden_wait_and_fail(cudaStream_t stream, void* user) {
  enqueue_forbidden_wait(stream, user);
  return cudaErrorNotPermitted;
}

cudaError_t enqueue_and_fail(cudaStream_t stream, void* user) {
  enqueue_program(stream, user);
  return cudaErrorNotSupported;
}

struct Event {
  Event() { CE_CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
  ~Event() { cudaEventDestroy(event); }
  cudaEvent_t event = nullptr;
};

// What a thread may do only while it does not capture.
void expect_no_capture() {
  void* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, 256);
  CE_CHECK(error == cudaSuccess, "cudaMalloc afterwards: %s", cudaGetErrorName(error));
  CE_CUDA(cudaFree(memory));
}

}  // namespace

CE_TEST(forked_streams) {
  ce::Rng rng;
  ce::Stream stream;
  ce::Stream side;
  Event fork, join;
  World w(rng, 640);
  Diamond d{w.data.data(), w.other.data(), w.size, side, fork.event, join.event};
  Replay* replay = nullptr;
  CE_CALL(CE_CHECK(replay_create(enqueue_diamond, &d, &replay) == cudaSuccess));
  for (int k = 0; k < 3; ++k) {
    launch(replay, stream);
    for (int i = 0; i < w.size; ++i) {
      std::uint32_t &left = w.model.data[i], &right = w.model.other[i];
      right = (right * 5 + 1 + i) * 9 + 2 + i;
      left = (left * 3 + 7 + i) * 3 + right;
    }
  }
  w.check("after the launches");
  destroy(replay);
}

CE_TEST(errors_of_enqueue) {
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 321);
  const auto steps = random_steps(rng, w.size);
  Program failing = w.program(random_steps(rng, 200));
  Replay* replay = nullptr;
  for (int round = 0; round < 2; ++round) {
    replay = reinterpret_cast<Replay*>(&failing);
    cudaError_t error = cudaSuccess;
    CE_CALL(error = replay_create(enqueue_and_fail, &failing, &replay));
    CE_CHECK(error == cudaErrorNotSupported && replay == nullptr, "replay_create returned %s", cudaGetErrorName(error));
    expect_no_capture();
  }
  replay = created(w.program(steps));
  for (int round = 0; round < 2; ++round) {
    if (round > 0) failing.steps.push_back(random_affine(rng, 50));
    bool rebuilt = true;
    cudaError_t error = cudaSuccess;
    CE_CALL(error = replay_update(replay, enqueue_and_fail, &failing, &rebuilt));
    CE_CHECK(error == cudaErrorNotSupported && !rebuilt, "replay_update returned %s", cudaGetErrorName(error));
    expect_no_capture();
    launch(replay, stream);
    w.model.run(steps);
    w.check("after a failed update");
  }
  const auto next = random_steps(rng, 300);
  expect_update(replay, w.program(next), false);
  launch(replay, stream);
  w.model.run(next);
  w.check("after the update that followed");
  destroy(replay);
}

CE_TEST(unusable_recordings) {
  if (ce::skip_sanitized("memcheck reports the calls that fail")) return;
  ce::Rng rng;
  ce::Stream stream, side;
  Event fork, join;
  World w(rng, 321);
  const auto steps = random_steps(rng, w.size);
  Replay* const replay = created(w.program(steps));
  Diamond unjoined{w.data.data(), w.other.data(), w.size, side, fork.event, join.event, false};
  const auto expect_refused = [&](Enqueue enqueue, void* user, cudaError_t want, const char* what) {
    CE_SCOPE("%s", what);
    Replay* none = replay;
    bool rebuilt = true;
    cudaError_t create_error = cudaSuccess, update_error = cudaSuccess;
    CE_CALL(create_error = replay_create(enqueue, user, &none));
    CE_CHECK(create_error != cudaSuccess && none == nullptr, "a recording was made");
    expect_no_capture();
    CE_CALL(update_error = replay_update(replay, enqueue, user, &rebuilt));
    CE_CHECK(update_error != cudaSuccess && !rebuilt, "the recording was updated");
    expect_no_capture();
    const bool any = want == cudaSuccess;
    CE_CHECK(any || create_error == want, "replay_create returned %s", cudaGetErrorName(create_error));
    CE_CHECK(any || update_error == want, "replay_update returned %s", cudaGetErrorName(update_error));
    launch(replay, stream);
    w.model.run(steps);
    w.check("after a failed update");
  };
  for (int round = 0; round < 2; ++round) {
    expect_refused(enqueue_forbidden_wait, nullptr, cudaSuccess, "enqueue waits");
    expect_refused(enqueue_forbidden_wait_and_fail, nullptr, cudaErrorNotPermitted, "enqueue waits and fails");
    expect_refused(enqueue_diamond, &unjoined, cudaSuccess, "enqueue leaves a stream unjoined");
  }
  destroy(replay);
}

CE_TEST(null_arguments) {
  ce::Rng rng;
  World w(rng, 10);
  Program program = w.program(random_steps(rng, 10));
  Replay* replay = reinterpret_cast<Replay*>(&program);
  bool rebuilt = true;
  CE_CALL(CE_CHECK(replay_create(nullptr, &program, &replay) == cudaErrorInvalidValue));
  CE_CHECK(replay == nullptr);
  CE_CALL(CE_CHECK(replay_create(enqueue_program, &program, nullptr) == cudaErrorInvalidValue));
  CE_CALL(CE_CHECK(replay_launch(nullptr, nullptr) == cudaErrorInvalidValue));
  CE_CALL(CE_CHECK(replay_update(nullptr, enqueue_program, &program, &rebuilt) == cudaErrorInvalidValue));
  CE_CHECK(!rebuilt);
  CE_CHECK(program.calls == 0, "enqueue was called");
  replay = created(program);
  rebuilt = true;
  CE_CALL(CE_CHECK(replay_update(replay, nullptr, &program, &rebuilt) == cudaErrorInvalidValue));
  CE_CHECK(!rebuilt);
  destroy(replay);
  destroy(nullptr);
}

namespace {

struct Guest {
  Program program;
  cudaError_t guest_error = cudaErrorUnknown;
};

// In the middle of the recording another thread allocates, copies and frees.
cudaError_t enqueue_with_guest(cudaStream_t stream, void* user) {
  Guest& g = *static_cast<Guest*>(user);
  std::thread([&g] {
    void* memory = nullptr;
    g.guest_error = cudaMalloc(&memory, 4096);
    if (g.guest_error == cudaSuccess) g.guest_error = cudaFree(memory);
  }).join();
  return enqueue_program(stream, &g.program);
}

}  // namespace

CE_TEST(other_threads_are_not_disturbed) {
  ce::Rng rng;
  ce::Stream stream;
  World w(rng, 250);
  Guest guest{w.program(random_steps(rng, w.size))};
  Replay* replay = nullptr;
  cudaError_t error = cudaErrorUnknown;
  CE_CALL(error = replay_create(enqueue_with_guest, &guest, &replay));
  CE_CHECK(guest.guest_error == cudaSuccess, "the other thread got %s", cudaGetErrorName(guest.guest_error));
  CE_CHECK(error == cudaSuccess, "replay_create returned %s", cudaGetErrorName(error));
  launch(replay, stream);
  w.model.run(guest.program.steps);
  guest.program.steps = random_steps(rng, w.size);
  guest.guest_error = cudaErrorUnknown;
  CE_CALL(error = replay_update(replay, enqueue_with_guest, &guest, nullptr));
  CE_CHECK(guest.guest_error == cudaSuccess, "the other thread got %s", cudaGetErrorName(guest.guest_error));
  CE_CHECK(error == cudaSuccess, "replay_update returned %s", cudaGetErrorName(error));
  launch(replay, stream);
  w.model.run(guest.program.steps);
  w.check("after the launches");
  destroy(replay);
}

CE_TEST(threads_record_at_the_same_time) {
  constexpr int kThreads = 4;
  ce::Rng rng;
  std::vector<std::unique_ptr<World>> worlds;
  std::vector<std::vector<Step>> steps;
  for (int i = 0; i < kThreads; ++i) {
    worlds.push_back(std::make_unique<World>(rng, 400));
    steps.push_back(random_steps(rng, 400));
  }
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i)
    threads.emplace_back([&, i] {
      for (int k = 0; k < 10; ++k) {
        Program program = worlds[i]->program(steps[i]);
        Replay* replay = nullptr;
        bool good = replay_create(enqueue_program, &program, &replay) == cudaSuccess;
        good = good && replay_launch(replay, cudaStreamPerThread) == cudaSuccess;
        good = good && replay_update(replay, enqueue_program, &program, nullptr) == cudaSuccess;
        good = good && replay_launch(replay, cudaStreamPerThread) == cudaSuccess;
        good = good && cudaStreamSynchronize(cudaStreamPerThread) == cudaSuccess;
        good = good && replay_destroy(replay) == cudaSuccess && program.captured && program.calls == 2;
        failures += !good;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CE_CHECK(failures == 0, "%d of %d rounds failed", failures.load(), 10 * kThreads);
  ce::count_launch(20 * kThreads);
  for (int i = 0; i < kThreads; ++i) {
    for (int k = 0; k < 20; ++k) worlds[i]->model.run(steps[i]);
    worlds[i]->check("after the launches");
  }
}

// Many updates of a chain of small kernels, each followed by a few launches: what an iterative solver does.
CE_BENCH(chain_of_40) {
  constexpr int kIterations = 5, kUpdates = 50, kLaunches = 10, kSteps = 40, kSize = 1024;
  ce::Rng rng;
  ce::Stream stream;
  std::vector<std::unique_ptr<World>> worlds;
  std::vector<std::vector<std::vector<Step>>> steps;  // [iteration][update]
  for (int i = 0; i <= kIterations; ++i) {
    worlds.push_back(std::make_unique<World>(rng, kSize));
    steps.emplace_back();
    for (int u = 0; u < kUpdates; ++u)
      steps.back().push_back(ce::Rng::vector<Step>(kSteps, [&] { return random_affine(rng, kSize); }));
  }
  Replay* const replay = created(worlds[0]->program(steps[0][0]));
  ce::timed("replay", kIterations, [&](int i) {
    for (const std::vector<Step>& chain : steps[i]) {
      Program program = worlds[i]->program(chain);
      CE_CALL(CE_CHECK(replay_update(replay, enqueue_program, &program, nullptr) == cudaSuccess));
      for (int k = 0; k < kLaunches; ++k) launch(replay, stream);
    }
  });
  for (int i = 0; i <= kIterations; ++i) {
    CE_SCOPE("iteration %d", i);
    for (const std::vector<Step>& chain : steps[i])
      for (int k = 0; k < kLaunches; ++k) worlds[i]->model.run(chain);
    worlds[i]->check("after the launches");
  }
  destroy(replay);
}

int main(int argc, char** argv) { return ce::run(argc, argv); }
