"""What is to be graded: which problems a solution pack answers, and one work item a sample."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ce_schema.datapack import open_solution_pack
from ce_schema.errors import InputError
from ce_schema.groups import GroupFilter
from ce_schema.lines import encode_line
from ce_schema.problem import Problem
from ce_schema.solution import Solution
from ce_schema.soundness import problem_defects

PACK_SUFFIX = "-solutions.tar.gz"
GRADED_SUFFIX = "-graded-solutions.jsonl"


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One solution to grade. ``solution`` is None where the pack has none for the problem.

    ``key`` is a hash of all that decides the grade: equal keys, equal work.
    """

    problem: Problem
    solution: Solution | None
    sample: int
    key: str


@dataclass(frozen=True, slots=True)
class PackPlan:
    """One solution pack against the problems it answers.

    ``samples`` counts the solutions per task, ``unknown`` those for tasks that the problems do not
    have, ``outside`` those for problems that were not asked for. ``foreign_release`` is the release that
    the pack names, where none of its problems is in that release.
    """

    path: Path
    problems: dict[str, Problem]
    samples: Counter[str]
    unknown: Counter[str]
    outside: Counter[str]
    skip_missing: bool
    salt: bytes
    foreign_release: str | None = None
    _digests: dict[str, bytes] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Tasks that the pack should answer and does not."""
        return [task_id for task_id in self.problems if not self.samples[task_id]]

    @property
    def total(self) -> int:
        """How many grades there will be."""
        return self.samples.total() + (0 if self.skip_missing else len(self.missing))

    def items(self) -> Iterator[WorkItem]:
        """The work, streamed from the pack: memory does not grow with it."""
        seen: Counter[str] = Counter()
        with open_solution_pack(self.path) as pack:
            for record in pack:
                solution = record.item
                problem = self.problems.get(solution.task_id)
                if problem is not None:
                    sample = seen[solution.task_id]
                    seen[solution.task_id] += 1
                    yield WorkItem(problem, solution, sample, self._key(problem, sample, record.raw))
        if not self.skip_missing:
            for task_id in self.missing:
                problem = self.problems[task_id]
                yield WorkItem(problem, None, 0, self._key(problem, 0, b""))

    def _key(self, problem: Problem, sample: int, solution_line: bytes) -> str:
        digest = self._digests.get(problem.task_id)
        if digest is None:
            digest = hashlib.sha256(encode_line(problem)).digest()
            self._digests[problem.task_id] = digest
        parts = (self.salt, digest, sample.to_bytes(8), hashlib.sha256(solution_line).digest())
        return hashlib.sha256(b"".join(parts)).hexdigest()


def find_packs(path: Path) -> list[Path]:
    """The solution packs that ``path``, a pack or a folder of packs, means.

    Raises:
        InputError: there is none.
    """
    if path.is_dir():
        packs = sorted(path.glob(f"*{PACK_SUFFIX}"))
        if not packs:
            raise InputError(f"holds no *{PACK_SUFFIX}", where=str(path))
        return packs
    if not path.is_file():
        raise InputError("does not exist", where=str(path), fix="pass a solution pack or a folder of packs")
    return [path]


def graded_path(pack: Path, output_dir: Path) -> Path:
    """Where the grades of a pack go: ``<name>-graded-solutions.jsonl``."""
    name = pack.name.removesuffix(PACK_SUFFIX).removesuffix(".tar.gz")
    return output_dir / f"{name}{GRADED_SUFFIX}"


def plan_packs(
    packs: Sequence[Path],
    problems: Sequence[Problem],
    chosen: GroupFilter,
    *,
    skip_missing: bool,
    salt: bytes,
) -> list[PackPlan]:
    """Read every pack once, check it whole, and match it with the problems.

    Raises:
        InputError: a pack or a problem is defective, a pack answers nothing, or packs cover different groups.
    """
    by_id = {problem.task_id: problem for problem in problems}
    plans: list[PackPlan] = []
    covers: dict[Path, tuple[str, ...] | None] = {}
    for path in packs:
        with open_solution_pack(path) as pack:
            groups, task_ids, release = pack.metadata.groups, pack.metadata.task_ids, pack.metadata.release
            counted = Counter(record.item.task_id for record in pack)
        covers[path] = tuple(sorted(groups)) if groups is not None else None
        asked = {
            task_id: problem
            for task_id, problem in by_id.items()
            if chosen.admits(problem.group, problem.metadata.extra("topic"))
            and (groups is None or problem.group in groups)
            and (task_ids is None or task_id in task_ids)
        }
        if not asked:
            raise InputError(
                "answers none of the problems",
                where=str(path),
                fix="check --release, --include and --exclude",
            )
        _refuse_defective(asked.values())
        plans.append(
            PackPlan(
                path=path,
                problems=asked,
                samples=Counter({task: n for task, n in counted.items() if task in asked}),
                unknown=Counter({task: n for task, n in counted.items() if task not in by_id}),
                outside=Counter({t: n for t, n in counted.items() if t in by_id and t not in asked}),
                skip_missing=skip_missing,
                salt=salt,
                foreign_release=None
                if any(release in problem.metadata.releases for problem in asked.values())
                else release,
            )
        )
    if len(set(covers.values())) > 1:
        listed = "; ".join(f"{path.name}: {', '.join(c) if c else 'all'}" for path, c in covers.items())
        raise InputError(
            f"the packs cover different groups ({listed})", fix="grade packs of different groups one by one"
        )
    return plans


def _refuse_defective(problems: Iterable[Problem]) -> None:
    """A problem's own defects would come out as failures, or passes, of the model.

    Raises:
        InputError: naming the first.
    """
    for problem in problems:
        if defect := next(problem_defects(problem), None):
            raise InputError(
                f"the problem {ascii(problem.task_id)[1:-1]} cannot be graded: {defect}",
                fix="mend it, or get the problems anew; ce-release verify lists every defect of a pack",
            )


def check_samples(plan: PackPlan, ks: Sequence[int]) -> None:
    """Refuse a k that some problem has too few samples for; one without any is failed whatever k is.

    Raises:
        InputError: naming the problem with the fewest samples.
    """
    counts = {task: plan.samples[task] for task in plan.problems if plan.samples[task]}
    if not counts:
        return
    task_id = min(counts, key=lambda task: counts[task])
    if max(ks) > counts[task_id]:
        raise InputError(
            f"k = {max(ks)} needs {max(ks)} samples of each problem; {task_id} has {counts[task_id]}",
            where=str(plan.path),
            fix=f"pass --k {counts[task_id]} or generate more samples",
        )
