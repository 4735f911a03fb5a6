"""Every way a command can end, as build and as test."""

from __future__ import annotations

import pytest

from ce_eval.outcomes import classify_build, classify_test
from ce_eval.sandbox.supervise import Completed
from ce_schema.grade import Outcome

CASES = [
    # how it ended, as a build, as a test
    (Completed(exit_code=0), Outcome.PASSED, Outcome.PASSED),
    (Completed(exit_code=1), Outcome.BUILD_FAILED, Outcome.TEST_FAILED),
    (Completed(exit_code=127), Outcome.BUILD_FAILED, Outcome.TEST_FAILED),
    (Completed(signal=6), Outcome.BUILD_FAILED, Outcome.CRASHED),
    (Completed(signal=11), Outcome.BUILD_FAILED, Outcome.CRASHED),
    (Completed(signal=9), Outcome.BUILD_FAILED, Outcome.CRASHED),
    (Completed(signal=9, oom=True), Outcome.OUT_OF_MEMORY, Outcome.OUT_OF_MEMORY),
    (Completed(signal=9, memory_limit_hit=True), Outcome.OUT_OF_MEMORY, Outcome.OUT_OF_MEMORY),
    (Completed(signal=9, timed_out=True), Outcome.TIMED_OUT, Outcome.TIMED_OUT),
    (Completed(signal=9, output_limit_hit=True), Outcome.OUTPUT_LIMIT, Outcome.OUTPUT_LIMIT),
    (Completed(signal=9, process_limit_hit=True), Outcome.SANDBOX_VIOLATION, Outcome.SANDBOX_VIOLATION),
    (Completed(signal=25), Outcome.DISK_LIMIT, Outcome.DISK_LIMIT),
    (Completed(signal=31), Outcome.SANDBOX_VIOLATION, Outcome.SANDBOX_VIOLATION),
    (Completed(violation="a link"), Outcome.SANDBOX_VIOLATION, Outcome.SANDBOX_VIOLATION),
    (Completed(spawn_error="no shell"), Outcome.INFRASTRUCTURE_ERROR, Outcome.INFRASTRUCTURE_ERROR),
    (Completed(signal=9, cancelled=True), Outcome.INFRASTRUCTURE_ERROR, Outcome.INFRASTRUCTURE_ERROR),
    # It flooded and was then seen to exit with 0: still a flood.
    (Completed(exit_code=0, output_limit_hit=True), Outcome.OUTPUT_LIMIT, Outcome.OUTPUT_LIMIT),
    (Completed(exit_code=0, spawn_error="x"), Outcome.INFRASTRUCTURE_ERROR, Outcome.INFRASTRUCTURE_ERROR),
]


@pytest.mark.parametrize(("done", "as_build", "as_test"), CASES)
def test_outcomes(done: Completed, as_build: Outcome, as_test: Outcome) -> None:
    assert (classify_build(done), classify_test(done)) == (as_build, as_test)


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("terminate called after throwing an instance of 'std::bad_alloc'", Outcome.OUT_OF_MEMORY),
        ("CUDA error: cudaErrorMemoryAllocation: out of memory", Outcome.OUT_OF_MEMORY),
        ("g++: fatal error: Killed signal terminated program cc1plus", Outcome.OUT_OF_MEMORY),
        ("numpy._core._exceptions.MemoryError: unable", Outcome.OUT_OF_MEMORY),
        ("cp: error writing 'x': No space left on device", Outcome.DISK_LIMIT),
        ("expected 3, got 4", None),
    ],
)
def test_a_failing_program_says_what_it_lacked(output: str, outcome: Outcome | None) -> None:
    assert classify_test(Completed(exit_code=1, output=output)) is (outcome or Outcome.TEST_FAILED)
    assert classify_test(Completed(signal=6, output=output)) is (outcome or Outcome.CRASHED)
    assert classify_build(Completed(exit_code=1, output=output)) is (outcome or Outcome.BUILD_FAILED)
    assert classify_test(Completed(exit_code=0, output=output)) is Outcome.PASSED
