"""Rung test: does the reference pass every time, and do solutions that must fail, fail?"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ce_author.rungs.base import Climb, failed, last_lines, not_run, passed, speaking
from ce_author.stub import derive_stub
from ce_corpus.folder import read_solution
from ce_eval.requirements import skip_reason
from ce_eval.workspace import InvalidSolutionError
from ce_schema.certificate import Rung, RungResult
from ce_schema.errors import FindingsError
from ce_schema.grade import Outcome
from ce_schema.solution import FileSolution, Solution

STUB_FOLDER = "solutions/rejected/test_failed/stub"
# What shows that a test looked at the stub's work and refused it.
_REFUSED = frozenset({Outcome.TEST_FAILED, Outcome.CRASHED, Outcome.TIMED_OUT})


@dataclass(frozen=True, slots=True)
class Case:
    """A solution whose outcome is known; ``expected`` None means: refused by the test, however."""

    name: str
    solution: Solution
    expected: Outcome | None


def climb_test(climb: Climb) -> RungResult:
    """Passed when the reference passes N of N with N seeds and each further case ends as it must.

    Figures: ``passes`` and ``runs``, median and longest seconds of a run, outcome of each case.
    """
    problem = climb.folder.problem
    if reason := skip_reason(problem, climb.ground.machine):
        return not_run(Rung.TEST, reason)
    reference = climb.built_reference
    assert reference is not None, "the build rung comes first"
    seconds: list[float] = []
    for number in range(climb.ground.passes):
        seed = secrets.randbits(63)
        with climb.ground.gpu_slots:
            run = speaking(reference.test(seed))
        if run.outcome is not Outcome.PASSED:
            return failed(
                Rung.TEST,
                f"the reference fails in run {number + 1} ({run.outcome}, CE_SEED={seed}):\n"
                f"{last_lines(run.result.output)}",
                passes=number,
                runs=number + 1,
            )
        seconds.append(run.result.wall_seconds)
    cases = _cases(climb)
    if isinstance(cases, str):
        return failed(Rung.TEST, cases)
    outcomes = {case.name: _outcome(climb, case.solution) for case in cases}
    figures = {
        "passes": len(seconds),
        "runs": len(seconds),
        "median_seconds": round(median(seconds), 3),
        "longest_seconds": round(max(seconds), 3),
        "cases": {name: str(outcome) for name, outcome in outcomes.items()},
    }
    for case in cases:
        if reason := _disappointment(case, outcomes[case.name]):
            return failed(Rung.TEST, reason, **figures)
    return passed(Rung.TEST, **figures)


def _cases(climb: Climb) -> list[Case] | str:
    """The cases of the problem, or why there are none."""
    root = climb.folder.path / "solutions"
    cases: list[Case] = []
    for kind in ("accepted", "rejected"):
        for folder in sorted((root / kind).glob("*" if kind == "accepted" else "*/*")):
            case = _read_case(climb, folder, kind)
            if isinstance(case, str):
                return case
            cases.append(case)
    if not any(case.name.endswith("/stub") for case in cases):
        reference = climb.folder.reference
        stub = derive_stub(reference) if isinstance(reference, FileSolution) else None
        if stub is None:
            return f"no stub can be derived from the reference; write one to {STUB_FOLDER}/"
        cases.append(Case("derived stub", stub, None))
    return cases


def _read_case(climb: Climb, folder: Path, kind: str) -> Case | str:
    name = str(folder.relative_to(climb.folder.path))
    if kind == "accepted":
        expected = Outcome.PASSED
    elif folder.parent.name in set(Outcome):
        expected = Outcome(folder.parent.name)
    else:
        return f"{folder.parent.name!r} in {name} is no outcome; one of {', '.join(Outcome)}"
    try:
        return Case(name, read_solution(folder, climb.folder.problem.task_id), expected)
    except FindingsError as error:
        return f"{name} cannot be read: {error}"


def _outcome(climb: Climb, solution: Solution) -> Outcome:
    try:
        trial = climb.trial(solution)
    except InvalidSolutionError:
        return Outcome.INVALID_SOLUTION
    build = trial.build()
    if build is not None and speaking(build).outcome is not Outcome.PASSED:
        return build.outcome
    with climb.ground.gpu_slots:
        return speaking(trial.test(secrets.randbits(63))).outcome


def _disappointment(case: Case, outcome: Outcome) -> str | None:
    if case.expected is None:
        if outcome in _REFUSED:
            return None
        if outcome is Outcome.PASSED:
            return "an empty stub passes the test: the test proves nothing"
        return f"the derived stub ends in {outcome}; write one that builds to {STUB_FOLDER}/"
    if outcome is case.expected:
        return None
    if outcome is Outcome.PASSED:
        return f"{case.name} must end in {case.expected} and passes"
    return f"{case.name} must end in {case.expected} and ends in {outcome}"
