"""Compute Sanitizer results, as the public graded format carries them."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel


class SanitizerTool(StrEnum):
    """The four tools, in the order they always run."""

    MEMCHECK = "memcheck"
    RACECHECK = "racecheck"
    SYNCCHECK = "synccheck"
    INITCHECK = "initcheck"


class SanitizerStatus(StrEnum):
    """``invalid`` is neither clean nor dirty: the run proved nothing."""

    PASSED = "passed"
    FAILED = "failed"
    INVALID = "invalid"


class SanitizerToolResult(BaseModel):
    """One tool's run."""

    tool: SanitizerTool
    status: SanitizerStatus
    command: str
    return_code: int
    timed_out: bool
    wall_seconds: float
    target_coverage_confirmed: bool
    reason: str | None = None
    target_output: str
    raw_log: str | None = None
    raw_log_sha256: str | None = None


class SanitizerResult(BaseModel):
    """The verdict over all selected tools and the plain test repeated after them."""

    status: SanitizerStatus
    selected_tools: list[SanitizerTool]
    tool_results: list[SanitizerToolResult]
    reason: str | None = None
    post_test_output: str | None = None
    post_test_return_code: int | None = None
    post_test_timed_out: bool = False
