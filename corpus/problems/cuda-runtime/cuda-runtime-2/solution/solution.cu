// A recording is a stream capture in thread-local mode, so that other threads stay free to do what they like.
// Executable graphs that an update replaced may still wait in a stream; they are kept until the end.
#include "replay.h"

#include <new>
#include <vector>

struct Replay {
  cudaStream_t capture_stream = nullptr;
  cudaGraphExec_t current = nullptr;
  std::vector<cudaGraphExec_t> retired;
};

namespace {

// Errors are returned, not left for cudaGetLastError.
cudaError_t reported(cudaError_t error) {
  cudaGetLastError();
  return error;
}

// On success *graph is what `enqueue` recorded, for the caller to destroy; else it is null.
cudaError_t record(cudaStream_t stream, Enqueue enqueue, void* user, cudaGraph_t* graph) {
  *graph = nullptr;
  const cudaError_t begun = cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  if (begun != cudaSuccess) return begun;
  const cudaError_t enqueued = enqueue(stream, user);
  const cudaError_t ended = cudaStreamEndCapture(stream, graph);
  const cudaError_t error = enqueued != cudaSuccess ? enqueued : ended;
  if (error != cudaSuccess && *graph != nullptr) {
    cudaGraphDestroy(*graph);
    *graph = nullptr;
  }
  return error;
}

cudaError_t create(Replay& replay, Enqueue enqueue, void* user) {
  const cudaError_t made = cudaStreamCreateWithFlags(&replay.capture_stream, cudaStreamNonBlocking);
  if (made != cudaSuccess) return made;
  cudaGraph_t graph;
  cudaError_t error = record(replay.capture_stream, enqueue, user, &graph);
  if (error != cudaSuccess) return error;
  error = cudaGraphInstantiate(&replay.current, graph, 0);
  cudaGraphDestroy(graph);
  return error;
}

cudaError_t update(Replay& replay, Enqueue enqueue, void* user, bool& rebuilt) {
  cudaGraph_t graph;
  cudaError_t error = record(replay.capture_stream, enqueue, user, &graph);
  if (error != cudaSuccess) return error;
  cudaGraphExecUpdateResultInfo info;
  error = cudaGraphExecUpdate(replay.current, graph, &info);
  if (error == cudaErrorGraphExecUpdateFailure) {
    cudaGraphExec_t next = nullptr;
    error = cudaGraphInstantiate(&next, graph, 0);
    if (error == cudaSuccess) {
      replay.retired.push_back(replay.current);
      replay.current = next;
      rebuilt = true;
    }
  }
  cudaGraphDestroy(graph);
  return error;
}

void destroy(Replay& replay) {
  if (replay.current != nullptr) cudaGraphExecDestroy(replay.current);
  for (cudaGraphExec_t graph : replay.retired) cudaGraphExecDestroy(graph);
  if (replay.capture_stream != nullptr) cudaStreamDestroy(replay.capture_stream);
}

}  // namespace

cudaError_t replay_create(Enqueue enqueue, void* user, Replay** replay) {
  if (replay == nullptr) return cudaErrorInvalidValue;
  *replay = nullptr;
  if (enqueue == nullptr) return cudaErrorInvalidValue;
  Replay* const made = new (std::nothrow) Replay;
  if (made == nullptr) return cudaErrorMemoryAllocation;
  const cudaError_t error = create(*made, enqueue, user);
  if (error != cudaSuccess) {
    destroy(*made);
    delete made;
    return reported(error);
  }
  *replay = made;
  return cudaSuccess;
}

cudaError_t replay_launch(Replay* replay, cudaStream_t stream) {
  if (replay == nullptr) return cudaErrorInvalidValue;
  return reported(cudaGraphLaunch(replay->current, stream));
}

cudaError_t replay_update(Replay* replay, Enqueue enqueue, void* user, bool* rebuilt) {
  bool ignored;
  bool& answer = rebuilt != nullptr ? *rebuilt : ignored;
  answer = false;
  if (replay == nullptr || enqueue == nullptr) return cudaErrorInvalidValue;
  return reported(update(*replay, enqueue, user, answer));
}

cudaError_t replay_destroy(Replay* replay) {
  if (replay == nullptr) return cudaSuccess;
  destroy(*replay);
  delete replay;
  return reported(cudaSuccess);
}
