"""Writing the pack of a release once: whole or not at all, and never over another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ce_release.packs import file_sha256, tar_sha256
from ce_schema.datapack import ProblemPackMetadata, write_problem_pack
from ce_schema.errors import FindingsError, InputError


@dataclass(frozen=True, slots=True)
class FrozenPack:
    """A pack as it lies on disk: SHA-256, in hex, of the archive and of its tar, MD5 of each task's line."""

    path: Path
    sha256: str
    tar_sha256: str
    md5: Mapping[str, str]


def write_pack(
    path: Path,
    lines: Sequence[bytes],
    *,
    release: str,
    created_at: str,
    description: str | None,
    extra: Mapping[str, Any],
    overwrite: bool = False,
) -> FrozenPack:
    """Write a pack and return what identifies what lies there then.

    A file that stands there already with the same tar inside, as a cut that was interrupted leaves it,
    is kept as it is.

    Raises:
        FindingsError: another file stands there, and ``overwrite`` is false.
        InputError: the place cannot be written; what stood there is untouched.
    """

    def write(target: Path, *, replacing: bool) -> FrozenPack:
        written = write_problem_pack(
            target,
            lines,
            release=release,
            created_at=created_at,
            description=description,
            extra_metadata=extra,
            overwrite=replacing,
        )
        metadata = written.metadata
        assert isinstance(metadata, ProblemPackMetadata), "a pack of problems was written"
        return FrozenPack(path, written.sha256, written.tar_sha256, metadata.task_id_hashes or {})

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if overwrite or not path.exists():
            return write(path, replacing=overwrite)
        twin = path.with_name(f".{path.name}.again")
        try:
            wanted = write(twin, replacing=True)
        finally:
            twin.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(path), fix="check space and permissions"
        ) from None
    if _tar_of(path) != wanted.tar_sha256:
        raise FindingsError(
            "exists and holds something else than this cut",
            where=str(path),
            fix="move it away, or choose another --output-dir",
        )
    return replace(wanted, sha256=file_sha256(path))


def _tar_of(path: Path) -> str | None:
    """The digest of the tar in whatever lies at ``path``; None when that is no archive."""
    try:
        return tar_sha256(path)
    except InputError:
        return None
