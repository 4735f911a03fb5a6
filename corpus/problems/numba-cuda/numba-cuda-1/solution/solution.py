"""Weighted histogram over bins of unequal width: one private histogram a block, then one atomic a bin."""

from numba import cuda, float32, float64, int32

THREADS = 256
MAX_BLOCKS = 1024  # enough to fill a large GPU several times over; more would only add flushes
MAX_BINS = 1024
MAX_EDGES = MAX_BINS + 1  # a name of its own: the size of a shared array must be one constant


@cuda.jit
def clear_kernel(counts, sums):
    i = cuda.grid(1)
    if i < counts.size:
        counts[i] = 0
    if i < sums.size:
        sums[i] = 0.0


@cuda.jit
def bin_kernel(x, w, edges, counts, sums):
    block_counts = cuda.shared.array(MAX_EDGES, int32)
    block_sums = cuda.shared.array(MAX_BINS, float64)
    block_edges = cuda.shared.array(MAX_EDGES, float32)
    bins = sums.size

    for b in range(cuda.threadIdx.x, bins + 1, cuda.blockDim.x):
        block_edges[b] = edges[b]
        block_counts[b] = 0
        if b < bins:
            block_sums[b] = 0.0
    cuda.syncthreads()

    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value = x[i]
        if value >= block_edges[0] and value <= block_edges[bins]:  # both false for NaN
            low = 0
            high = bins
            while high - low > 1:  # edges[low] <= value, and value < edges[high] unless high == bins
                middle = (low + high) >> 1
                if block_edges[middle] <= value:
                    low = middle
                else:
                    high = middle
            cuda.atomic.add(block_counts, low, 1)
            cuda.atomic.add(block_sums, low, w[i])
        else:
            cuda.atomic.add(block_counts, bins, 1)
    cuda.syncthreads()

    for b in range(cuda.threadIdx.x, bins + 1, cuda.blockDim.x):
        if block_counts[b] != 0:
            cuda.atomic.add(counts, b, block_counts[b])
            if b < bins:
                cuda.atomic.add(sums, b, block_sums[b])


def bin_sums(x, w, edges, counts, sums, stream):
    clear_kernel[(counts.size + THREADS - 1) // THREADS, THREADS, stream](counts, sums)
    if x.size > 0:
        blocks = min((x.size + THREADS - 1) // THREADS, MAX_BLOCKS)
        bin_kernel[blocks, THREADS, stream](x, w, edges, counts, sums)
