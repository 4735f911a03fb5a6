// Merge-based SpMV (Merrill and Garland, 2016). Think of a list of the rows' ends and one of the entries 0, 1, 2, ...
// Merging them takes rows + nnz steps, of which each either takes an entry or ends a row. Blocks, and threads within a
// block, get equal numbers of steps whatever the row lengths. What a block has summed up of a row that ends in a later
// block is its carry, which a second kernel adds.
#include "csr_spmv.h"

#include <climits>

namespace {

constexpr int kThreads = 256;
constexpr int kSteps = 8;  // a thread
constexpr int kBlockSteps = kThreads * kSteps;
constexpr unsigned kAllLanes = 0xffffffffu;

struct Carry {
  int row;
  float sum;
};

// The number of rows that end within the first `steps` steps of the merge; the other steps take entries.
template <class RowEnd>
__device__ int rows_ended(long long steps, int rows, int entries, RowEnd row_end) {
  int low = static_cast<int>(max(steps - entries, 0ll));
  int high = static_cast<int>(min(steps, static_cast<long long>(rows)));
  while (low < high) {
    const int mid = low + (high - low) / 2;
    if (row_end(mid) < steps - mid) low = mid + 1;
    else high = mid;
  }
  return low;
}

__global__ void __launch_bounds__(kThreads)
multiply(int rows, int nnz, const int* row_offsets, const int* columns, const float* values, float alpha,
         const float* x, float beta, float* y, Carry* carries) {
  __shared__ int bounds[2];
  __shared__ int row_end[kBlockSteps + 1];  // relative to the block's first entry
  __shared__ float row_sum[kBlockSteps + 1];
  __shared__ float product[kBlockSteps];
  const int thread = threadIdx.x, base = row_offsets[0];
  const long long first_step = static_cast<long long>(blockIdx.x) * kBlockSteps;
  const long long last_step = min(first_step + kBlockSteps, static_cast<long long>(rows) + nnz);

  if (thread < 2)
    bounds[thread] = rows_ended(thread == 0 ? first_step : last_step, rows, nnz,
                                [=](int r) { return static_cast<long long>(row_offsets[r + 1] - base); });
  __syncthreads();
  const int first_row = bounds[0], ended = bounds[1] - bounds[0];
  const int first_entry = static_cast<int>(first_step - first_row);
  const int entries = static_cast<int>(last_step - first_step) - ended;

  for (int i = thread; i <= ended; i += kThreads) {
    row_end[i] = i < ended ? row_offsets[first_row + i + 1] - base - first_entry : INT_MAX;
    row_sum[i] = 0.0f;
  }
  for (int i = thread; i < entries; i += kThreads) {
    const long long k = static_cast<long long>(base) + first_entry + i;
    product[i] = alpha == 0.0f ? 0.0f : alpha * (values[k] * x[columns[k]]);
  }
  __syncthreads();

  const int step = min(thread * kSteps, ended + entries);
  int row = rows_ended(step, ended, entries, [&](int r) { return row_end[r]; });
  int entry = step - row;
  float sum = 0.0f;
  bool whole = false;  // has this thread seen all of the row?
  for (int i = 0; i < kSteps && row + entry < ended + entries; ++i) {
    if (entry < row_end[row]) {
      sum += product[entry++];
      continue;
    }
    if (whole) row_sum[row] = sum;
    else atomicAdd(&row_sum[row], sum);
    whole = true;
    sum = 0.0f;
    ++row;
  }
  // What is left belongs to a row that another thread ends. Lanes with the same row are neighbours: the first adds all.
  const int lane = thread % 32;
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other_row = __shfl_down_sync(kAllLanes, row, offset);
    const float other_sum = __shfl_down_sync(kAllLanes, sum, offset);
    if (lane + offset < 32 && other_row == row) sum += other_sum;
  }
  const int previous = __shfl_up_sync(kAllLanes, row, 1);
  if (lane == 0 || previous != row) atomicAdd(&row_sum[row], sum);
  __syncthreads();

  for (int i = thread; i < ended; i += kThreads) {
    float* const target = &y[first_row + i];
    *target = row_sum[i] + (beta == 0.0f ? 0.0f : beta * *target);
  }
  if (thread == 0) carries[blockIdx.x] = {first_row + ended, row_sum[ended]};
}

__global__ void add_carries(const Carry* carries, int count, int rows, float* y) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  if (i < count && carries[i].row < rows) atomicAdd(&y[carries[i].row], carries[i].sum);
}

}  // namespace

cudaError_t csr_spmv(int rows, int, int nnz, const int* row_offsets, const int* columns, const float* values,
                     float alpha, const float* x, float beta, float* y, cudaStream_t stream) {
  if (rows == 0) return cudaSuccess;
  const long long steps = static_cast<long long>(rows) + nnz;
  const int blocks = static_cast<int>((steps + kBlockSteps - 1) / kBlockSteps);
  Carry* carries = nullptr;
  cudaError_t error = cudaMallocAsync(&carries, blocks * sizeof(Carry), stream);
  if (error != cudaSuccess) return error;
  multiply<<<blocks, kThreads, 0, stream>>>(rows, nnz, row_offsets, columns, values, alpha, x, beta, y, carries);
  add_carries<<<(blocks + kThreads - 1) / kThreads, kThreads, 0, stream>>>(carries, blocks, rows, y);
  error = cudaGetLastError();
  const cudaError_t freed = cudaFreeAsync(carries, stream);
  return error != cudaSuccess ? error : freed;
}
