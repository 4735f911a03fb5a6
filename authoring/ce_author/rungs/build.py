"""Rung build: do the reference and the baseline compile as written, without a warning?"""

from __future__ import annotations

import re

from ce_author.rungs.base import Climb, failed, last_lines, not_run, passed, speaking
from ce_eval.requirements import toolkit_reason
from ce_eval.workspace import InvalidSolutionError
from ce_schema.certificate import Rung, RungResult
from ce_schema.grade import Outcome
from ce_schema.solution import Solution

_WARNING = re.compile(r"(?:^|[\s:(])warning\b.*", re.IGNORECASE | re.MULTILINE)


def climb_build(climb: Climb) -> RungResult:
    """Passed when every solution of the author's builds cleanly; figures give seconds for each."""
    problem = climb.folder.problem
    reference = climb.folder.reference
    if reference is None:
        return failed(Rung.BUILD, "the problem has no reference: solution/ is empty")
    if reason := toolkit_reason(problem, climb.ground.machine):
        return not_run(Rung.BUILD, reason)
    seconds: dict[str, float] = {}
    if reason := _build(climb, "reference", reference, seconds):
        return failed(Rung.BUILD, reason)
    baseline = climb.folder.packed.baseline_solution
    if (
        climb.folder.baseline
        and baseline is not None
        and (reason := _build(climb, "baseline", baseline, seconds))
    ):
        return failed(Rung.BUILD, reason)
    return passed(Rung.BUILD, **{f"{name}_seconds": value for name, value in seconds.items()})


def _build(climb: Climb, name: str, solution: Solution, seconds: dict[str, float]) -> str | None:
    """Why the solution's build is not clean, or None; keeps the reference for the rungs above."""
    try:
        trial = climb.trial(solution)
    except InvalidSolutionError as error:
        return f"the {name} is no valid solution: {error}"
    run = trial.build()
    if run is not None:
        speaking(run)
        if run.outcome is not Outcome.PASSED:
            return f"the {name} does not build ({run.outcome}):\n{last_lines(run.result.output)}"
        if warning := _WARNING.search(run.result.output):
            return f"the {name} builds with a warning: {warning.group().strip(' :(')}"
        seconds[name] = run.result.wall_seconds
    if name == "reference":
        climb.built_reference = trial
    return None
