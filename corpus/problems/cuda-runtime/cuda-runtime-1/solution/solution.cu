// `depth` lanes take the chunks in turn. A lane is a stream with a buffer each way; its order alone protects the
// buffers, so the host waits only once, at the end.
#include "run_pipeline.h"

#include <algorithm>
#include <vector>

namespace {

struct Lane {
  float *in = nullptr, *out = nullptr;
  cudaStream_t stream = nullptr;

  Lane() = default;
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;
  ~Lane() {
    if (stream != nullptr) cudaStreamDestroy(stream);
    cudaFree(in);
    cudaFree(out);
  }

  cudaError_t create(std::size_t chunk) {
    cudaError_t error = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    if (error == cudaSuccess) error = cudaMalloc(&in, chunk * sizeof(float));
    if (error == cudaSuccess) error = cudaMalloc(&out, chunk * sizeof(float));
    return error;
  }
};

}  // namespace

cudaError_t run_pipeline(const float* host_in, float* host_out, std::size_t n, std::size_t chunk, int depth,
                         ChunkWork work, void* user) {
  if (chunk == 0 || depth < 1 || work == nullptr) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  if (host_in == nullptr || host_out == nullptr) return cudaErrorInvalidValue;
  chunk = std::min(chunk, n);
  const std::size_t chunks = (n - 1) / chunk + 1;
  std::vector<Lane> lanes(std::min<std::size_t>(depth, chunks));

  cudaError_t error = cudaSuccess;
  for (Lane& lane : lanes)
    if (error == cudaSuccess) error = lane.create(chunk);
  for (std::size_t i = 0; i < chunks && error == cudaSuccess; ++i) {
    const Lane& lane = lanes[i % lanes.size()];
    const std::size_t first = i * chunk, count = std::min(chunk, n - first), bytes = count * sizeof(float);
    error = cudaMemcpyAsync(lane.in, host_in + first, bytes, cudaMemcpyHostToDevice, lane.stream);
    if (error == cudaSuccess) error = work(lane.in, lane.out, first, count, lane.stream, user);
    if (error == cudaSuccess)
      error = cudaMemcpyAsync(host_out + first, lane.out, bytes, cudaMemcpyDeviceToHost, lane.stream);
  }
  for (const Lane& lane : lanes) {
    const cudaError_t finished = lane.stream == nullptr ? cudaSuccess : cudaStreamSynchronize(lane.stream);
    if (error == cudaSuccess) error = finished;
  }
  return error;
}
