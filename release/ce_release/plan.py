"""Planning a release: which problems name it in their specs, and what those still lack."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from ce_corpus.folder import load_folder
from ce_corpus.index import choose_folders, problem_folders, short_label
from ce_corpus.manifests import natural_key, read_manifest
from ce_corpus.root import Corpus
from ce_corpus.yamledit import add_release, release_key, remove_release
from ce_schema.errors import FindingsError
from ce_schema.paths import folder_name
from ce_schema.spec import SPEC_FILE


class Step(StrEnum):
    """What happens to a problem's membership."""

    ADD = "added"
    REMOVE = "removed"
    KEEP = "unchanged"
    REFUSE = "refused"
    SKIP = "left out"


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """What happens to one problem, and which releases its spec lists afterwards."""

    task_id: str
    spec: Path
    step: Step
    releases: tuple[str, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A problem folder that a name meant; ``by_name`` when the name was the problem's own."""

    path: Path
    by_name: bool


def choose(corpus: Corpus, names: Sequence[str]) -> list[Chosen]:
    """The folders that names (task ids, folders, groups, topics) mean; without names, all of them.

    Raises:
        InputError: a name means nothing here.
    """
    if not names:
        return [Chosen(path, by_name=False) for path in problem_folders(corpus.problems)]
    found: dict[Path, bool] = {}
    for name in names:
        for path in choose_folders(corpus.problems, [name]):
            own = folder_name(name) == path.name or Path(name).name == path.name
            found[path] = found.get(path, False) or own
    return [Chosen(path, by_name) for path, by_name in found.items()]


def plan_steps(chosen: Iterable[Chosen], release: str, *, remove: bool) -> list[PlannedStep]:
    """What adding or removing ``release`` would do to each problem; writes nothing.

    A problem that is ``do_not_release`` is refused where it was named itself, and left out where a group
    or the whole corpus was meant.
    """
    steps = [_step(item, release, remove) for item in chosen]
    return sorted(steps, key=lambda step: natural_key(step.task_id))


def apply_steps(steps: Iterable[PlannedStep], release: str) -> None:
    """Edit the specs; a step that is done already changes nothing, so a second try completes a first.

    Raises:
        InputError: a spec cannot be written.
    """
    edit = {Step.ADD: add_release, Step.REMOVE: remove_release}
    for step in steps:
        if step.step in edit:
            edit[step.step](step.spec, release)


def refuse_cut_release(corpus: Corpus, release: str) -> None:
    """Raise FindingsError when the release was cut: its problem set is fixed."""
    if manifest := read_manifest(corpus.manifests, release):
        raise FindingsError(
            f"release {release} was cut, and its set of {len(manifest.latest.tasks)} problems is fixed",
            where=str(corpus.manifests / f"{release}.json"),
            fix="plan the next release",
        )


def _step(item: Chosen, release: str, remove: bool) -> PlannedStep:
    folder = load_folder(item.path, short_label(item.path))
    spec_path = item.path / SPEC_FILE
    findings = [*folder.defects, *folder.spec_findings]
    if folder.spec is None:
        why = f"{findings[0].location}: {findings[0].message}" if findings else f"has no {SPEC_FILE}"
        return PlannedStep(item.path.name, spec_path, Step.REFUSE, (), why)
    task_id, metadata = folder.spec.task_id, folder.spec.metadata
    present = tuple(metadata.releases)
    if remove:
        left = tuple(name for name in present if name != release)
        return PlannedStep(task_id, spec_path, Step.REMOVE if left != present else Step.KEEP, left)
    if release in present:
        return PlannedStep(task_id, spec_path, Step.KEEP, present)
    if metadata.do_not_release:
        step = Step.REFUSE if item.by_name else Step.SKIP
        return PlannedStep(task_id, spec_path, step, present, "is do_not_release")
    after = sorted((*present, release), key=release_key)
    return PlannedStep(task_id, spec_path, Step.ADD, tuple(after))
