"""What a finished command means for the grade. Pure: how it ended in, an outcome out."""

from __future__ import annotations

import re
import signal

from ce_eval.sandbox.supervise import Completed
from ce_schema.grade import Outcome

_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded|File size limit exceeded")
_MEMORY_FULL = re.compile(
    r"std::bad_alloc"
    r"|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY"
    r"|\bout of memory\b|virtual memory exhausted|Cannot allocate memory"
    r"|\bMemoryError\b"
    r"|Killed signal terminated program",
    re.IGNORECASE,
)


def classify_build(done: Completed) -> Outcome:
    """The outcome of a build command; `PASSED` when it succeeded.

    A compiler that crashes has failed to build, whatever the signal.
    """
    outcome = _common(done)
    if outcome is not None:
        return outcome
    return _by_output(done) or Outcome.BUILD_FAILED


def classify_test(done: Completed) -> Outcome:
    """The outcome of a test command; `PASSED` when it exited with 0 by itself.

    A program that ends with `abort`, as after an uncaught exception or a failed `assert`, has crashed, unless
    it printed that it ran out of memory or disk.
    """
    outcome = _common(done)
    if outcome is not None:
        return outcome
    return _by_output(done) or (Outcome.CRASHED if done.signal is not None else Outcome.TEST_FAILED)


def _common(done: Completed) -> Outcome | None:
    """What does not depend on the stage; None for a command that ended by itself and did not succeed."""
    if done.spawn_error is not None or done.cancelled:
        return Outcome.INFRASTRUCTURE_ERROR
    if done.violation is not None:
        return Outcome.SANDBOX_VIOLATION
    if done.ok:
        return Outcome.PASSED
    if done.timed_out or done.signal == signal.SIGXCPU:
        return Outcome.TIMED_OUT
    if done.output_limit_hit:
        return Outcome.OUTPUT_LIMIT
    if done.memory_limit_hit or done.oom:
        return Outcome.OUT_OF_MEMORY
    if done.process_limit_hit:
        return Outcome.SANDBOX_VIOLATION
    if done.signal == signal.SIGXFSZ:
        return Outcome.DISK_LIMIT
    if done.signal == signal.SIGSYS:
        return Outcome.SANDBOX_VIOLATION
    return None


def _by_output(done: Completed) -> Outcome | None:
    """Want of memory or disk as the failing program itself reported it.

    A program can print these words to be called by another failure's name; it cannot pass by them.
    """
    if _MEMORY_FULL.search(done.output):
        return Outcome.OUT_OF_MEMORY
    if _DISK_FULL.search(done.output):
        return Outcome.DISK_LIMIT
    return None
