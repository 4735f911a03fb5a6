"""Text files of a problem: UTF-8 with LF and nothing else; what is not is a finding, never replaced."""

from __future__ import annotations

import codecs
from pathlib import Path

from ce_schema.diagnostics import Diagnostics, Location

MAX_FILE_BYTES = 4 << 20


def read_text(path: str | Path, label: str, diag: Diagnostics) -> str | None:
    """The text of ``path``, or None when it has a finding that forbids to use it as text.

    Findings: ``text.unreadable``, ``text.too-large``, ``text.not-utf8``, ``text.nul``, ``text.bom``,
    ``text.crlf``; each names line and column, and the byte offset where that helps.
    """
    try:
        with open(path, "rb") as stream:  # noqa: PTH123 - many are read
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        diag.error("text.unreadable", f"cannot be read: {error.strerror}", Location(label))
        return None
    return decode_text(data, label, diag)


def require_text(path: Path) -> str:
    """The text of ``path``.

    Raises:
        InputError: it has a finding of `read_text`.
    """
    diag = Diagnostics()
    text = read_text(path, str(path), diag)
    if text is None:
        raise diag.items[0].as_error()
    return text


def decode_text(data: bytes, label: str, diag: Diagnostics) -> str | None:
    """``data`` as text, under the same rules as `read_text`."""
    if len(data) > MAX_FILE_BYTES:
        diag.error(
            "text.too-large",
            f"is larger than {MAX_FILE_BYTES >> 20} MiB",
            Location(label),
            "generate large inputs in the test instead of shipping them",
        )
        return None
    before = len(diag.items)
    if data.startswith(codecs.BOM_UTF8):
        diag.error("text.bom", "starts with a byte order mark", Location(label, 1, 1), "save without BOM")
    if (offset := data.find(b"\0")) >= 0:
        diag.error(
            "text.nul",
            f"has a NUL byte at byte offset {offset}; problems hold text only",
            place(data, offset, label),
            "remove the byte, or generate binary data in the test",
        )
    if (offset := data.find(b"\r")) >= 0:
        diag.error(
            "text.crlf",
            f"has a carriage return at byte offset {offset}",
            place(data, offset, label),
            "convert to LF line endings",
        )
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        diag.error(
            "text.not-utf8",
            f"is not UTF-8: byte 0x{data[error.start]:02x} at byte offset {error.start}",
            place(data, error.start, label),
            "save as UTF-8",
        )
        return None
    return text if len(diag.items) == before else None


def place(data: bytes, offset: int, label: str) -> Location:
    """Line and column (in characters, from 1) of a byte offset."""
    start = data.rfind(b"\n", 0, offset) + 1
    column = len(data[start:offset].decode(errors="replace")) + 1
    return Location(label, data.count(b"\n", 0, offset) + 1, column)


def text_place(text: str, offset: int, label: str) -> Location:
    """Line and column (from 1) of a character offset."""
    line = text.count("\n", 0, offset)
    return Location(label, line + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1)
