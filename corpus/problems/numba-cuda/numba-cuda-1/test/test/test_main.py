"""Hidden test of bin_sums: on a GPU, or with smaller sizes in Numba's CUDA simulator where there is none."""

import ctypes
import math

import ce_harness as ce
import numpy as np

SIMULATOR = ce.simulate_without_gpu()
from numba import cuda  # noqa: E402 - the simulator is chosen first

DEVICE = ce.Device(cuda.to_device, lambda array: array.copy_to_host())
bin_sums = ce.load_solution("bin_sums")
UNIT = 2.0**-53  # unit roundoff of double precision


def oracle(x, w, edges):
    """Return counts (m + 1), sums (m) and the sums' error bounds (m).

    k additions in any order, starting from 0, err by at most (k - 1) * UNIT * S, S the sum of the magnitudes, to first
    order in UNIT; k * UNIT * S covers the higher orders. The prompt's bound is twice that, which leaves room for adding
    up per block first. The sums here come from math.fsum, correctly rounded.
    """
    bins = edges.size - 1
    place = np.searchsorted(edges, x, side="right") - 1
    place[x == edges[-1]] = bins - 1
    place[np.isnan(x) | (x < edges[0]) | (x > edges[-1])] = bins
    counts = np.bincount(place, minlength=bins + 1).astype(np.int32)
    order = np.argsort(place, kind="stable")
    groups = np.split(w[order].astype(np.float64), np.cumsum(counts)[:-1])[:bins]
    with np.errstate(invalid="ignore"):
        sums = np.array([math.fsum(g) if np.isfinite(g).all() else g.sum() for g in groups])
    finite = np.array([np.abs(g[np.isfinite(g)]).sum() for g in groups])
    return counts, sums, 2 * UNIT * counts[:bins] * finite


class Call:
    """Guarded arguments of one call, and the check of everything it may and may not touch."""

    def __init__(self, x, w, edges, *, x_step=1, w_step=1):
        self.want = oracle(x, w, edges)
        self.inputs = {
            "x": ce.DeviceBuffer(DEVICE, x, step=x_step),
            "w": ce.DeviceBuffer(DEVICE, w, step=w_step),
            "edges": ce.DeviceBuffer(DEVICE, edges),
        }
        self.counts = ce.DeviceBuffer(DEVICE, ce.stale(edges.size, np.int32))
        self.sums = ce.DeviceBuffer(DEVICE, ce.stale(edges.size - 1, np.float64))
        inputs = [buffer.array for buffer in self.inputs.values()]
        self.arguments = (*inputs, self.counts.array, self.sums.array)

    def check(self):
        counts, sums, bound = self.want
        for name, buffer in self.inputs.items():
            buffer.check(name, unchanged=True)
        self.counts.check("counts")
        self.sums.check("sums")
        ce.expect_equal(self.counts.host(), counts, "counts")
        ce.expect_close(self.sums.host(), sums, "sums", atol=bound)
        ce.count_launch()


def check(x, w, edges, **steps):
    call = Call(x, w, edges, **steps)
    stream = cuda.stream()
    bin_sums(*call.arguments, stream)
    stream.synchronize()
    call.check()


def make_edges(random, bins, low=-4.0, high=4.0):
    """Return bins + 1 strictly increasing edges, their widths spread over about two orders of magnitude."""
    widths = 10.0 ** random.uniform(-1, 1, bins)
    edges = low + (high - low) * np.concatenate([[0.0], np.cumsum(widths) / widths.sum()])
    return edges.astype(np.float32)


def make_samples(random, n, edges):
    """Return n samples: inside, outside, and (a quarter) exactly on an edge or next to one."""
    x = random.uniform(edges[0] - 0.25, edges[-1] + 0.25, n).astype(np.float32)
    near = random.random(n) < 0.25
    exact = random.choice(edges, n)
    x[near] = np.where(random.random(n) < 0.5, exact, np.nextafter(exact, np.float32(-np.inf)))[near]
    return x


def make_weights(random, n):
    return (random.normal(size=n) * 10.0 ** random.uniform(-3, 3, n)).astype(np.float32)


def random_call(n, bins, **steps):
    random = ce.rng(n, bins, *steps.items())
    edges = make_edges(random, bins)
    check(make_samples(random, n, edges), make_weights(random, n), edges, **steps)


@ce.case
def no_samples():
    for bins in (1, 300):
        random_call(0, bins)


@ce.case
def few_samples():
    for n in (1, 33) if SIMULATOR else (1, 2, 31, 32, 33):
        random_call(n, 7)


@ce.case
def around_a_block():
    for n in (255, 257) if SIMULATOR else (127, 128, 129, 255, 256, 257, 1023, 1025):
        random_call(n, 40)


@ce.case
def bin_counts():
    for bins in (1, 1024) if SIMULATOR else (1, 2, 31, 32, 33, 255, 256, 257, 511, 512, 1023, 1024):
        random_call(60 if SIMULATOR else 20000, bins)


@ce.case
def strided_views():
    n = 150 if SIMULATOR else 100003
    random_call(n, 33, x_step=2, w_step=5)


@ce.case
def every_edge():
    random = ce.rng()
    edges = make_edges(random, 60)
    below, above = np.nextafter(edges, np.float32(-np.inf)), np.nextafter(edges, np.float32(np.inf))
    x = random.permutation(np.concatenate([below, edges, above]))
    check(x, make_weights(random, x.size), edges)


@ce.case
def special_values():
    random = ce.rng()
    inf, nan, tiny = np.float32(np.inf), np.float32(np.nan), np.float32(1e-45)
    values = [inf, -inf, nan, 0.0, -0.0, tiny, -tiny, 1.0, -1.0, 3.4e38, -3.4e38]
    x = random.permutation(np.array(values * 9, np.float32))  # 99 samples
    w = make_weights(random, x.size)
    for edges in ([-1, 0, 1], [-inf, 0, inf], [-inf, -1, tiny, 1], [0, tiny, 1, inf], [-2, 0]):
        check(x, w, np.array(edges, np.float32))


@ce.case
def special_weights():
    edges = np.array([0, 1, 2, 3, 4, 5], np.float32)
    x = np.array([0.5, 0.5, 1.5, 1.5, 2.5, 2.5, 3.5, 4.5, 7.0, np.nan, -1.0, 5.0], np.float32)
    w = np.array([1, np.nan, np.inf, 2, np.inf, -np.inf, -np.inf, 3, np.nan, np.inf, -np.inf, 4], np.float32)
    check(x, w, edges)


@ce.case
def one_crowded_bin():
    random = ce.rng()
    n = 600 if SIMULATOR else 1 << 20
    edges = make_edges(random, 9)
    inside = np.float32((edges[4] + edges[5]) / 2)
    check(np.full(n, inside, np.float32), make_weights(random, n), edges)


@ce.case
def double_precision_needed():
    """Adds 1 and 2**-20 in turn: a float accumulator loses the small terms once it passes 16."""
    n = 400 if SIMULATOR else 40000
    w = np.where(np.arange(n) % 2, np.float32(2.0**-20), np.float32(1)).astype(np.float32)
    check(np.zeros(n, np.float32), w, np.array([-1, 1], np.float32))


@ce.case
def repeated_calls():
    """Two calls with the same outputs: what the first left behind must not show in the second."""
    random = ce.rng()
    edges = make_edges(random, 20)
    call = Call(make_samples(random, 250, edges), make_weights(random, 250), edges)
    stream = cuda.stream()
    for _ in range(2):
        bin_sums(*call.arguments, stream)
    stream.synchronize()
    call.check()


@ce.case
def large():
    for n, bins in ((700, 90),) if SIMULATOR else ((1 << 21, 100), ((1 << 22) + 4321, 1000), (3000017, 1)):
        random_call(n, bins)


def independent_stream():
    """Return a stream that does not wait for the default stream, nor the default stream for it."""
    cuda.current_context()
    handle = ctypes.c_void_p()
    non_blocking = 1
    status = ctypes.CDLL("libcuda.so.1").cuStreamCreate(ctypes.byref(handle), non_blocking)
    ce.expect(status == 0, f"cuStreamCreate failed with {status}")
    return cuda.external_stream(handle.value)


@cuda.jit
def late_copy(source, target, naps):
    """One block: sleep about `naps` milliseconds, then copy."""
    if cuda.threadIdx.x == 0:
        for _ in range(naps):
            cuda.nanosleep(1000000)
    cuda.syncthreads()
    for i in range(cuda.threadIdx.x, source.size, cuda.blockDim.x):
        target[i] = source[i]


def stream_order():
    """On a busy stream whose work still has to produce x: the call must return early and still see it."""
    random = ce.rng()
    edges = make_edges(random, 50)
    n = 30000
    call = Call(make_samples(random, n, edges), make_weights(random, n), edges)
    real = cuda.to_device(call.inputs["x"].host())
    decoy = cuda.to_device(make_samples(random, n, edges))
    x = call.arguments[0]
    stream = independent_stream()
    for naps in (0, 200):  # the first round compiles
        late_copy[1, 256, stream](decoy, x, 0)
        stream.synchronize()
        late_copy[1, 256, stream](real, x, naps)
        bin_sums(*call.arguments, stream)
        after = cuda.event(timing=False)
        after.record(stream)
        if naps and not ce.SANITIZED:
            ce.expect(not after.query(), "bin_sums waited for the work on its stream before it returned")
        stream.synchronize()
        call.check()


if not SIMULATOR:  # whose streams do nothing
    ce.case(stream_order)


@ce.bench
def sixteen_million_samples():
    if SIMULATOR:
        raise ce.LackingError("the benchmark needs a GPU")
    random = ce.rng()
    n = 1 << 24
    edges = make_edges(random, 200)
    x = random.uniform(edges[0] - 0.1, edges[-1] + 0.1, n).astype(np.float32)
    call = Call(x, random.random(n).astype(np.float32), edges)
    stream = cuda.stream()
    times = []
    for _ in range(25):
        start, stop = cuda.event(), cuda.event()
        start.record(stream)
        bin_sums(*call.arguments, stream)
        stop.record(stream)
        stop.synchronize()
        times.append(cuda.event_elapsed_time(start, stop))
    call.check()
    return times[5:]


if __name__ == "__main__":
    ce.run()
