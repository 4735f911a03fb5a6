#pragma once

#include <cstddef>
#include <cuda_runtime.h>

// Maximum of each segment and the smallest index at which it occurs.
//
// temp_storage        nullptr to ask for temp_storage_bytes only, else device memory of that many bytes
// temp_storage_bytes  written by the query, read otherwise
// values              device, the elements
// offsets             device, num_segments + 1 non-decreasing indices into values
// max_value           device, output, num_segments elements
// max_index           device, output, num_segments elements
// stream              takes all work; the call does not wait for it
cudaError_t segmented_max(void* temp_storage, std::size_t& temp_storage_bytes, const float* values, const int* offsets,
                          int num_segments, float* max_value, int* max_index, cudaStream_t stream);
