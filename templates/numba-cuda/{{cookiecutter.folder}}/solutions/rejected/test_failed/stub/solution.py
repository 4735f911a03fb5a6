from numba import cuda


@cuda.jit
def smooth_kernel(x, out):
    pass


def smooth(x, out, stream):
    pass
