"""What a datapack holds: its metadata and its lines, read one by one and checked against each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from ce_schema.diagnostics import Diagnostic, Location, Severity
from ce_schema.jsonl import LineError, parse_line, split_lines
from ce_schema.lines import encode_line, line_md5, problem_adapter, solution_adapter
from ce_schema.problem import Problem
from ce_schema.solution import Solution
from ce_schema.tarstream import PackError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

type Kind = Literal["problems", "solutions"]
type Report = Callable[[Diagnostic], None]

METADATA_FILE = "metadata.json"
LINES_FILE: dict[Kind, str] = {"problems": "problems.jsonl", "solutions": "solutions.jsonl"}
# The task ids of problems are kept while they are read, to notice one that comes twice.
MAX_PROBLEMS = 200_000
MAX_TASK_ID = 255


class PackMetadata(BaseModel):
    """What every pack says of itself. Keys that a later version of the format adds are kept."""

    model_config = ConfigDict(extra="allow", strict=True)

    release: str
    total_count: int = Field(ge=0)
    created_at: str | None = None
    description: str | None = None

    def encode(self) -> bytes:
        """The content of ``metadata.json`` as the public writer lays it out: indented, no final newline."""
        return self.model_dump_json(indent=2, exclude_unset=True).encode()


class ProblemPackMetadata(PackMetadata):
    """The metadata of a problem pack; ``task_id_hashes`` has the MD5 of each problem's line."""

    task_id_hashes: dict[str, str] | None = None


class SolutionPackMetadata(PackMetadata):
    """The metadata of a solution pack: which groups, and which tasks of them, it answers."""

    groups: list[str] | None = None
    task_ids: list[str] | None = None


@dataclass(frozen=True, slots=True)
class Record[Item]:
    """One line: its number (from 1), its very bytes with the newline, and what it holds."""

    line_number: int
    raw: bytes
    item: Item


class LineReader[Item: (Problem, Solution)]:
    """Reads the lines of one pass over a pack and checks them.

    Args:
        kind: what the lines hold.
        where: what findings call the file of lines.
        max_line_bytes: the longest line to accept.
        metadata: what the pack says of itself, or None where there is nothing to compare with.
        report: gets each finding as it is made; may raise to end the pass.
    """

    def __init__(
        self, kind: Kind, where: str, max_line_bytes: int, metadata: PackMetadata | None, report: Report
    ) -> None:
        self._kind: Kind = kind
        self._where = where
        self._max_line_bytes = max_line_bytes
        self._metadata = metadata
        self._report = report
        self._line_of: dict[str, int] = {}
        self._count = 0

    def records(self, chunks: Iterator[bytes]) -> Iterator[Record[Item]]:
        """The lines that could be read, in order.

        Raises:
            PackError: a line, or how many there are, is over a limit.
        """
        adapter: TypeAdapter[Any] = problem_adapter() if self._kind == "problems" else solution_adapter()
        number = 0
        try:
            for number, raw in split_lines(chunks, self._max_line_bytes):
                self._count += 1
                try:
                    item = parse_line(raw, adapter, _as_written)
                except LineError as error:
                    self._find("pack-line", str(error), number, error.place(raw)[1])
                    continue
                if self._kind == "problems":
                    self._check_problem(item.task_id, raw, number)
                yield Record(number, raw, item)
        except LineError as error:
            raise PackError(str(error), where=Location(self._where, number + 1)) from None
        self._check_totals()

    def _check_problem(self, task_id: str, raw: bytes, number: int) -> None:
        if len(task_id) > MAX_TASK_ID:
            self._find("pack-line", f"the task id is longer than {MAX_TASK_ID} characters", number)
            return
        first = self._line_of.setdefault(task_id, number)
        if first != number:
            self._find("pack-duplicate", f"task {task_id} stands on line {first} already", number)
        elif len(self._line_of) > MAX_PROBLEMS:
            raise PackError(f"holds more than {MAX_PROBLEMS} problems", where=self._where)
        hashes = self._hashes
        if hashes is None:
            return
        listed, actual = hashes.get(task_id), line_md5(raw)
        if listed is None:
            self._find("pack-hash", f"no hash is listed for task {task_id}", number)
        elif listed != actual:
            message = f"task {task_id} has the MD5 {actual}, but {listed[:40]} is listed"
            self._find(
                "pack-hash", message, number, fix="the line or its hash was changed: get the pack anew"
            )

    def _check_totals(self) -> None:
        if self._metadata is None:
            return
        if self._count != self._metadata.total_count:
            total = self._metadata.total_count
            self._find("pack-count", f"holds {self._count} lines, but {METADATA_FILE} counts {total}")
        for task_id in self._hashes or ():
            if task_id not in self._line_of:
                self._find(
                    "pack-hash", f"a hash is listed for task {ascii(task_id)[:200]}, which has no line"
                )

    @property
    def _hashes(self) -> dict[str, str] | None:
        return self._metadata.task_id_hashes if isinstance(self._metadata, ProblemPackMetadata) else None

    def _find(self, rule: str, message: str, line: int = 0, column: int = 0, fix: str | None = None) -> None:
        location = Location(self._where, line, column)
        self._report(Diagnostic(rule, Severity.ERROR, message, location, fix))


def _as_written(item: Problem | Solution) -> bytes:
    return encode_line(item, keep_vintage=True)
