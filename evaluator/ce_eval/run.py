"""``ce-eval run``: solution packs in, graded files and a summary out."""

from __future__ import annotations

import json
import os
import secrets
import socket
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ce_eval.config import EvaluateConfig
from ce_eval.engine import run_all
from ce_eval.gradelog import GradeLog
from ce_eval.machine import Machine, probe
from ce_eval.pipeline import PipelineContext, grade
from ce_eval.plan import PackPlan, check_samples, find_packs, graded_path, plan_packs
from ce_eval.sandbox import open_sandbox
from ce_eval.sandbox.base import Sandbox
from ce_eval.sandbox.scratch import ScratchFolder
from ce_eval.summary import Summary, summarise
from ce_schema.grade import Environment, GradedSolution
from ce_schema.groups import GroupFilter
from ce_schema.version import __version__

# Starting a sandbox waits for the kernel more than it computes: fewer in flight would leave cores idle.
MIN_WORKERS = 4


@dataclass(slots=True)
class PackResult:
    """What came of one pack."""

    pack: Path
    graded: Path
    summary: Summary


class Progress:
    """Told of each step of a run; does nothing with it."""

    def sandbox(self, sandbox: Sandbox) -> None:
        """Solutions are about to run in this sandbox."""

    def pack(self, plan: PackPlan, reused: int) -> None:
        """A pack begins; ``reused`` of its grades come from an earlier run."""

    def grade(self, grade: GradedSolution) -> None:
        """A solution has been graded."""


def evaluate(config: EvaluateConfig, progress: Progress | None = None) -> list[PackResult]:
    """Grade every pack of ``config.solutions``; one result a pack.

    Raises:
        InputError: a pack, the problems or the configuration cannot be used.
        MachineLacksError: the mode needs what this machine has not.
        KeyboardInterrupt: finished grades are kept and the next run goes on from there.
    """
    from ce_corpus.sources import load_problems

    progress = progress or Progress()
    with closing(open_sandbox(config.mode)) as sandbox:
        machine = probe()
        chosen = GroupFilter(config.include, config.exclude)
        packs = find_packs(config.solutions)
        problems = load_problems(config.problems, config.release)
        environment = _environment(sandbox, machine)
        plans = plan_packs(
            packs, problems, chosen, skip_missing=config.skip_missing, salt=_salt(config, environment)
        )
        if config.strict_k:
            for plan in plans:
                check_samples(plan, config.k)
        seed = config.seed if config.seed is not None else secrets.randbits(63)
        progress.sandbox(sandbox)
        with closing(ScratchFolder("ce-eval-")) as scratch:
            context = PipelineContext(
                sandbox, machine, environment, scratch.path, seed, config.check_source_references
            )
            return [_grade_pack(plan, context, config, progress) for plan in plans]


def _grade_pack(
    plan: PackPlan, context: PipelineContext, config: EvaluateConfig, progress: Progress
) -> PackResult:
    with GradeLog(graded_path(plan.path, config.output_dir)) as log:
        finished = log.open(resume=config.resume)
        keys = [item.key for item in plan.items()]
        progress.pack(plan, len(finished.intersection(keys)))
        summary = summarise(map(GradedSolution.model_validate_json, log.read(keys)), config.k)
        todo = (item for item in plan.items() if item.key not in finished)
        workers = config.workers or max(MIN_WORKERS, len(os.sched_getaffinity(0)))
        for graded in run_all(partial(grade, context=context), todo, workers, context.sandbox.cancel):
            log.append(graded)
            summary.add(graded)
            progress.grade(graded)
        log.finish(keys)
        return PackResult(plan.path, log.graded, summary)


def _environment(sandbox: Sandbox, machine: Machine) -> Environment:
    gpu = machine.gpus[0] if machine.gpus else None
    return Environment(
        mode=sandbox.name,
        gpu=gpu.name if gpu else None,
        compute_capability=gpu.compute_capability if gpu else None,
        driver=machine.driver,
        cuda_toolkit=machine.cuda_toolkit,
        toolkit_version=__version__,
        host=socket.gethostname(),
    )


def _salt(config: EvaluateConfig, environment: Environment) -> bytes:
    """Whatever besides problem and solution decides a grade; part of every work item's key."""
    facts = environment.model_dump(exclude={"host"})
    facts["check_source_references"] = config.check_source_references
    facts["seed"] = config.seed
    return json.dumps(facts, sort_keys=True).encode()
