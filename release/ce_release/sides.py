"""What a user means by a release on the command line: a pack, ``RELEASE`` or ``RELEASE@REVISION``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ce_corpus.manifests import Manifest, Revision, read_manifest, released
from ce_corpus.root import Corpus
from ce_release.diff import TaskSide, side_of
from ce_release.names import ReleaseRef, parse_ref
from ce_release.packs import load_pack, tar_sha256
from ce_schema.errors import InputError, did_you_mean


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison. ``pack`` is None where only the manifest was found."""

    name: str
    pack: Path | None
    tasks: dict[str, TaskSide]


def is_pack(text: str) -> bool:
    """Whether ``text`` names a file rather than a release; release names have neither ``/`` nor ``.``."""
    return "/" in text or "." in text or Path(text).is_file()


def resolve_side(text: str, corpus: Callable[[], Corpus], packs: Path) -> Side:
    """The tasks that ``text`` means: those of a pack file, else of a release in the corpus's manifests.

    Args:
        text: as typed.
        corpus: opens the corpus, which pack files do not need.
        packs: where the packs of releases lie.

    Raises:
        InputError: ``text`` is neither, or the pack is not sound or not what the manifest froze.
    """
    if is_pack(text):
        return Side(text, Path(text), side_of(load_pack(Path(text)).tasks))
    ref = parse_ref(text)
    manifest = require_manifest(corpus(), ref.release)
    return _frozen(ref, manifest.find(ref.revision), packs)


def require_manifest(corpus: Corpus, release: str) -> Manifest:
    """The manifest of a release.

    Raises:
        InputError: the release was never cut.
    """
    manifest = read_manifest(corpus.manifests, release)
    if manifest is None:
        known = released(corpus.manifests)
        raise InputError(
            f"release {release} was never cut here.{did_you_mean(release, known)}",
            where=str(corpus.manifests),
            fix=f"cut so far: {', '.join(known)}" if known else "no release was cut so far",
        )
    return manifest


def _frozen(ref: ReleaseRef, revision: Revision, packs: Path) -> Side:
    name = f"{ref.release}@{revision.revision}"
    path = packs / revision.pack.file
    if path.is_file():
        if tar_sha256(path) != revision.pack.tar_sha256:
            raise InputError(
                f"is not the pack that the manifest froze as {name}",
                where=str(path),
                fix="name another folder with --packs, or move the file away to compare by hashes",
            )
        return Side(name, path, side_of(load_pack(path).tasks))
    tasks = {task: TaskSide(record.md5, record.behaviour_sha256) for task, record in revision.tasks.items()}
    return Side(name, None, tasks)
