"""Hidden test of smooth: on a GPU, or with smaller sizes in Numba's CUDA simulator where there is none."""

import ce_harness as ce
import numpy as np

SIMULATOR = ce.simulate_without_gpu()
from numba import cuda  # noqa: E402 - the simulator is chosen first

DEVICE = ce.Device(cuda.to_device, lambda array: array.copy_to_host())
smooth = ce.load_solution("smooth")


def weighted(x):
    """Return 0.25 * left + 0.5 * x + 0.25 * right in double precision."""
    wide = np.pad(x.astype(np.float64), 1, mode="edge") if x.size else np.zeros(2)
    return 0.25 * wide[:-2] + 0.5 * wide[1:-1] + 0.25 * wide[2:]


class Call:
    """Guarded arguments of one call, and the check of everything it may and may not touch."""

    def __init__(self, x, step=1):
        self.want = weighted(x)
        # The products are exact, and two additions err by at most 2 * 2**-24 of the sum of the magnitudes, to first
        # order. A trifle more than the prompt grants covers the higher order.
        self.bound = (1 + 2**-20) * 2.0**-23 * weighted(np.abs(x))
        self.x = ce.DeviceBuffer(DEVICE, x, step=step)
        self.out = ce.DeviceBuffer(DEVICE, ce.stale(x.size, np.float32))

    def check(self):
        self.x.check("x", unchanged=True)
        self.out.check("out")
        ce.expect_close(self.out.host(), self.want, "out", atol=self.bound)
        ce.count_launch()


def check(n, step=1):
    call = Call(ce.rng(n, step).normal(size=n).astype(np.float32), step)
    stream = cuda.stream()
    smooth(call.x.array, call.out.array, stream)
    stream.synchronize()
    call.check()


@ce.case
def few_samples():
    for n in (0, 1, 2, 3, 31, 32, 33):
        check(n)


@ce.case
def around_a_block():
    for n in (127, 129, 255, 256, 257) if SIMULATOR else (127, 128, 129, 255, 256, 257, 511, 513, 1023, 1025):
        check(n)


@ce.case
def strided_views():
    for n, step in ((1, 5), (33, 2), (300, 3)):
        check(n, step)


@ce.case
def large():
    check(1500 if SIMULATOR else (1 << 22) + 7)


@ce.bench
def sixteen_million_samples():
    if SIMULATOR:
        raise ce.LackingError("the benchmark needs a GPU")
    stream = cuda.stream()
    calls = [Call(ce.rng(i).normal(size=1 << 24).astype(np.float32)) for i in range(6)]
    times = []
    for call in calls:
        start, stop = cuda.event(), cuda.event()
        start.record(stream)
        smooth(call.x.array, call.out.array, stream)
        stop.record(stream)
        stop.synchronize()
        times.append(cuda.event_elapsed_time(start, stop))
        call.check()
    return times[1:]  # the first one compiles


if __name__ == "__main__":
    ce.run()
