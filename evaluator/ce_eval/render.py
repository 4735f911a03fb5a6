"""What a person sees of a run: progress while it lasts, a table when it is over. All on stderr."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import click

from ce_eval.run import PackResult, Progress
from ce_schema.cli import visible
from ce_schema.grade import GradedSolution, Outcome

if TYPE_CHECKING:
    from ce_eval.plan import PackPlan
    from ce_eval.sandbox.base import Sandbox


class LiveProgress(Progress):
    """A progress bar on a terminal; elsewhere one line a pack."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None
        self._passed = 0

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            from rich import progress as rich_progress
            from rich.console import Console

            self._bar = rich_progress.Progress(
                rich_progress.TextColumn("{task.description}"),
                rich_progress.BarColumn(),
                rich_progress.MofNCompleteColumn(),
                rich_progress.TextColumn("{task.fields[passed]} passed"),
                rich_progress.TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def sandbox(self, sandbox: Sandbox) -> None:
        """Say what the user must know before untrusted code runs."""
        if notice := sandbox.notice():
            click.echo(click.style("warning:", fg="yellow", bold=True) + f" {notice}", err=True)

    def pack(self, plan: PackPlan, reused: int) -> None:
        """Say what the pack holds."""
        notes = [f"{plan.samples.total()} solutions, {len(plan.problems)} problems"]
        if reused:
            notes.append(f"{reused} grades reused from an earlier run (--no-resume grades them again)")
        if plan.foreign_release:
            notes.append(f"the pack is for release {visible(plan.foreign_release)}, these problems are not")
        if plan.unknown:
            names = visible(", ".join(sorted(plan.unknown)[:3]))
            notes.append(f"{plan.unknown.total()} solutions for unknown tasks ignored ({names} …)")
        if plan.outside:
            notes.append(f"{plan.outside.total()} solutions for problems that were not asked for left out")
        if plan.missing and not plan.skip_missing:
            notes.append(
                f"{len(plan.missing)} problems have no solution and count as failed"
                " (as skipped, where this machine cannot run them)"
            )
        click.echo(f"{plan.path.name}: {'; '.join(notes)}", err=True)
        if self._bar is not None:
            self._passed = 0
            self._task = self._bar.add_task(plan.path.name, total=plan.total, completed=reused, passed=0)

    def grade(self, grade: GradedSolution) -> None:
        """Move on by one."""
        if self._bar is not None:
            self._passed += grade.passed
            self._bar.update(self._task, advance=1, passed=self._passed)


def summary_json(results: Sequence[PackResult]) -> object:
    """The summary of the only pack, or of each by its file name."""
    if len(results) == 1:
        return results[0].summary.as_dict()
    return {result.pack.name: result.summary.as_dict() for result in results}


def show_results(results: Sequence[PackResult]) -> None:
    """Print outcome counts and where the grades are, to stderr."""
    for result in results:
        counts = result.summary.outcomes
        width = max(len(name) for name in Outcome)
        click.echo(f"\n{result.pack.name}", err=True)
        for outcome in Outcome:
            if count := counts.get(outcome, 0):
                colour = {Outcome.PASSED: "green", Outcome.SKIPPED: "yellow"}.get(outcome, "red")
                click.echo(f"  {click.style(outcome.ljust(width), fg=colour)} {count:6}", err=True)
                if outcome is Outcome.SKIPPED:
                    for reason, times in result.summary.skip_reasons.most_common():
                        click.echo(f"    {times} × {reason}", err=True)
        click.echo(f"  grades: {result.graded}", err=True)
