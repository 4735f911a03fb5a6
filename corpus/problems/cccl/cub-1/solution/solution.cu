#include "segmented_max.h"

#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/limits>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace {

struct Candidate {
  float value;
  int index;  // -1: none
};

__host__ __device__ Candidate no_candidate() { return {-cuda::std::numeric_limits<float>::infinity(), -1}; }

struct Load {
  const float* values;
  __host__ __device__ Candidate operator()(int i) const {
    const float value = values[i];
    return value == value ? Candidate{value, i} : no_candidate();
  }
};

// Commutative as well as associative, for CUB may reorder: equal values are told apart by their index.
struct Better {
  __host__ __device__ Candidate operator()(const Candidate& a, const Candidate& b) const {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    if (a.value != b.value) return a.value > b.value ? a : b;
    return a.index < b.index ? a : b;
  }
};

// Output iterator that writes the two members of a Candidate to two arrays.
struct Split {
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Candidate;
  using difference_type = std::ptrdiff_t;
  using pointer = void;
  using reference = Split;

  float* value;
  int* index;

  __host__ __device__ Split operator+(difference_type n) const { return {value + n, index + n}; }
  __host__ __device__ Split operator*() const { return (*this)[0]; }
  __host__ __device__ Split operator[](difference_type n) const { return *this + n; }
  __host__ __device__ void operator=(const Candidate& c) const {
    *value = c.value;
    *index = c.index;
  }
};

}  // namespace

cudaError_t segmented_max(void* temp_storage, std::size_t& temp_storage_bytes, const float* values, const int* offsets,
                          int num_segments, float* max_value, int* max_index, cudaStream_t stream) {
  const auto candidates = thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Load{values});
  const cudaError_t error =
      cub::DeviceSegmentedReduce::Reduce(temp_storage, temp_storage_bytes, candidates, Split{max_value, max_index},
                                         num_segments, offsets, offsets + 1, Better{}, no_candidate(), stream);
  if (temp_storage == nullptr) temp_storage_bytes = std::max(temp_storage_bytes, std::size_t{1});  // CUB may need none
  return error;
}
