"""The summary of a run: pass@k and counts, overall and by group, in the public layout."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean

from ce_eval.passk import pass_at_k
from ce_eval.performance import PerformanceTally
from ce_schema.grade import GradedSolution, Outcome


@dataclass(slots=True)
class TaskTally:
    """Counts of one problem's samples. Infrastructure errors are in none of them."""

    group: str
    samples: int = 0
    correct: int = 0
    skipped: int = 0
    missing: bool = False

    @property
    def was_skipped(self) -> bool:
        """Whether every sample was skipped, so that nothing is known of the problem."""
        return self.samples == 0 and self.skipped > 0

    def estimate(self, k: int) -> float | None:
        """pass@k of this problem; 0 where the pack has no solution, None with fewer than k samples."""
        if self.missing:
            return 0.0
        return pass_at_k(self.samples, self.correct, k) if self.samples >= k else None


@dataclass(slots=True)
class Summary:
    """What a run came to. Built from grades one by one; holds counts and figures only."""

    ks: tuple[int, ...]
    tasks: dict[str, TaskTally] = field(default_factory=dict)
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    skip_reasons: Counter[str] = field(default_factory=Counter)
    performance: PerformanceTally = field(default_factory=PerformanceTally)

    def add(self, grade: GradedSolution) -> None:
        """Count one grade."""
        self.outcomes[grade.outcome] += 1
        tally = self.tasks.setdefault(grade.task_id, TaskTally(grade.problem.group))
        if grade.outcome is Outcome.INFRASTRUCTURE_ERROR:
            return
        self.performance.add(grade)
        if grade.skipped:
            tally.skipped += 1
            if grade.skip_reason:
                self.skip_reasons[grade.skip_reason] += 1
            return
        tally.samples += 1
        tally.correct += grade.passed
        tally.missing = tally.missing or grade.missing

    @property
    def infrastructure_errors(self) -> int:
        """Solutions that the machine, not the model, kept from a grade."""
        return self.outcomes[Outcome.INFRASTRUCTURE_ERROR]

    @property
    def pass_at_1(self) -> float:
        """Mean pass@1 over the problems that were not skipped; 0 where there is none."""
        return _mean([tally.estimate(1) for tally in _evaluated(self.tasks.values())]) or 0.0

    def as_dict(self) -> dict[str, object]:
        """The summary as JSON-ready data, with the public keys.

        ``skipped`` counts problems all of whose samples were skipped. A pass@k is there where every
        evaluated problem has k samples; ``problem_count`` and ``total_problem_count`` are the same number.
        The sections on performance are there where benchmarks ran.
        """
        tallies = list(self.tasks.values())
        groups = sorted({tally.group for tally in tallies})
        return {
            "pass_at_k": {"skipped": _skipped(tallies), **_pass_at(tallies, self.ks)},
            "problem_count": len(tallies),
            "total_problem_count": len(tallies),
            "evaluated_problem_count": len(_evaluated(tallies)),
            "groups": groups,
            "metrics_by_group": {
                group: _group_metrics([tally for tally in tallies if tally.group == group], self.ks)
                for group in groups
            },
            "solution_count": self.outcomes.total(),
            "outcomes": {
                str(outcome): self.outcomes[outcome] for outcome in Outcome if self.outcomes[outcome]
            },
            "infrastructure_errors": self.infrastructure_errors,
            **self.performance.as_dict(),
        }


def summarise(grades: Iterable[GradedSolution], ks: Sequence[int]) -> Summary:
    """The summary of ``grades``, which are read once."""
    summary = Summary(tuple(ks))
    for grade in grades:
        summary.add(grade)
    return summary


def _group_metrics(tallies: Sequence[TaskTally], ks: Sequence[int]) -> dict[str, float]:
    counts = {"skipped": _skipped(tallies), "evaluated_problem_count": len(_evaluated(tallies))}
    return counts | _pass_at(tallies, ks)


def _evaluated(tallies: Iterable[TaskTally]) -> list[TaskTally]:
    return [tally for tally in tallies if tally.samples]


def _skipped(tallies: Iterable[TaskTally]) -> float:
    return float(sum(tally.was_skipped for tally in tallies))


def _pass_at(tallies: Iterable[TaskTally], ks: Sequence[int]) -> dict[str, float]:
    evaluated = _evaluated(tallies)
    means = {f"pass@{k}": _mean([tally.estimate(k) for tally in evaluated]) for k in ks}
    return {name: mean for name, mean in means.items() if mean is not None}


def _mean(estimates: Sequence[float | None]) -> float | None:
    """The mean, or None where there is none to take or one is missing."""
    known = [estimate for estimate in estimates if estimate is not None]
    return fmean(known) if known and len(known) == len(estimates) else None
