"""A grade: one JSON line a solution, the public fields first, then ours."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from ce_schema.metrics import PerformanceMetrics
from ce_schema.problem import Problem
from ce_schema.sanitizer import SanitizerResult
from ce_schema.solution import Solution


class Outcome(StrEnum):
    """What happened to a solution. The first that applies, in pipeline order."""

    PASSED = "passed"
    INVALID_SOLUTION = "invalid_solution"
    SOURCE_REFS_MISSING = "source_refs_missing"
    BUILD_FAILED = "build_failed"
    TEST_FAILED = "test_failed"
    CRASHED = "crashed"
    TIMED_OUT = "timed_out"
    OUT_OF_MEMORY = "out_of_memory"
    OUTPUT_LIMIT = "output_limit"
    DISK_LIMIT = "disk_limit"
    SANDBOX_VIOLATION = "sandbox_violation"
    TAMPERED = "tampered"
    SANITIZER_FAILED = "sanitizer_failed"
    BENCHMARK_FAILED = "benchmark_failed"
    SKIPPED = "skipped"
    INFRASTRUCTURE_ERROR = "infrastructure_error"


class StageName(StrEnum):
    """The stages of the pipeline that run a command."""

    BUILD = "build"
    TEST = "test"
    SANITIZE = "sanitize"
    RETEST = "re-test"
    BENCHMARK = "benchmark"


class StageResult(BaseModel):
    """One command that ran: how it ended and what it took.

    Exactly one of ``exit_code`` and ``signal`` is set, unless the command could not be started.
    ``output`` is standard output and error together, head and tail; ``dropped_bytes`` were cut
    out between them. Times in seconds, memory in bytes.
    """

    name: StageName
    command: str
    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    dropped_bytes: int = 0


class Environment(BaseModel):
    """Where a grade was earned."""

    mode: str
    gpu: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    cuda_toolkit: str | None = None
    image_digest: str | None = None
    toolkit_version: str
    host: str | None = None


class Evidence(StrEnum):
    """What a pass rests on; only a split harness is safe against a determined candidate."""

    SPLIT_HARNESS = "split_harness"
    WITNESS = "witness"
    EXIT_CODE = "exit_code"


class GradedSolution(BaseModel):
    """The grade of one solution of one problem. ``solution_time`` and ``baseline_time`` in milliseconds.

    ``missing`` marks the failure of a problem that the pack holds no solution for.
    """

    model_config = ConfigDict(extra="allow")

    task_id: str
    passed: bool
    skipped: bool
    solution: Solution
    problem: Problem
    build_output: str | None = None
    test_output: str | None = None
    benchmark_output: str | None = None
    solution_metrics: PerformanceMetrics | None = None
    solution_time: float | None = None
    baseline_metrics: PerformanceMetrics | None = None
    baseline_time: float | None = None
    speedup: float | None = None
    sanitizer_result: SanitizerResult | None = None
    # Ours from here on.
    outcome: Outcome
    sample: int = 0
    missing: bool = False
    key: str = ""
    evidence: Evidence | None = None
    seed: int | None = None
    skip_reason: str | None = None
    stages: list[StageResult] = Field(default_factory=list)
    environment: Environment | None = None
    integrity: list[dict[str, object]] = Field(default_factory=list)
