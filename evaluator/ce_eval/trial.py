"""A solution in a workspace of its own: built once, tested as often as asked, then thrown away."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Self

from ce_eval.machine import Gpu
from ce_eval.outcomes import classify_build, classify_test
from ce_eval.sandbox.base import Completed, Job, Limits, Sandbox
from ce_eval.sandbox.removal import remove_tree
from ce_eval.workspace import Workspace, write_files
from ce_schema.grade import Outcome, StageName, StageResult
from ce_schema.problem import Problem

DEFAULT_TIMEOUT_SECONDS = 60.0


class MachineFailedError(Exception):
    """The machine, not the solution, kept a stage from running; the message says how."""


@dataclass(frozen=True, slots=True)
class StageRun:
    """One stage that ran: what it means for the grade, and how it went."""

    outcome: Outcome
    result: StageResult


class Trial:
    """Stages of one workspace. ``scratch`` must be a folder of ours; the tests may use ``gpus``.

    Entering raises MachineFailedError where the workspace cannot be written.
    """

    def __init__(
        self,
        problem: Problem,
        workspace: Workspace,
        sandbox: Sandbox,
        scratch: Path,
        gpus: Sequence[Gpu],
    ) -> None:
        self._problem = problem
        self._workspace = workspace
        self._sandbox = sandbox
        self._scratch = scratch
        self._gpus = gpus
        self._folder = Path()

    def __enter__(self) -> Self:
        try:
            self._folder = Path(tempfile.mkdtemp(prefix="w", dir=self._scratch))
            write_files(self._folder, self._workspace.author)
            write_files(self._folder, self._workspace.solution)
        except OSError as error:
            raise MachineFailedError(
                f"the workspace could not be written to {self._scratch}: {error.strerror}"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        remove_tree(self._folder)

    def build(self) -> StageRun | None:
        """Run the build command; None where the problem has none."""
        if not self._problem.build_command:
            return None
        return self._run(StageName.BUILD, self._problem.build_command, classify_build, {}, ())

    def test(self, seed: int) -> StageRun:
        """Run the test command with ``seed`` for its random data."""
        env = {"CE_SEED": str(seed)}
        return self._run(StageName.TEST, self._problem.test_command, classify_test, env, self._gpus)

    def _run(
        self,
        name: StageName,
        command: str,
        classify: Callable[[Completed], Outcome],
        env: dict[str, str],
        gpus: Sequence[Gpu],
    ) -> StageRun:
        limits = Limits(
            wall_seconds=self._problem.timeout_seconds or DEFAULT_TIMEOUT_SECONDS,
            memory_bytes=_memory_limit(),
        )
        job = Job(
            command=command,
            workspace=self._folder,
            limits=limits,
            env=env,
            # A compiler needs no socket, and starts faster without a network of its own.
            loopback=name is not StageName.BUILD,
            gpu=bool(gpus),
            gpus=gpus,
        )
        done = self._sandbox.run(job)
        if (outcome := classify(done)) is Outcome.INFRASTRUCTURE_ERROR:
            # The machine failed, not the solution: once more before it is reported.
            done = self._sandbox.run(job)
            outcome = classify(done)
        return StageRun(outcome, _stage_result(name, command, done))


@cache
def _memory_limit() -> int:
    """What one command may hold resident, in bytes: three quarters of the host, lest it takes that down."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") * 3 // 4


def _stage_result(name: StageName, command: str, done: Completed) -> StageResult:
    return StageResult(
        name=name,
        command=command,
        exit_code=done.exit_code,
        signal=done.signal,
        timed_out=done.timed_out,
        wall_seconds=round(done.wall_seconds, 4),
        cpu_seconds=round(done.cpu_seconds, 4),
        peak_memory_bytes=done.peak_memory_bytes,
        # What kept the command from running stands where its output would.
        output="\n".join(filter(None, (done.output, done.spawn_error, done.violation))),
        dropped_bytes=done.dropped_bytes,
    )
