"""Lines of JSON from strangers: split and parsed within fixed bounds, every defect with its column.

What pydantic's parser lets through and the format does not have is refused here: ``NaN`` and
``Infinity``, a key twice in one object, and lines that unfold to far more memory than they have bytes.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError

MAX_LINE_BYTES = 64 << 20
# A JSON value takes up to about half a kilobyte while it is checked, however few bytes it has on the line;
# the problems published so far have a few hundred values a line.
MAX_VALUES = 200_000
# Some writers end a file with blank lines; a flood of them is no pack.
MAX_BLANK_LINES = 1000
_MOST_REPORTED = 1000

# A string that nothing closes goes to the end: were it no match, each quote in it would be tried, each time
# to the end.
_STRING = re.compile(rb'"[^"\\]*+(?:\\.?[^"\\]*+)*+"?+', re.DOTALL)
# A string, with the colon if it is a key, or a bracket.
_STRING_OR_BRACKET = re.compile(r'("[^"\\]*+(?:\\.?[^"\\]*+)*+"?+)(\s*+:)?+|[\[\]{}]', re.DOTALL)
_POSITION = re.compile(r" at line (\d+) column (\d+)\Z")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class LineError(ValueError):
    """Text that is not what it should be; ``offset`` counts characters from 0, None means all of it."""

    def __init__(self, what: str, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(what)

    def place(self, raw: bytes) -> tuple[int, int]:
        """Line and column of the error in ``raw``, from 1; column 0 where all of it is meant."""
        if self.offset is None:
            return 1, 0
        # What is missing at the end is missing at the end of the last line, not on one after it.
        before = raw.decode(errors="replace").rstrip("\n")[: self.offset]
        return before.count("\n") + 1, len(before) - before.rfind("\n")


def split_lines(chunks: Iterator[bytes], max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """The lines with their numbers (from 1), newlines included; blank ones are left out.

    Raises:
        LineError: a line is longer than ``max_bytes``, or there are too many blank ones; the line's
            number is the one after the last that was yielded.
    """
    number = blank = 0
    # Where a long line is put together; it hands its bytes over without another copy of them.
    pending = io.BytesIO()
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start) + 1) > 0:
            line = chunk[start:end]
            if pending.tell():
                pending.write(line)
                line, pending = pending.getvalue(), io.BytesIO()
            start = end
            number += 1
            if line.isspace():
                blank += 1
                if blank > MAX_BLANK_LINES:
                    raise LineError(f"has more than {MAX_BLANK_LINES} blank lines")
            elif len(line) > max_bytes:
                raise LineError(f"a line is longer than {max_bytes} bytes")
            else:
                yield number, line
        pending.write(chunk[start:])
        if pending.tell() > max_bytes:
            raise LineError(f"a line is longer than {max_bytes} bytes")
    if (line := pending.getvalue()) and not line.isspace():
        yield number + 1, line


def parse_line[T](raw: bytes, adapter: TypeAdapter[T], encode: Callable[[T], bytes]) -> T:
    """The item on a line.

    Args:
        raw: the line, newline included.
        adapter: what it must be.
        encode: the item's line. A line that reads as it would be written needs no closer look.

    Raises:
        LineError: the line is no such item.
    """
    check_values(raw)
    item = _validate(raw, adapter)
    if not _is_canonical(item, raw, encode):
        check_json(raw)
    return item


def parse_document[T](raw: bytes, adapter: TypeAdapter[T]) -> T:
    """The item in a whole JSON document; as strict as :func:`parse_line`.

    Raises:
        LineError: the document is no such item.
    """
    check_values(raw)
    item = _validate(raw, adapter)
    check_json(raw)
    return item


def _validate[T](raw: bytes, adapter: TypeAdapter[T]) -> T:
    from pydantic import ValidationError

    try:
        return adapter.validate_json(raw)
    except ValidationError as error:
        raise _invalid(raw, error) from None


def check_values(raw: bytes) -> None:
    """Refuse JSON of more than ``MAX_VALUES`` values.

    Raises:
        LineError: it has more.
    """
    # Each value but the first follows a comma or opens a container; most lines are done with the upper bound.
    marks = (b",", b"[", b"{")
    if len(raw) <= MAX_VALUES or sum(raw.count(mark) for mark in marks) <= MAX_VALUES:
        return
    values = start = 0
    for string in _STRING.finditer(raw):
        values += sum(raw.count(mark, start, string.start()) for mark in marks)
        start = string.end()
        if values > MAX_VALUES:
            break
    values += sum(raw.count(mark, start) for mark in marks)
    if values > MAX_VALUES:
        raise LineError(f"holds more than {MAX_VALUES} values")


def check_json(raw: bytes) -> None:
    """Refuse what JSON parsers disagree about: a key twice in one object, and numbers that are not finite.

    Raises:
        LineError: the text has either, or is no JSON.
    """
    try:
        text = raw.decode()
        json.loads(text, object_pairs_hook=_no_twins, parse_constant=_no_constant, parse_float=_finite)
    except _TwinKey:
        raise _twin_error(text) from None
    except _NotFinite as number:
        literal = str(number)
        raise LineError(f"{literal} is not a JSON number", text.find(literal)) from None
    except UnicodeDecodeError as error:
        raise LineError("is not UTF-8", _characters(raw[: error.start])) from None
    except json.JSONDecodeError as error:
        raise LineError(f"is not JSON: {error.msg}", error.pos) from None
    except (ValueError, RecursionError) as error:
        raise LineError(f"is not JSON: {error}") from None


class _TwinKey(Exception):  # noqa: N818 - a signal inside this module
    pass


class _NotFinite(Exception):  # noqa: N818 - a signal inside this module
    pass


def _no_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(pairs)
    if len(keys) < len(pairs):
        raise _TwinKey
    return keys


def _no_constant(literal: str) -> NoReturn:
    raise _NotFinite(literal)


def _finite(literal: str) -> float:
    number = float(literal)
    if not math.isfinite(number):
        raise _NotFinite(literal)
    return number


def _twin_error(text: str) -> LineError:
    """The error for the first key that comes twice in one object of ``text``, which is JSON that has one."""
    open_keys: list[set[str]] = []
    for token in _STRING_OR_BRACKET.finditer(text):
        mark = token[0]
        if mark in "[{":
            open_keys.append(set())
        elif mark in "]}":
            open_keys.pop()
        elif token[2]:
            name = json.loads(token[1])
            if name in open_keys[-1]:
                return LineError(f"an object has the key {_short(name)} twice", token.start())
            open_keys[-1].add(name)
    return LineError("an object has a key twice")


def _is_canonical[T](item: T, raw: bytes, encode: Callable[[T], bytes]) -> bool:
    from pydantic_core import PydanticSerializationError

    try:
        return encode(item) == raw
    except (PydanticSerializationError, RecursionError):
        return False


def _invalid(raw: bytes, error: ValidationError) -> LineError:
    """The first thing that is wrong with ``raw``, in words."""
    if error.error_count() > _MOST_REPORTED:
        return LineError(f"does not follow the format in {error.error_count()} places")
    first = error.errors(include_url=False, include_input=False)[0]
    if first["type"] != "json_invalid":
        place = _short(".".join(str(part) for part in first["loc"]))
        return LineError(f"{place}: {first['msg']}" if place else str(first["msg"]))
    if raw.startswith(_BYTE_ORDER_MARK):
        return LineError("is not JSON: it starts with a byte order mark", 0)
    reason = str(first["ctx"]["error"])
    position = _POSITION.search(reason)
    if not position:
        return LineError(f"is not JSON: {reason}")
    # The parser counts bytes, the column of the last one it read.
    lines = raw.split(b"\n", int(position[1]))
    before = b"".join(line + b"\n" for line in lines[: int(position[1]) - 1])
    before += lines[int(position[1]) - 1][: max(int(position[2]) - 1, 0)]
    return LineError(f"is not JSON: {reason[: position.start()]}", _characters(before))


def _characters(raw: bytes) -> int:
    return len(raw.decode(errors="replace"))


def _short(text: str) -> str:
    """``text`` for a message: no control characters, not endless."""
    return ascii(text[:100])[1:-1] + ("..." if len(text) > 100 else "")
