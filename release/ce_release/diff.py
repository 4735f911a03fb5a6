"""Which problems differ between two releases, and how: in behaviour, or only in what no grade depends on."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from ce_corpus.manifests import natural_sorted
from ce_release.packs import PackedTask, line_behaviour, line_reference
from ce_schema.behaviour import behaviour_facts
from ce_schema.lines import line_md5
from ce_schema.problem import Problem


class Kind(StrEnum):
    """Whether a change can change a grade."""

    BEHAVIOUR = "behaviour"
    INERT = "inert"


@dataclass(frozen=True, slots=True)
class TaskSide:
    """A task on one side of a comparison; ``packed`` is None where only its manifest is at hand."""

    md5: str
    behaviour_sha256: str
    packed: PackedTask | None = None


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field with another value: ``before`` and ``after`` as plain data, None where it is absent.

    Files are named ``context_files/<path>`` and the like, and their contents are the values.
    """

    name: str
    kind: Kind
    before: Any
    after: Any

    @property
    def is_text(self) -> bool:
        """Whether the change is best shown line by line."""
        return any(isinstance(value, str) and "\n" in value for value in (self.before, self.after))

    def unified(self) -> str:
        """The change as a unified diff, each line ended."""
        sides = [value.splitlines() if isinstance(value, str) else [] for value in (self.before, self.after)]
        names = ["/dev/null" if value is None else self.name for value in (self.before, self.after)]
        lines = difflib.unified_diff(sides[0], sides[1], names[0], names[1], lineterm="")
        return "".join(f"{line}\n" for line in lines)


@dataclass(frozen=True, slots=True)
class TaskChange:
    """A task of both sides whose lines differ; ``fields`` is empty where a pack is not at hand."""

    task_id: str
    kind: Kind
    fields: Sequence[FieldChange] = ()


@dataclass(frozen=True, slots=True)
class ReleaseDiff:
    """What differs between two sets of tasks; every list in natural order."""

    added: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    changed: list[TaskChange] = field(default_factory=list)
    same: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def side_of(tasks: Mapping[str, PackedTask]) -> dict[str, TaskSide]:
    """The tasks of a pack as a side of a comparison."""
    return {
        task_id: TaskSide(line_md5(task.raw), line_behaviour(task.problem), task)
        for task_id, task in tasks.items()
    }


def diff_sides(before: Mapping[str, TaskSide], after: Mapping[str, TaskSide]) -> ReleaseDiff:
    """What changed from one side to the other."""
    both = natural_sorted(before.keys() & after.keys())
    changed = [
        _change(task_id, before[task_id], after[task_id])
        for task_id in both
        if before[task_id].md5 != after[task_id].md5
    ]
    return ReleaseDiff(
        added=natural_sorted(after.keys() - before.keys()),
        removed=natural_sorted(before.keys() - after.keys()),
        changed=changed,
        same=len(both) - len(changed),
    )


def _change(task_id: str, before: TaskSide, after: TaskSide) -> TaskChange:
    kind = Kind.INERT if before.behaviour_sha256 == after.behaviour_sha256 else Kind.BEHAVIOUR
    if before.packed is None or after.packed is None:
        return TaskChange(task_id, kind)
    fields = list(field_changes(before.packed.problem, after.packed.problem))
    return TaskChange(task_id, kind, fields or [_other_bytes(before.packed.raw, after.packed.raw, kind)])


def _other_bytes(before: bytes, after: bytes, kind: Kind) -> FieldChange:
    """Equal content in other bytes: keys that came with a later format, order of files, spelling of JSON."""
    one, other = (set(json.loads(raw)) for raw in (before, after))
    if one != other:
        return FieldChange("keys", kind, sorted(one - other), sorted(other - one))
    return FieldChange("order or spelling", kind, None, None)


def field_changes(before: Problem, after: Problem) -> Iterator[FieldChange]:
    """Every field in which two versions of a problem differ, those that decide a grade first."""
    facts = [behaviour_facts(problem, line_reference(problem)) for problem in (before, after)]
    if all(side["reference"] == side["baseline"] for side in facts):
        for side in facts:
            del side["reference"]  # speedups are measured against the reference: one change, said once
    yield from _compare(_flat(facts[0]), _flat(facts[1]), Kind.BEHAVIOUR)
    yield from _compare(_inert(before), _inert(after), Kind.INERT)


def _compare(before: Mapping[str, Any], after: Mapping[str, Any], kind: Kind) -> Iterator[FieldChange]:
    for name in dict.fromkeys((*before, *after)):
        one, other = before.get(name), after.get(name)
        if one != other or (name in before) != (name in after):
            yield FieldChange(name, kind, one, other)


def _flat(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts that a behaviour hash is over, with an entry of its own for each file and metadata key."""
    flat: dict[str, Any] = {}
    for name, value in facts.items():
        if name in {"context_files", "test_files"}:
            flat |= _files(name, value)
        elif name in {"baseline", "reference"} and (value is None or value.get("files")):
            flat |= _files(name, value["files"]) if value else {}
        elif name in {"metadata", "source_references"} and isinstance(value, dict):
            flat |= {f"{name}.{key}": entry for key, entry in value.items()}
        else:
            flat[name] = value
    return flat


def _files(name: str, files: Sequence[tuple[str, str]]) -> dict[str, str]:
    return {f"{name}/{path}": content for path, content in files}


def _inert(problem: Problem) -> dict[str, Any]:
    """What is on the line beside the facts: all keys of it that no fact came from."""
    facts = behaviour_facts(problem, None)
    content = problem.model_dump(mode="json")
    metadata = {key: value for key, value in content["metadata"].items() if key not in facts["metadata"]}
    solutions = {
        "baseline_solution": content.pop("baseline_solution"),
        "metadata.reference_solution": metadata.pop("reference_solution", None),
    }
    inert = {name: value for name, value in content.items() if name not in facts}
    inert |= {f"metadata.{key}": value for key, value in metadata.items()}
    for name, solution in solutions.items():
        if isinstance(solution, dict):
            inert |= {f"{name}.{key}": solution[key] for key in solution if key not in {"files", "patch"}}
    return inert
