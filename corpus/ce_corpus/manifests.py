"""Release manifests: what each revision of a release froze, one committed JSON file a release.

A manifest is evidence, so reading one checks what no later edit may break: revisions count from 1,
every revision holds the same tasks, and exactly the tasks that changed have a written reason.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ce_corpus.yamledit import release_key
from ce_schema.atomic import write_text
from ce_schema.errors import InputError, first_of
from ce_schema.spec import RELEASE_PATTERN

MANIFEST_VERSION = 1

type Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
type Md5 = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class _Record(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TaskRecord(_Record):
    """What identifies a task in a revision: MD5 of its line, hash of its behaviour."""

    md5: Md5
    behaviour_sha256: Sha256


class PackRecord(_Record):
    """The archive of a revision. ``tar_sha256`` is over the tar inside, which no zlib can vary."""

    file: Annotated[str, Field(pattern=r"^[^/\\]+$")]
    sha256: Sha256
    tar_sha256: Sha256


class CertifyingMachine(_Record):
    """A kind of machine on which ``tasks`` certificates of the revision were earned."""

    gpu: str | None
    compute_capability: str | None
    driver: str | None
    cuda_toolkit: str | None
    image_digest: str | None
    mode: str
    tasks: Annotated[int, Field(ge=1)]


class CertifiedOn(_Record):
    """Where the certificates were earned, and for which tasks that is not their ``base_image``."""

    machines: tuple[CertifyingMachine, ...]
    differs_from_base_image: dict[str, str] = Field(default_factory=dict)


class Revision(_Record):
    """One revision. ``policy`` is what was asked of the tasks that this revision brought or changed.

    ``groups`` counts the tasks of each group; ``reasons`` says why each changed task did.
    """

    revision: Annotated[int, Field(ge=1)]
    created_at: str
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    toolkit_version: str
    description: str | None
    pack: PackRecord
    policy: dict[str, Any]
    certified_on: CertifiedOn
    groups: dict[str, Annotated[int, Field(ge=1)]]
    tasks: Annotated[dict[str, TaskRecord], Field(min_length=1)]
    reasons: dict[str, str] = Field(default_factory=dict)


class Manifest(_Record):
    """A release: its revisions, oldest first."""

    manifest_version: int = MANIFEST_VERSION
    release: Annotated[str, Field(pattern=RELEASE_PATTERN)]
    revisions: Annotated[tuple[Revision, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _keeps_its_promises(self) -> Self:
        for place, revision in enumerate(self.revisions, start=1):
            if revision.revision != place:
                raise ValueError(f"revision {revision.revision} stands where {place} belongs")
        for before, after in zip(self.revisions, self.revisions[1:], strict=False):
            if before.tasks.keys() != after.tasks.keys():
                odd = natural_sorted(before.tasks.keys() ^ after.tasks.keys())[0]
                raise ValueError(f"revision {after.revision} does not hold the same tasks: {odd}")
            changed = changed_tasks(before.tasks, after.tasks)
            if unlike := set(changed) ^ after.reasons.keys():
                odd = natural_sorted(unlike)[0]
                lacks = "changed without a reason" if odd in changed else "has a reason but did not change"
                raise ValueError(f"revision {after.revision}: {odd} {lacks}")
        if self.revisions[0].reasons:
            raise ValueError("the first revision changes nothing, so it can hold no reasons")
        return self

    @property
    def latest(self) -> Revision:
        """The newest revision."""
        return self.revisions[-1]

    def find(self, revision: int | None) -> Revision:
        """That revision, or the newest for None.

        Raises:
            InputError: there is no such revision.
        """
        if revision is None:
            return self.latest
        if not 1 <= revision <= len(self.revisions):
            count = len(self.revisions)
            raise InputError(
                f"release {self.release} has no revision {revision}",
                fix=f"it has revision{'s 1 to ' if count > 1 else ' '}{count}",
            )
        return self.revisions[revision - 1]

    def origin(self, task_id: str) -> Revision:
        """The revision that brought the task's present line."""
        present = self.latest.tasks[task_id].md5
        origin = self.latest
        for revision in reversed(self.revisions):
            if revision.tasks[task_id].md5 != present:
                break
            origin = revision
        return origin


def changed_tasks(before: dict[str, TaskRecord], after: dict[str, TaskRecord]) -> list[str]:
    """The tasks of both whose lines differ, in natural order."""
    return natural_sorted(
        task for task in before.keys() & after.keys() if before[task].md5 != after[task].md5
    )


def natural_key(text: str) -> tuple[tuple[int, int | str], ...]:
    """Sort key under which ``cub/2`` comes before ``cub/10``."""
    parts = re.split(r"([0-9]+)", text)
    return tuple((0, int(part)) if part.isdecimal() else (1, part) for part in parts if part)


def natural_sorted(texts: Iterable[str]) -> list[str]:
    """``texts`` with numbers inside them in numeric order (and the texts' own order as a tie-break)."""
    return sorted(texts, key=lambda text: (natural_key(text), text))


def manifest_path(folder: Path, release: str) -> Path:
    """Where the manifest of a release lies."""
    return folder / f"{release}.json"


def read_manifest(folder: Path, release: str) -> Manifest | None:
    """The manifest of a release, or None when that release was never cut.

    Raises:
        InputError: the file is no manifest, or breaks a promise of releases.
    """
    path = manifest_path(folder, release)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    manifest = parse_manifest(data, str(path))
    if manifest.release != release:
        raise _broken(str(path), f"it speaks of release {manifest.release}")
    return manifest


def parse_manifest(data: bytes, label: str) -> Manifest:
    """The manifest in ``data``; ``label`` is how messages name it.

    Raises:
        InputError: it is no manifest, or breaks a promise of releases.
    """
    try:
        return Manifest.model_validate_json(data)
    except ValidationError as error:
        raise _broken(label, first_of(error)) from None


def released(folder: Path) -> list[str]:
    """The names of the releases that have a manifest in the folder, oldest release first."""
    return sorted((path.stem for path in folder.glob("*.json")), key=lambda name: (release_key(name), name))


def read_manifests(folder: Path) -> dict[str, Manifest]:
    """Every manifest of the folder, by release, oldest release first.

    Raises:
        InputError: one of them is no manifest, or breaks a promise of releases.
    """
    found = {name: read_manifest(folder, name) for name in released(folder)}
    return {name: manifest for name, manifest in found.items() if manifest is not None}


def encode_manifest(manifest: Manifest) -> str:
    """The manifest as its file holds it: keys sorted where their order means nothing."""
    data = manifest.model_dump(mode="json")
    for revision in data["revisions"]:
        for holder, key in (
            (revision, "groups"),
            (revision, "tasks"),
            (revision, "reasons"),
            (revision["certified_on"], "differs_from_base_image"),
        ):
            holder[key] = {name: holder[key][name] for name in natural_sorted(holder[key])}
    return json.dumps(data, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_manifest(folder: Path, manifest: Manifest) -> Path:
    """Write a manifest whole or not at all, and return its path.

    Raises:
        InputError: the place cannot be written.
    """
    path = manifest_path(folder, manifest.release)
    write_text(path, encode_manifest(manifest))
    return path


def _broken(label: str, why: str) -> InputError:
    return InputError(
        f"is no sound manifest: {why}",
        where=label,
        fix="restore it from git; manifests are written by ce-release cut alone",
    )
