"""Writes datapacks that are the same to the byte wherever they are written."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from ce_schema.atomic import writing
from ce_schema.errors import InputError
from ce_schema.jsonl import LineError, parse_line
from ce_schema.lines import encode_line, line_md5, problem_adapter, solution_adapter
from ce_schema.packlines import (
    LINES_FILE,
    METADATA_FILE,
    Kind,
    PackMetadata,
    ProblemPackMetadata,
    SolutionPackMetadata,
)
from ce_schema.problem import Problem
from ce_schema.solution import Solution
from ce_schema.tarwrite import memory_member, write_archive

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Packs up to this many bytes of lines are put together in memory, larger ones in a file beside the target.
_IN_MEMORY = 64 << 20


@dataclass(frozen=True, slots=True)
class WrittenPack:
    """A pack that was written: where, what its metadata say, and SHA-256 in hex.

    ``sha256`` is over the archive, ``tar_sha256`` over the tar inside, the same with every version of zlib.
    """

    path: Path
    metadata: PackMetadata
    sha256: str
    tar_sha256: str


def write_problem_pack(
    path: str | os.PathLike[str],
    problems: Iterable[bytes | Problem],
    *,
    release: str,
    created_at: str | datetime,
    description: str | None = None,
    extra_metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> WrittenPack:
    """Write ``problems`` as a datapack, in the order given.

    Args:
        path: where to; appears complete or not at all.
        problems: problems, or finished lines of problems that are to stay as they are to the byte.
        release: the release's name.
        created_at: ISO 8601, or a time; without a time zone UTC is meant. Dates the files inside too.
        description: one for people.
        extra_metadata: further keys for ``metadata.json``.
        overwrite: whether ``path`` may exist.

    Raises:
        InputError: a task comes twice, a line is no problem or cannot be written, or the target exists.
    """
    hashes: dict[str, str] = {}

    def note(item: Problem | Solution, line: bytes) -> None:
        if item.task_id in hashes:
            raise InputError(f"task {item.task_id} comes twice", where=str(path))
        hashes[item.task_id] = line_md5(line)

    def metadata(count: int) -> PackMetadata:
        own = {"task_id_hashes": hashes}
        return ProblemPackMetadata(
            **_common(release, count, created_at, description), **_with(own, extra_metadata)
        )

    return _write(Path(path), "problems", problems, note, metadata, created_at, overwrite=overwrite)


def write_solution_pack(
    path: str | os.PathLike[str],
    solutions: Iterable[bytes | Solution],
    *,
    release: str,
    created_at: str | datetime,
    groups: Sequence[str] | None,
    task_ids: Sequence[str] | None = None,
    description: str | None = None,
    extra_metadata: Mapping[str, Any] | None = None,
    overwrite: bool = False,
) -> WrittenPack:
    """Write ``solutions`` as a datapack, in the order given.

    Args:
        path: where to; appears complete or not at all.
        solutions: solutions, or finished lines of solutions that are to stay as they are to the byte.
        release: the release they answer.
        created_at: ISO 8601, or a time; without a time zone UTC is meant. Dates the files inside too.
        groups: the groups they answer, None for all.
        task_ids: the tasks they answer where these are not all of ``groups``; the key is left out for None.
        description: one for people.
        extra_metadata: further keys for ``metadata.json``.
        overwrite: whether ``path`` may exist.

    Raises:
        InputError: a line is no solution or cannot be written, or the target exists.
    """

    def note(item: Problem | Solution, line: bytes) -> None:
        pass

    def metadata(count: int) -> PackMetadata:
        own: dict[str, Any] = {"groups": None if groups is None else list(groups)}
        if task_ids is not None:
            own["task_ids"] = list(task_ids)
        return SolutionPackMetadata(
            **_common(release, count, created_at, description), **_with(own, extra_metadata)
        )

    return _write(Path(path), "solutions", solutions, note, metadata, created_at, overwrite=overwrite)


def _write(
    path: Path,
    kind: Kind,
    items: Iterable[bytes | Problem | Solution],
    note: Callable[[Problem | Solution, bytes], None],
    metadata: Callable[[int], PackMetadata],
    created_at: str | datetime,
    *,
    overwrite: bool,
) -> WrittenPack:
    mtime = _seconds(created_at)
    if not overwrite and os.path.lexists(path):
        raise InputError("exists already", where=str(path), fix="choose another name or ask to overwrite")
    if not path.parent.is_dir():
        raise InputError("its folder does not exist", where=str(path))
    adapter: TypeAdapter[Any] = problem_adapter() if kind == "problems" else solution_adapter()
    # The header of a member tells its size, so the lines are finished before the archive is begun.
    with tempfile.SpooledTemporaryFile(_IN_MEMORY, dir=str(path.parent)) as spool:
        count = size = 0
        for count, given in enumerate(items, 1):
            item, line = _item_and_line(given, adapter, f"item {count} for {path}")
            note(item, line)
            with writing(path):
                spool.write(line)
            size += len(line)
        spool.seek(0)
        summary = metadata(count)
        members = [
            memory_member(METADATA_FILE, summary.encode()),
            (LINES_FILE[kind], size, cast("IO[bytes]", spool)),
        ]
        digests = write_archive(path, members, mtime=mtime, overwrite=overwrite)
    return WrittenPack(path, summary, digests.archive, digests.tar)


def _item_and_line(
    given: bytes | Problem | Solution, adapter: TypeAdapter[Any], where: str
) -> tuple[Problem | Solution, bytes]:
    """What is given, as item and as line.

    A finished line is parsed, and an item's line as well: what could not be read back is not written.
    """
    try:
        line = given if isinstance(given, bytes) else encode_line(given)
        if not isinstance(given, bytes) and _has_non_finite(given.model_dump()):
            raise InputError("holds a number that is not finite, which JSON cannot say", where=where)
        if line.count(b"\n") != 1 or not line.endswith(b"\n"):
            raise InputError("is not one line that ends in a newline", where=where)
        item: Problem | Solution = parse_line(
            line, adapter, lambda item: encode_line(item, keep_vintage=True)
        )
    except (LineError, ValueError) as error:
        raise InputError(f"cannot be written: {error}", where=where) from None
    return item, line


def _has_non_finite(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    if isinstance(value, dict):
        return any(map(_has_non_finite, value.values()))
    return isinstance(value, list | tuple) and any(map(_has_non_finite, value))


def _common(release: str, count: int, created_at: str | datetime, description: str | None) -> dict[str, Any]:
    created = created_at.isoformat() if isinstance(created_at, datetime) else created_at
    return {"release": release, "total_count": count, "created_at": created, "description": description}


def _with(own: dict[str, Any], extra: Mapping[str, Any] | None) -> dict[str, Any]:
    reserved = {
        *own,
        "task_id_hashes",
        "groups",
        "task_ids",
        "release",
        "total_count",
        "created_at",
        "description",
    }
    if taken := sorted(reserved & set(extra or ())):
        raise InputError(f"extra metadata cannot set {', '.join(taken)}")
    return own | dict(extra or {})


def _seconds(created_at: str | datetime) -> int:
    """Seconds since 1970."""
    try:
        time = created_at if isinstance(created_at, datetime) else datetime.fromisoformat(created_at)
    except ValueError:
        raise InputError(f"created_at is not a time in ISO 8601: {created_at!r}") from None
    aware = time if time.tzinfo else time.replace(tzinfo=UTC)
    return max(0, int(aware.timestamp()))
