"""Harness of a hidden Python test: seed, guarded device arrays, comparison, cases, coverage report.

A test stands in `test/` beside its own copy of this file and runs from the folder that holds `solution.py`.
Besides the standard library it needs numpy alone; how arrays get to a device and back is the test's to say:

    SIMULATOR = ce.simulate_without_gpu()  # before numba is imported
    DEVICE = ce.Device(cuda.to_device, lambda array: array.copy_to_host())
    scale = ce.load_solution("scale")
    @ce.case
    def one_element() -> None: ...
    ce.run()

Environment: `CE_SEED` (decimal; drawn and printed when unset), and the two variables of the sanitizer
coverage report, which leave the environment before a solution can read them.
Exit status: 0 every case passed, 1 a case failed, 2 usage, 3 the machine lacks something.
"""

from __future__ import annotations

import ctypes
import importlib.util
import json
import os
import statistics
import sys
import time
import traceback
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

VERSION = "1.0.0"
GUARD_BYTES = 16384  # on either side; a multiple of 256 leaves the payload as aligned as an allocation

EXIT_PASS, EXIT_FAIL, EXIT_USAGE, EXIT_LACKING = range(4)
Body = Callable[[], Any]


class CheckError(AssertionError):
    """A check of the test did not hold; the message says which and where."""


class LackingError(RuntimeError):
    """The machine lacks what the test needs, so nothing was judged."""


@dataclass
class _State:
    report_path: str | None
    token: str | None
    seed: int
    case: str = ""
    checks: int = 0
    launches: int = 0
    cases: dict[str, Body] = field(default_factory=dict[str, Body])
    benches: dict[str, Body] = field(default_factory=dict[str, Body])


def _read_seed() -> int:
    text = os.environ.get("CE_SEED") or str(int.from_bytes(os.urandom(8), "little"))
    try:
        return int(text) % 2**64
    except ValueError:
        sys.exit(f"CE_SEED is {text!r}, not an unsigned 64-bit decimal number")


_state = _State(
    report_path=os.environ.pop("COMPUTE_EVAL_SANITIZER_REPORT", None),
    token=os.environ.pop("COMPUTE_EVAL_SANITIZER_TOKEN", None),
    seed=_read_seed(),
)
SANITIZED = _state.report_path is not None  # a run under compute-sanitizer, where launches may block


def rng(*salt: object) -> np.random.Generator:
    """Return a generator that depends on the seed, the running case and `salt`, not on what ran before."""
    return np.random.default_rng([_state.seed, zlib.crc32(repr((_state.case, *salt)).encode())])


def gpu_count() -> int:
    """Return how many CUDA devices the driver offers; 0 where there is no driver. Creates no context."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int(0)
    return 0 if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) else count.value


def simulate_without_gpu() -> bool:
    """Turn on Numba's CUDA simulator where no GPU is present; return whether the simulator is on.

    Call it before the first import of numba. In the simulator a thread of a block is a Python thread, so the
    interpreter is told to switch often: lost updates and missing barriers then show as they would on a GPU.
    """
    if "numba" in sys.modules:
        raise RuntimeError("simulate_without_gpu() must come before numba is imported")
    if gpu_count() == 0:
        os.environ["NUMBA_ENABLE_CUDASIM"] = "1"
    simulator = os.environ.get("NUMBA_ENABLE_CUDASIM", "0") not in ("", "0")
    if simulator:
        sys.setswitchinterval(1e-6)
    print(f"running on: {'the CUDA simulator (no GPU used)' if simulator else 'a GPU'}", flush=True)
    return simulator


def load_solution(name: str, path: str = "solution.py") -> Callable[..., Any]:
    """Return callable `name` of the solution, or end the process with status 1 and the reason.

    Found by path, so no other file of that folder becomes importable.
    """
    try:
        spec = importlib.util.spec_from_file_location("solution", Path.cwd() / path)
        if not (spec and spec.loader):
            raise ImportError(path)
        module = importlib.util.module_from_spec(spec)
        sys.modules["solution"] = module
        spec.loader.exec_module(module)
        function: Callable[..., Any] = getattr(module, name)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - a solution may raise anything, SystemExit included
        traceback.print_exc()
        print(f"FAIL loading {path}: no usable `{name}`", flush=True)
        sys.exit(EXIT_FAIL)
    return function


@dataclass(frozen=True)
class Device:
    """How this test moves arrays: `upload` and `download` copy, and finish before they return."""

    upload: Callable[[np.ndarray], Any]
    download: Callable[[Any], np.ndarray]


class DeviceBuffer:
    """A device array inside a larger allocation whose other bytes are random and must stay as they are.

    With `step` > 1 (one-dimensional payloads) the array is a strided view, and the gaps are guarded too.
    """

    def __init__(self, device: Device, payload: np.ndarray, *, step: int = 1) -> None:
        if step < 1 or (step > 1 and payload.ndim != 1):
            raise ValueError("step > 1 needs a one-dimensional payload")
        guard = -(-GUARD_BYTES // payload.dtype.itemsize)
        self._shape = payload.shape
        self._window = slice(guard, guard + payload.size * step, step)
        raw = rng("guard", payload.shape).bytes((2 * guard + payload.size * step) * payload.dtype.itemsize)
        self._sent = np.frombuffer(raw, payload.dtype).copy()
        self._sent[self._window] = payload.ravel()
        self._device = device
        self._base = device.upload(self._sent)
        view = self._base[self._window]
        self.array = view if payload.ndim == 1 else view.reshape(payload.shape)

    def host(self) -> np.ndarray:
        """Return a host copy of the payload as it is now."""
        return self._download()[self._window].reshape(self._shape)

    def check(self, what: str, *, unchanged: bool = False) -> None:
        """Check the guard zones, and with `unchanged` the payload too; name the first byte that differs."""
        now = self._download()
        _state.checks += 1
        if not unchanged:
            now[self._window] = self._sent[self._window]
        differing = np.flatnonzero(now.view(np.uint8) != self._sent.view(np.uint8))
        if differing.size:
            element = int(differing[0]) // self._sent.dtype.itemsize - self._window.start
            kind = "was written to" if unchanged else "was written outside its elements"
            raise CheckError(f"{what} {kind}: {differing.size} bytes, first at element {element} of {what}")

    def _download(self) -> np.ndarray:
        return self._device.download(self._base).copy()


def stale(shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
    """Return what an output holds before the call: NaN for floating types, random bytes for the others."""
    kind = np.dtype(dtype)
    if kind.kind in "fc":
        return np.full(shape, np.nan, kind)
    return np.frombuffer(rng("stale").bytes(int(np.prod(shape)) * kind.itemsize), kind).reshape(shape)


def expect(condition: bool, message: str) -> None:
    """Check a condition."""
    _state.checks += 1
    if not condition:
        raise CheckError(message)


def expect_equal(got: Any, want: Any, what: str) -> None:
    """Check shape, dtype and every element; NaN equals NaN, and -0.0 equals 0.0."""
    _compare(np.asarray(got), np.asarray(want), np.asarray(0.0), what, same_dtype=True)


def expect_close(got: Any, want: Any, what: str, *, atol: Any = 0.0, rtol: Any = 0.0) -> None:
    """Check |got - want| <= atol + rtol * |want| element by element against a double-precision oracle.

    `atol` and `rtol` are numbers or arrays of want's shape. Infinities must be equal and NaN must meet NaN.
    """
    oracle = np.asarray(want, np.float64)
    with np.errstate(invalid="ignore"):
        bound = np.asarray(atol, np.float64) + np.asarray(rtol, np.float64) * np.abs(oracle)
    _compare(np.asarray(got), oracle, bound, what, same_dtype=False)


def _compare(got: np.ndarray, want: np.ndarray, bound: np.ndarray, what: str, *, same_dtype: bool) -> None:
    _state.checks += 1
    if got.shape != want.shape:
        raise CheckError(f"{what}: shape {got.shape}, expected {want.shape}")
    if same_dtype and got.dtype != want.dtype:
        raise CheckError(f"{what}: dtype {got.dtype}, expected {want.dtype}")
    good = got == want
    if want.dtype.kind in "fc":
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(got.astype(want.dtype) - want) <= bound
        good |= (near & np.isfinite(want)) | (np.isnan(got) & np.isnan(want))
    if good.all():
        return
    bad = np.argwhere(~good)
    at = tuple(int(i) for i in bad[0])
    allowed = float(np.broadcast_to(bound, want.shape)[at])
    found = f"first at {list(at)}: got {got[at]!r}, expected {want[at]!r}, allowed difference {allowed:.3g}"
    raise CheckError(f"{what}: {len(bad)} of {want.size} elements wrong, {found}")


def count_launch(calls: int = 1) -> None:
    """Count calls of the solution that launched GPU work and whose outputs were checked."""
    _state.launches += calls


def case(body: Body) -> Body:
    """Register a test case under the function's name."""
    return _register(_state.cases, body)


def bench(body: Callable[[], Sequence[float]]) -> Body:
    """Register the benchmark: it returns the milliseconds of each repetition, having checked the outputs."""
    return _register(_state.benches, body)


def _register(into: dict[str, Body], body: Body) -> Body:
    if into.setdefault(body.__name__, body) is not body:
        raise ValueError(f"{body.__name__} is registered twice")
    return body


def run(argv: Sequence[str] | None = None) -> NoReturn:
    """Run every case, or with `--bench` the benchmark, and leave with the exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments not in ([], ["--bench"]):
        print(f"usage: {Path(sys.argv[0]).name} [--bench]", file=sys.stderr)
        sys.exit(EXIT_USAGE)
    timed = bool(arguments)
    wanted = _state.benches if timed else _state.cases
    print(f"CE_SEED: {_state.seed}", flush=True)
    if not wanted:
        print("FAIL nothing is registered to run", flush=True)
        sys.exit(EXIT_FAIL)
    try:
        passed = sum(_run_one(name, body, timed) for name, body in wanted.items())
    except LackingError as error:
        print(f"not run: {error}", flush=True)
        sys.exit(EXIT_LACKING)
    print(f"{passed} of {len(wanted)} passed, CE_SEED: {_state.seed}", flush=True)
    if passed < len(wanted):
        sys.exit(EXIT_FAIL)
    if _state.report_path and _state.launches > 0:
        report = {"token": _state.token, "target_launches": _state.launches}
        Path(_state.report_path).write_text(json.dumps(report), encoding="utf-8")
    sys.exit(EXIT_PASS)


def _run_one(name: str, body: Body, timed: bool) -> bool:
    _state.case, _state.checks = name, 0
    start = time.perf_counter()
    try:
        result = body()
        if not _state.checks:
            raise CheckError("the case checked nothing")
    except (KeyboardInterrupt, LackingError):
        raise
    except CheckError as error:
        print(f"FAIL {name}: {error}", flush=True)
        return False
    except BaseException:  # noqa: BLE001 - a solution may raise anything, SystemExit included
        print(f"FAIL {name}: {traceback.format_exc()}", flush=True)
        return False
    print(f"PASS {name} ({(time.perf_counter() - start) * 1e3:.0f} ms, {_state.checks} checks)", flush=True)
    if timed:
        print(f"COMPUTE_EVAL_TIME_MS: {statistics.median(result):.6f}", flush=True)
    return True
