"""Datapacks: ``<release>-problems.tar.gz`` and ``<name>-solutions.tar.gz`` (docs/design.md §3.2).

Readers stream: memory does not grow with the pack. They check hashes, counts and duplicates as they go,
and answer any bytes whatever with items or with a :class:`PackError`. A pack is proved good only when
it was read to its end.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from io import FileIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NoReturn, Self, overload

from ce_schema.diagnostics import Diagnostic, Location, Severity
from ce_schema.jsonl import MAX_LINE_BYTES, LineError, parse_document
from ce_schema.packlines import (
    LINES_FILE,
    METADATA_FILE,
    Kind,
    LineReader,
    PackMetadata,
    ProblemPackMetadata,
    Record,
    Report,
    SolutionPackMetadata,
)
from ce_schema.packwriter import WrittenPack, write_problem_pack, write_solution_pack
from ce_schema.paths import is_task_id, path_defect
from ce_schema.problem import Problem
from ce_schema.solution import Solution
from ce_schema.tarstream import MAX_ARCHIVE_BYTES, GzipStream, PackError, TarStream

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = [
    "PackError",
    "PackMetadata",
    "ProblemPack",
    "ProblemPackMetadata",
    "Record",
    "SolutionPack",
    "SolutionPackMetadata",
    "WrittenPack",
    "open_pack",
    "open_problem_pack",
    "open_solution_pack",
    "read_jsonl",
    "verify_pack",
    "write_problem_pack",
    "write_solution_pack",
]

# Room for the hashes of some 60,000 problems.
MAX_METADATA_BYTES = 4 << 20
MAX_FINDINGS = 1000
_READ_BYTES = 256 << 10


@dataclass(frozen=True, slots=True)
class _Source:
    """An open archive and the limits under which it is read."""

    path: Path
    file: FileIO
    max_bytes: int
    max_line_bytes: int

    def tar(self, *line_files: str) -> TarStream:
        """A walk from the start of the archive, which may hold these files beside the metadata."""
        limits = {METADATA_FILE: MAX_METADATA_BYTES} | dict.fromkeys(line_files, self.max_bytes)
        return TarStream(GzipStream(self.file, str(self.path), self.max_bytes), limits)

    def member(self, name: str) -> str:
        """What errors call a member of the archive."""
        return f"{self.path}!{name}"


class _Pack[Item: (Problem, Solution), Meta: PackMetadata]:
    """An open pack: a context manager, and an iterable that starts at the first line each time."""

    kind: Kind

    def __init__(self, source: _Source, metadata: Meta, *, verify: bool) -> None:
        self.path = source.path
        self.metadata = metadata
        self._source = source
        self._verify = verify

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive; iterations under way end in an error."""
        self._source.file.close()

    def __iter__(self) -> Iterator[Record[Item]]:
        """The lines, in order.

        Raises:
            PackError: at the first line or mark that is not as it should be; a hash, a count or a line
                that is missing or too many only where the pack was opened to be verified.
        """
        return self.records(_raise, self.metadata if self._verify else None)

    def records(self, report: Report, metadata: PackMetadata | None) -> Iterator[Record[Item]]:
        """The lines that could be read; findings about the others go to ``report``.

        Raises:
            PackError: the archive itself is damaged or over a limit.
        """
        name = LINES_FILE[self.kind]
        tar = self._source.tar(name)
        for member in tar.members():
            if member.name == name:
                reader: LineReader[Item] = LineReader(
                    self.kind, self._source.member(name), self._source.max_line_bytes, metadata, report
                )
                yield from reader.records(tar.chunks())


class ProblemPack(_Pack[Problem, ProblemPackMetadata]):
    """An open pack of problems. Iterating yields a :class:`Record` a line."""

    kind: Literal["problems"] = "problems"


class SolutionPack(_Pack[Solution, SolutionPackMetadata]):
    """An open pack of solutions. Iterating yields a :class:`Record` a line."""

    kind: Literal["solutions"] = "solutions"


def open_pack(
    path: str | os.PathLike[str],
    *,
    verify: bool = True,
    max_bytes: int = MAX_ARCHIVE_BYTES,
    max_line_bytes: int = MAX_LINE_BYTES,
) -> ProblemPack | SolutionPack:
    """Open a datapack and read its metadata.

    Args:
        path: the archive.
        verify: check hashes, counts and missing lines while lines are read.
        max_bytes: the most it may unfold to.
        max_line_bytes: the longest line to accept.

    Raises:
        PackError: the file cannot be read, or is no datapack.
    """
    source = _Source(Path(path), _open_regular(Path(path)), max_bytes, max_line_bytes)
    try:
        kind, raw = _survey(source)
        if kind == "problems":
            return ProblemPack(source, _metadata(source, raw, _problem_metadata()), verify=verify)
        return SolutionPack(source, _metadata(source, raw, _solution_metadata()), verify=verify)
    except BaseException:
        source.file.close()
        raise


def open_problem_pack(
    path: str | os.PathLike[str], *, verify: bool = True, max_bytes: int = MAX_ARCHIVE_BYTES
) -> ProblemPack:
    """:func:`open_pack` for a pack that must hold problems."""
    pack = open_pack(path, verify=verify, max_bytes=max_bytes)
    if isinstance(pack, ProblemPack):
        return pack
    pack.close()
    raise PackError("holds solutions, not problems", where=str(path))


def open_solution_pack(
    path: str | os.PathLike[str], *, verify: bool = True, max_bytes: int = MAX_ARCHIVE_BYTES
) -> SolutionPack:
    """:func:`open_pack` for a pack that must hold solutions."""
    pack = open_pack(path, verify=verify, max_bytes=max_bytes)
    if isinstance(pack, SolutionPack):
        return pack
    pack.close()
    raise PackError("holds problems, not solutions", where=str(path))


@overload
def read_jsonl(
    path: str | os.PathLike[str], kind: Literal["problems"] = ..., *, max_line_bytes: int = ...
) -> Iterator[Record[Problem]]: ...
@overload
def read_jsonl(
    path: str | os.PathLike[str], kind: Literal["solutions"], *, max_line_bytes: int = ...
) -> Iterator[Record[Solution]]: ...
def read_jsonl(
    path: str | os.PathLike[str], kind: Kind = "problems", *, max_line_bytes: int = MAX_LINE_BYTES
) -> Iterator[Record[Problem]] | Iterator[Record[Solution]]:
    """The lines of a plain ``.jsonl`` file, checked as those of a pack but for what only metadata can tell.

    Raises:
        PackError: the file cannot be read, or a line is not as it should be.
    """
    reader: LineReader[Problem] = LineReader(kind, str(path), max_line_bytes, None, _raise)
    return reader.records(_file_chunks(Path(path)))


def verify_pack(path: str | os.PathLike[str], *, max_bytes: int = MAX_ARCHIVE_BYTES) -> list[Diagnostic]:
    """Everything that is wrong with a pack. A defect of the archive itself, or a limit, ends the search."""
    findings: list[Diagnostic] = []

    def report(finding: Diagnostic) -> None:
        findings.append(finding)
        if len(findings) >= MAX_FINDINGS:
            raise PackError(f"has more than {MAX_FINDINGS} findings; the rest is not listed", where=str(path))

    try:
        with open_pack(path, max_bytes=max_bytes) as pack:
            if isinstance(pack, ProblemPack):
                _verify_problems(pack, report)
            else:
                _verify_solutions(pack, report)
    except PackError as error:
        findings.append(Diagnostic("pack", Severity.ERROR, error.what, error.location, error.fix))
    return findings


def _verify_problems(pack: ProblemPack, report: Report) -> None:
    if pack.metadata.task_id_hashes is None:
        message = f"{METADATA_FILE} lists no task_id_hashes, so a change to a problem cannot be noticed"
        report(Diagnostic("pack-hash", Severity.WARNING, message, Location(str(pack.path))))
    where = f"{pack.path}!{LINES_FILE['problems']}"
    for record in pack.records(report, pack.metadata):
        problem = record.item
        place = Location(where, record.line_number)
        if not is_task_id(problem.task_id):
            message = f"{problem.task_id!a} cannot be a task id"
            report(Diagnostic("pack-task-id", Severity.ERROR, message, place))
        paths = [file.path for file in (*problem.context_files, *problem.test_files)]
        for file, times in Counter(paths).items():
            if times > 1:
                message = f"task {problem.task_id}: the file {ascii(file)[:200]} stands {times} times"
                report(Diagnostic("pack-path", Severity.ERROR, message, place))
            if defect := path_defect(file):
                message = f"task {problem.task_id}: the path {ascii(file)[:200]} {defect}"
                report(Diagnostic("pack-path", Severity.ERROR, message, place))


def _verify_solutions(pack: SolutionPack, report: Report) -> None:
    where = f"{pack.path}!{LINES_FILE['solutions']}"
    wanted = None if pack.metadata.task_ids is None else frozenset(pack.metadata.task_ids)
    for record in pack.records(report, pack.metadata):
        if wanted is not None and record.item.task_id not in wanted:
            message = f"task {ascii(record.item.task_id)[:200]} is not among the task_ids of {METADATA_FILE}"
            place = Location(where, record.line_number)
            report(Diagnostic("pack-task-id", Severity.ERROR, message, place))


def _raise(finding: Diagnostic) -> NoReturn:
    raise PackError(finding.message, where=finding.location, fix=finding.fix)


def _open_regular(path: Path) -> FileIO:
    """``path``, opened to be read; it must be a regular file: opening a pipe would wait for ever."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as error:
        raise PackError(f"cannot be opened: {error.strerror}", where=str(path)) from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise PackError("is not a regular file", where=str(path))
    return FileIO(descriptor, "rb")


def _file_chunks(path: Path) -> Iterator[bytes]:
    with _open_regular(path) as file:
        while True:
            try:
                chunk = file.read(_READ_BYTES)
            except OSError as error:
                raise PackError(f"cannot be read: {error.strerror}", where=str(path)) from None
            if not chunk:
                return
            yield chunk


def _survey(source: _Source) -> tuple[Kind, bytes]:
    """Which kind of pack it is, and its ``metadata.json``; the order of the two files is the writer's."""
    kind: Kind | None = None
    metadata: bytes | None = None
    kind_of: dict[str, Kind] = {name: kind for kind, name in LINES_FILE.items()}
    tar = source.tar(*kind_of)
    for member in tar.members():
        if member.name == METADATA_FILE:
            metadata = b"".join(tar.chunks())
        else:
            kind = kind_of[member.name]
        if kind is not None and metadata is not None:
            return kind, metadata
    missing = METADATA_FILE if metadata is None else " or ".join(kind_of)
    raise PackError(f"holds no {missing}", where=str(source.path), fix="it is not a datapack")


def _metadata[Meta: PackMetadata](source: _Source, raw: bytes, adapter: TypeAdapter[Meta]) -> Meta:
    try:
        return parse_document(raw, adapter)
    except LineError as error:
        place = Location(source.member(METADATA_FILE), *error.place(raw))
        raise PackError(str(error), where=place if place.column else source.member(METADATA_FILE)) from None


@cache
def _problem_metadata() -> TypeAdapter[ProblemPackMetadata]:
    from pydantic import TypeAdapter

    return TypeAdapter(ProblemPackMetadata)


@cache
def _solution_metadata() -> TypeAdapter[SolutionPackMetadata]:
    from pydantic import TypeAdapter

    return TypeAdapter(SolutionPackMetadata)
