#ifndef REPLAY_H
#define REPLAY_H

#include <cuda_runtime.h>

// Enqueues work in `stream`. Called only while it is being recorded.
using Enqueue = cudaError_t (*)(cudaStream_t stream, void* user);

// A recording that can be launched. The solution defines it.
struct Replay;

cudaError_t replay_create(Enqueue enqueue, void* user, Replay** replay);
cudaError_t replay_launch(Replay* replay, cudaStream_t stream);
cudaError_t replay_update(Replay* replay, Enqueue enqueue, void* user, bool* rebuilt);
cudaError_t replay_destroy(Replay* replay);

#endif
