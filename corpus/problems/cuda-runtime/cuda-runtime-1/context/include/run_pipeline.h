#ifndef RUN_PIPELINE_H
#define RUN_PIPELINE_H

#include <cstddef>
#include <cuda_runtime.h>

// Enqueues the work on one chunk in `stream`: reads in[0 .. count), writes out[0 .. count), both in device memory.
// `first` is the index of the chunk's first element in the whole array.
using ChunkWork = cudaError_t (*)(const float* in, float* out, std::size_t first, std::size_t count,
                                  cudaStream_t stream, void* user);

// Pushes host_in[0 .. n) through `work` into host_out[0 .. n), `chunk` elements at a time, `depth` chunks in flight.
cudaError_t run_pipeline(const float* host_in, float* host_out, std::size_t n, std::size_t chunk, int depth,
                         ChunkWork work, void* user);

#endif
