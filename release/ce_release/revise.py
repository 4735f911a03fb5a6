"""What a revision may do to a release: correct problems, each with a reason, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ce_corpus.manifests import natural_sorted
from ce_release.candidates import Candidate
from ce_release.packs import PackedTask, line_reference
from ce_release.policy import Lack
from ce_schema.behaviour import behaviour_facts
from ce_schema.lines import problem_adapter
from ce_schema.problem import Problem


@dataclass(frozen=True, slots=True)
class RevisedLines:
    """The lines of a revision, in the order of the release, and the tasks whose lines are new."""

    lines: dict[str, bytes]
    changed: list[str]


def revised_lines(previous: Mapping[str, PackedTask], candidates: Mapping[str, Candidate]) -> RevisedLines:
    """Old bytes where a problem is the same, new ones where it changed; tasks of both only.

    The same is a problem whose line differs at most in which releases it lists, in keys that the
    format gained since, and in the order of its files.
    """
    lines: dict[str, bytes] = {}
    changed = []
    for task_id, old in previous.items():
        candidate = candidates.get(task_id)
        if candidate is None or candidate.line is None:
            continue
        lines[task_id] = old.raw
        if candidate.line != old.raw and not _same(
            old.problem, problem_adapter().validate_json(candidate.line)
        ):
            lines[task_id] = candidate.line
            changed.append(task_id)
    return RevisedLines(lines, natural_sorted(changed))


def membership_lacks(
    previous: Mapping[str, PackedTask], candidates: Mapping[str, Candidate], left_out: Iterable[str]
) -> list[Lack]:
    """The tasks that a revision would add, remove or rename; ``left_out`` are the ``do_not_release`` ones."""
    added = candidates.keys() - previous.keys()
    removed = previous.keys() - candidates.keys()
    held = frozenset(left_out)
    renamed = _renames(
        {task_id: previous[task_id].problem for task_id in removed},
        {task_id: line for task_id in added if (line := candidates[task_id].line) is not None},
    )
    lacks = []
    for task_id in natural_sorted(removed):
        if task_id in held:
            what, fix = "is do_not_release now, but the release holds it", "take the mark away"
        elif task_id in renamed:
            what = f"was renamed to {renamed[task_id]}; ids of released tasks are fixed"
            fix = f"give it back the name {task_id}"
        else:
            what, fix = "is gone or left the release; a release never loses a task", "restore it"
        lacks.append(Lack(task_id, "removed", what, fix))
    for task_id in natural_sorted(added - set(renamed.values())):
        what = "is new; a release never gains a task"
        lacks.append(Lack(task_id, "added", what, "plan it for the next release instead"))
    return lacks


def reason_lacks(changed: Iterable[str], reasons: Mapping[str, str]) -> list[Lack]:
    """The changed tasks without a reason, and the reasons for tasks that did not change."""
    wanted = frozenset(changed)
    lacks = [
        Lack(task_id, "reason", "changed, and no reason is given", f'--reason {task_id}="why"')
        for task_id in natural_sorted(wanted - reasons.keys())
    ]
    return lacks + [
        Lack(task_id, "reason", "has a reason but did not change", "leave the reason out")
        for task_id in natural_sorted(reasons.keys() - wanted)
    ]


def _same(old: Problem, new: Problem) -> bool:
    return _content(old) == _content(new)


def _content(problem: Problem) -> dict[str, Any]:
    """All that a line says, in one spelling; which releases hold the problem is not about the problem."""
    content = problem.model_dump(mode="json")
    del content["metadata"]["releases"]
    solutions = [content["baseline_solution"], content["metadata"].get("reference_solution")]
    for holder, key in (
        (content, "context_files"),
        (content, "test_files"),
        *(
            (solution, "files")
            for solution in solutions
            if isinstance(solution, dict) and "files" in solution
        ),
    ):
        holder[key] = sorted(holder[key], key=lambda file: (file["path"], file["content"]))
    return content


def _renames(gone: Mapping[str, Problem], new: Mapping[str, bytes]) -> dict[str, str]:
    """Tasks that came back under another id with all else as it was."""
    if not gone or not new:
        return {}
    came = {
        task_id: _nameless(problem_adapter().validate_json(line)) for task_id, line in sorted(new.items())
    }
    found: dict[str, str] = {}
    for task_id in sorted(gone):
        facts = _nameless(gone[task_id])
        twin = next((name for name, other in came.items() if other == facts), None)
        if twin is not None:
            found[task_id] = twin
            del came[twin]
    return found


def _nameless(problem: Problem) -> dict[str, Any]:
    facts = behaviour_facts(problem, line_reference(problem))
    del facts["task_id"]
    return facts
