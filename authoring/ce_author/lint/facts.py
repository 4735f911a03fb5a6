"""What rules ask of a problem: values of the spec that may be missing or of a wrong type, and places.

Rules read the written values rather than the validated spec, so that one misspelled key does not
silence everything else there is to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ce_corpus.folder import PARTS, ProblemFolder
from ce_corpus.textfile import text_place
from ce_corpus.yamltext import Key
from ce_schema.diagnostics import Location
from ce_schema.solution import SourceFile


def value_at(folder: ProblemFolder, *path: Key) -> Any:
    """The written value at ``path``, or None."""
    value: Any = folder.document.data if folder.document else None
    for key in path:
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value


def text_at(folder: ProblemFolder, *path: Key) -> str | None:
    """The written value at ``path`` where it is text, else None."""
    value = value_at(folder, *path)
    return value if isinstance(value, str) else None


def texts_at(folder: ProblemFolder, *path: Key) -> list[tuple[int, str]]:
    """The text items of the list at ``path`` with their indices; empty where there is no list."""
    value = value_at(folder, *path)
    if not isinstance(value, list):
        return []
    return [(index, item) for index, item in enumerate(value) if isinstance(item, str)]


def source_files(folder: ProblemFolder, *parts: str) -> Iterator[tuple[str, SourceFile]]:
    """The files of the named parts (all where none is named), each with its label."""
    for part in parts or PARTS:
        for file in getattr(folder, part):
            yield f"{folder.label}/{part}/{file.path}", file


def place_in_value(folder: ProblemFolder, path: tuple[Key, ...], offset: int) -> Location:
    """Place of the character at ``offset`` of a text value, as exactly as its notation allows."""
    value, place = text_at(folder, *path), folder.where(*path)
    if value is None or folder.document is None or not place.line:
        return place
    lines = folder.document.text.split("\n")
    first = lines[place.line - 1][place.column - 1 :]
    if first.startswith(("|", ">")):
        return _in_block(lines, place, value, offset) if first.startswith("|") else place
    lead = 1 if first.startswith(('"', "'")) else 0
    if first[lead:].startswith(value[: offset + 1]):
        return Location(place.path, place.line, place.column + lead + offset)
    return place


def _in_block(lines: list[str], block: Location, value: str, offset: int) -> Location:
    inside = text_place(value, offset, block.path)
    number = block.line + inside.line
    content = value.split("\n")[inside.line - 1]
    if number > len(lines) or not lines[number - 1].endswith(content):
        return block
    return Location(block.path, number, len(lines[number - 1]) - len(content) + inside.column)
