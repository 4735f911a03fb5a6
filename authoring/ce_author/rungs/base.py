"""What the rungs share: the ground they stand on, and one problem's climb."""

from __future__ import annotations

import threading
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ce_corpus.folder import ProblemFolder
from ce_eval.machine import Machine
from ce_eval.requirements import fitting_gpus
from ce_eval.sandbox.base import Sandbox
from ce_eval.trial import MachineFailedError, StageRun, Trial
from ce_eval.workspace import arrange
from ce_schema.certificate import Rung, RungResult, RungStatus
from ce_schema.grade import Outcome
from ce_schema.solution import Solution


@dataclass(frozen=True)
class Ground:
    """The machine a ladder stands on, and how hard it is to be climbed.

    ``passes`` is how many times the reference must pass; ``gpu_slots`` how many tests may share the
    GPU at once.
    """

    sandbox: Sandbox
    machine: Machine
    scratch: Path
    passes: int
    gpu_slots: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(4))


class Climb(AbstractContextManager["Climb"]):
    """One problem on its way up; keeps the built reference from one rung to the next."""

    def __init__(self, folder: ProblemFolder, ground: Ground) -> None:
        self.folder = folder
        self.ground = ground
        self.built_reference: Trial | None = None
        self._open = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()

    def trial(self, solution: Solution) -> Trial:
        """A workspace for ``solution`` that lives as long as the climb.

        Raises:
            InvalidSolutionError: the solution may not be staged.
            MachineFailedError: the workspace cannot be written.
        """
        problem = self.folder.problem
        trial = Trial(
            problem,
            arrange(problem, solution),
            self.ground.sandbox,
            self.ground.scratch,
            fitting_gpus(problem, self.ground.machine),
        )
        return self._open.enter_context(trial)


def speaking(run: StageRun) -> StageRun:
    """``run``, provided that it says something about the problem.

    Raises:
        MachineFailedError: it does not, because the machine failed.
    """
    if run.outcome is Outcome.INFRASTRUCTURE_ERROR:
        raise MachineFailedError(last_lines(run.result.output))
    return run


def passed(rung: Rung, **figures: Any) -> RungResult:
    """The rung was climbed."""
    return RungResult(rung=rung, status=RungStatus.PASSED, figures=figures)


def failed(rung: Rung, reason: str, **figures: Any) -> RungResult:
    """The problem is not good enough for the rung."""
    return RungResult(rung=rung, status=RungStatus.FAILED, reason=reason, figures=figures)


def not_run(rung: Rung, reason: str) -> RungResult:
    """This machine could not try."""
    return RungResult(rung=rung, status=RungStatus.NOT_RUN, reason=reason)


def last_lines(text: str, count: int = 12) -> str:
    """The end of a command's output, for a reason."""
    return "\n".join(text.rstrip().splitlines()[-count:])
