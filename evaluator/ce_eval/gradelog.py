"""Grades on disk: a journal that survives ``kill -9``, and the graded file, which appears whole.

While a run lasts, each grade is appended to ``<graded file>.partial`` in one write. When all are
there, they are put in plan order into the graded file and the journal goes. A torn last line, the
most a kill can leave, is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from filelock import FileLock, Timeout

from ce_schema.atomic import new_file
from ce_schema.errors import CeError, ExitCode, InputError
from ce_schema.grade import GradedSolution, Outcome

type Place = tuple[Path, int, int]


class JournalError(CeError):
    """The journal cannot be written; grades so far are safe and a rerun goes on from there."""

    exit_code = ExitCode.MACHINE_LACKS


class GradeLog:
    """The grades of one pack, found again by work-item key."""

    def __init__(self, graded: Path) -> None:
        self.graded = graded
        self.partial = graded.with_name(f"{graded.name}.partial")
        # Finished grades that the last run did not ask for, such as those of a wider selection.
        self.previous = graded.with_name(f"{graded.name}.previous")
        self._lock = FileLock(graded.with_name(f".{graded.name}.lock"), timeout=0)
        self._journal: IO[bytes] | None = None
        self._places: dict[str, Place] = {}

    def __enter__(self) -> Self:
        try:
            self.graded.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout:
            raise InputError(
                "another run is grading into this file", where=str(self.graded), fix="wait for it to end"
            ) from None
        except OSError as error:
            raise _not_writable(self.graded, error) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._journal is not None:
            self._journal.close()
        self._lock.release()

    def open(self, *, resume: bool) -> set[str]:
        """Start journalling; returns the keys of the finished grades that can be reused.

        Infrastructure errors say nothing about a solution and are never reused.
        """
        if not resume:
            self.partial.unlink(missing_ok=True)
        else:
            for path in (self.previous, self.graded, self.partial):
                for key, outcome, place in _scan(path):
                    if outcome != Outcome.INFRASTRUCTURE_ERROR:
                        self._places[key] = place
            _cut_torn_line(self.partial)
        try:
            self._journal = self.partial.open("ab", buffering=0)
        except OSError as error:
            raise _not_writable(self.partial, error) from None
        return set(self._places)

    def append(self, grade: GradedSolution) -> None:
        """Record one grade; once this returns, no kill can lose it.

        Raises:
            JournalError: the disk refuses it.
        """
        assert self._journal is not None, "open() comes first"
        line = grade.model_dump_json().encode() + b"\n"
        offset = self._journal.seek(0, os.SEEK_END)
        try:
            written = self._journal.write(line)
            if written != len(line):
                raise OSError(0, "short write: is the disk full?")
        except OSError as error:
            self._journal.truncate(offset)
            raise JournalError(
                f"a grade could not be written: {error.strerror}",
                where=str(self.partial),
                fix="free some space and run again; finished grades are reused",
            ) from None
        self._places[grade.key] = (self.partial, offset, len(line))

    def read(self, keys: Iterable[str]) -> Iterator[bytes]:
        """The lines of the grades with these keys, in that order; those not graded are left out."""
        open_files: dict[Path, IO[bytes]] = {}
        try:
            for key in keys:
                if place := self._places.get(key):
                    path, offset, length = place
                    if path not in open_files:
                        open_files[path] = path.open("rb")
                    open_files[path].seek(offset)
                    yield open_files[path].read(length)
        finally:
            for stream in open_files.values():
                stream.close()

    def finish(self, keys: Iterable[str]) -> None:
        """Write the graded file, in the order of ``keys``, and drop the journal.

        Finished grades that are not among ``keys`` go to `previous`, where a later run finds them.
        """
        keys = list(keys)
        others = self._places.keys() - set(keys)
        try:
            # Both are written before either takes its place, for each is read from what the other replaces.
            with ExitStack() as files:
                for path, chosen in ((self.previous, sorted(others)), (self.graded, keys)):
                    if chosen or path == self.graded:
                        files.enter_context(new_file(path, overwrite=True)).writelines(self.read(chosen))
        except OSError as error:
            raise JournalError(
                f"the graded file could not be written: {error.strerror}",
                where=str(self.graded),
                fix="free some space and run again; finished grades are reused",
            ) from None
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        self.partial.unlink(missing_ok=True)
        if not others:
            self.previous.unlink(missing_ok=True)


def _not_writable(path: Path, error: OSError) -> InputError:
    return InputError(
        f"grades cannot be written here: {error.strerror}", where=str(path), fix="pass another --output-dir"
    )


def _scan(path: Path) -> Iterator[tuple[str, str, Place]]:
    """Key, outcome and place of every whole grade in a file; foreign lines are passed over."""
    if not path.is_file():
        return
    offset = 0
    with path.open("rb") as stream:
        for line in stream:
            if line.endswith(b"\n"):
                try:
                    grade = json.loads(line)
                    key, outcome = grade["key"], grade["outcome"]
                except (ValueError, KeyError, TypeError):
                    key = ""
                if isinstance(key, str) and key:
                    yield key, outcome, (path, offset, len(line))
            offset += len(line)


def _cut_torn_line(path: Path) -> None:
    if not path.is_file():
        return
    with path.open("rb+") as stream:
        size = stream.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - 65536)
            stream.seek(start)
            block = stream.read(end - start)
            if (newline := block.rfind(b"\n")) >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            stream.truncate(end)
