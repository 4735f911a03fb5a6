"""One solution through the stages: requirements, validity, source references, build, test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ce_eval.machine import Machine
from ce_eval.plan import WorkItem
from ce_eval.requirements import fitting_gpus, skip_reason
from ce_eval.sandbox.base import Sandbox
from ce_eval.source_refs import check_source_references
from ce_eval.trial import MachineFailedError, StageRun, Trial
from ce_eval.workspace import InvalidSolutionError, Workspace, arrange
from ce_schema.grade import Environment, Evidence, GradedSolution, Outcome, StageName, StageResult
from ce_schema.problem import Problem
from ce_schema.solution import FileSolution, SourceFile


@dataclass(frozen=True, slots=True)
class PipelineContext:
    """What all solutions of a run share."""

    sandbox: Sandbox
    machine: Machine
    environment: Environment
    scratch: Path
    seed: int
    check_source_references: bool = True


@dataclass(slots=True)
class _Verdict:
    """The parts of a grade that the stages decide."""

    outcome: Outcome
    build_output: str | None = None
    test_output: str | None = None
    skip_reason: str | None = None
    notes: tuple[dict[str, object], ...] = ()
    stages: tuple[StageResult, ...] = ()


def grade(item: WorkItem, context: PipelineContext) -> GradedSolution:
    """The grade of one work item. Never raises for what a solution does."""
    verdict = _judge(item, context)
    passed = verdict.outcome is Outcome.PASSED
    return GradedSolution(
        task_id=item.problem.task_id,
        passed=passed,
        skipped=verdict.outcome is Outcome.SKIPPED,
        solution=item.solution or FileSolution(task_id=item.problem.task_id),
        problem=item.problem,
        build_output=verdict.build_output,
        test_output=verdict.test_output,
        outcome=verdict.outcome,
        sample=item.sample,
        missing=item.solution is None and verdict.outcome is not Outcome.SKIPPED,
        key=item.key,
        evidence=Evidence.EXIT_CODE if passed else None,
        seed=context.seed,
        skip_reason=verdict.skip_reason,
        stages=list(verdict.stages),
        environment=context.environment,
        integrity=list(verdict.notes),
    )


def _judge(item: WorkItem, context: PipelineContext) -> _Verdict:
    problem = item.problem
    if reason := skip_reason(problem, context.machine):
        return _Verdict(Outcome.SKIPPED, skip_reason=reason)
    if item.solution is None:
        return _Verdict(Outcome.INVALID_SOLUTION, test_output="the pack holds no solution for this problem")
    try:
        workspace = arrange(problem, item.solution)
    except InvalidSolutionError as error:
        return _Verdict(Outcome.INVALID_SOLUTION, test_output=str(error))
    notes = tuple(workspace.notes)
    if context.check_source_references and (missing := missing_references(problem, workspace)):
        return _Verdict(Outcome.SOURCE_REFS_MISSING, test_output=missing, notes=notes)
    runs: list[StageRun] = []
    gpus = fitting_gpus(problem, context.machine)
    try:
        with Trial(problem, workspace, context.sandbox, context.scratch, gpus) as trial:
            if (build := trial.build()) is not None:
                runs.append(build)
            if build is None or build.outcome is Outcome.PASSED:
                runs.append(trial.test(context.seed))
    except MachineFailedError as error:
        return _Verdict(Outcome.INFRASTRUCTURE_ERROR, test_output=str(error), notes=notes)
    outputs = {run.result.name: run.result.output for run in runs}
    return _Verdict(
        outcome=runs[-1].outcome,
        build_output=outputs.get(StageName.BUILD),
        test_output=outputs.get(StageName.TEST),
        notes=notes,
        stages=tuple(run.result for run in runs),
    )


def missing_references(problem: Problem, workspace: Workspace) -> str | None:
    """Which required names the candidate's files lack, in words, or None."""
    if problem.source_references is None:
        return None
    files = [SourceFile(path=path, content=text) for path, text in workspace.solution.items()]
    report = check_source_references(files, problem.source_references, problem.type, problem.context_files)
    return None if report.ok else report.message
