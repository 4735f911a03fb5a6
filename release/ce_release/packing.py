"""Writing the pack of a release once: whole or not at all, and never over another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ce_release.packs import file_sha256, tar_sha256
from ce_schema.datapack import write_problem_pack
from ce_schema.errors import FindingsError, InputError
from ce_schema.tarwrite import Digests


def write_pack(
    path: Path,
    lines: Sequence[bytes],
    *,
    release: str,
    created_at: str,
    description: str | None,
    extra: Mapping[str, Any],
    overwrite: bool = False,
) -> Digests:
    """Write a pack and return the digests of what lies there then.

    A file that stands there already with the same tar inside, as a cut that was interrupted leaves it,
    is kept as it is.

    Raises:
        FindingsError: another file stands there, and ``overwrite`` is false.
        InputError: the place cannot be written; what stood there is untouched.
    """

    def write(target: Path, *, replace: bool) -> Digests:
        written = write_problem_pack(
            target,
            lines,
            release=release,
            created_at=created_at,
            description=description,
            extra_metadata=extra,
            overwrite=replace,
        )
        return Digests(written.sha256, written.tar_sha256)

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if overwrite or not path.exists():
            return write(path, replace=overwrite)
        twin = path.with_name(f".{path.name}.again")
        try:
            wanted = write(twin, replace=True).tar
        finally:
            twin.unlink(missing_ok=True)
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(path), fix="check space and permissions"
        ) from None
    if _tar_of(path) != wanted:
        raise FindingsError(
            "exists and holds something else than this cut",
            where=str(path),
            fix="move it away, or choose another --output-dir",
        )
    return Digests(file_sha256(path), wanted)


def _tar_of(path: Path) -> str | None:
    """The digest of the tar in whatever lies at ``path``; None when that is no archive."""
    try:
        return tar_sha256(path)
    except InputError:
        return None
