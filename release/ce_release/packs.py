"""Packs as releases need them: the tar inside, the reference of a line, and both by task."""

from __future__ import annotations

import gzip
import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from ce_schema.behaviour import behaviour_sha256
from ce_schema.datapack import open_problem_pack
from ce_schema.errors import InputError
from ce_schema.packlines import ProblemPackMetadata
from ce_schema.problem import Problem
from ce_schema.solution import Solution

_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class PackedTask:
    """A line of a pack: its very bytes and what it holds."""

    raw: bytes
    problem: Problem


@dataclass(frozen=True, slots=True)
class LoadedPack:
    """A pack read to its end, every hash checked; tasks in its order."""

    path: Path
    metadata: ProblemPackMetadata
    tasks: dict[str, PackedTask]


def load_pack(path: Path) -> LoadedPack:
    """Read a whole pack of problems.

    Raises:
        InputError: it is none, or is not sound.
    """
    with open_problem_pack(path) as pack:
        tasks = {record.item.task_id: PackedTask(record.raw, record.item) for record in pack}
        return LoadedPack(path, pack.metadata, tasks)


def tar_sha256(path: Path) -> str:
    """SHA-256, in hex, of the tar inside an archive: what every zlib compresses to other bytes.

    Raises:
        InputError: the file cannot be read, or is no sound gzip file.
    """
    digest = hashlib.sha256()
    with _opened(path) as file, gzip.GzipFile(fileobj=file) as stream:
        try:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        except (gzip.BadGzipFile, EOFError, zlib.error) as error:
            raise InputError(f"is no sound archive: {error}", where=str(path)) from None
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    """SHA-256, in hex, of a file.

    Raises:
        InputError: it cannot be read.
    """
    with _opened(path) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _opened(path: Path) -> Iterator[BufferedReader]:
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None


def line_reference(problem: Problem) -> Solution | None:
    """The reference of a packed problem: ``metadata.reference_solution``, else its baseline."""
    from pydantic import ValidationError

    from ce_schema.lines import solution_adapter

    travelling = problem.metadata.extra("reference_solution")
    if travelling is None:
        return problem.baseline_solution
    try:
        return solution_adapter().validate_python(travelling)
    except ValidationError:
        return None


def line_behaviour(problem: Problem) -> str:
    """The behaviour hash of a packed problem, the same as of the folder it was cut from."""
    return behaviour_sha256(problem, line_reference(problem))
