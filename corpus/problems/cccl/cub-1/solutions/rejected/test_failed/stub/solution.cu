#include "segmented_max.h"

cudaError_t segmented_max(void*, std::size_t& temp_storage_bytes, const float*, const int*, int, float*, int*,
                          cudaStream_t) {
  temp_storage_bytes = 1;
  return cudaSuccess;
}
