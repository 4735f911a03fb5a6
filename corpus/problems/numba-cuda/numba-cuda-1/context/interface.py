"""Interface of the problem. `solution.py` defines the function below; it need not import this file."""


def bin_sums(x, w, edges, counts, sums, stream):
    """Count the samples of each bin and add up their weights, on the GPU.

    x       float32 device array, (n,), possibly strided: the samples
    w       float32 device array, (n,), possibly strided: their weights
    edges   float32 device array, (m + 1,), strictly increasing: bin b is [edges[b], edges[b + 1]), the last one closed
    counts  int32 device array, (m + 1,), output: samples in each bin, then samples in no bin
    sums    float64 device array, (m,), output: sum of the weights in each bin
    stream  Numba stream that all work is enqueued on; the function does not wait for it
    """
    raise NotImplementedError
