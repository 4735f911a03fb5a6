"""Problems and solutions as lines of a datapack, to the byte.

A line is the compact JSON of the model in field order, nulls kept, UTF-8, one newline at the end:
what the public 2026.2 writer produces. Its MD5 goes into the pack's metadata.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import TYPE_CHECKING

from ce_schema.problem import Problem
from ce_schema.solution import Solution

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# Keys added to the format after lines without them had been published.
LATER_KEYS = frozenset({"base_image"})


@cache
def problem_adapter() -> TypeAdapter[Problem]:
    """The validator of problem lines."""
    from pydantic import TypeAdapter

    return TypeAdapter(Problem)


@cache
def solution_adapter() -> TypeAdapter[Solution]:
    """The validator of solution lines."""
    from pydantic import TypeAdapter

    return TypeAdapter(Solution)


def encode_line(item: Problem | Solution, *, keep_vintage: bool = False) -> bytes:
    """The line of a problem or solution, newline included.

    With ``keep_vintage``, a key that the format gained later and that was absent where the item was
    read stays absent, so that a line of an older pack is written as it was.
    """
    absent = LATER_KEYS - item.model_fields_set if keep_vintage else None
    return item.model_dump_json(exclude=set(absent) if absent else None).encode() + b"\n"


def line_md5(line: bytes) -> str:
    """The MD5 of a line (final newline included), as ``task_id_hashes`` lists it."""
    return hashlib.md5(line, usedforsecurity=False).hexdigest()
