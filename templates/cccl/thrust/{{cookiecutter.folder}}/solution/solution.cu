#include "keep_positive.h"

#include <thrust/copy.h>
#include <thrust/execution_policy.h>

namespace {

struct Positive {
  __host__ __device__ bool operator()(float x) const { return x > 0; }
};

}  // namespace

int keep_positive(const float* in, float* out, int n, cudaStream_t stream) {
  return static_cast<int>(thrust::copy_if(thrust::cuda::par.on(stream), in, in + n, out, Positive{}) - out);
}
