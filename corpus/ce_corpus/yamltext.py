"""YAML with the place of every value, for files that people write and machines must not misread.

Read from the parser's events in one flat loop, so neither deep nesting nor aliases can hurt. The
public side reads YAML 1.1 and most editors 1.2: a plain scalar that the two read differently is an
error, and the fix is its quoted form.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ce_corpus.textfile import text_place
from ce_schema.diagnostics import Diagnostics, Location

if TYPE_CHECKING:
    from ruamel.yaml import YAML

MAX_DEPTH = 64

type Key = str | int
type KeyPath = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A parsed document: plain data, and where each value (and each key) stands."""

    label: str
    text: str
    data: Any
    values: dict[KeyPath, Location] = field(repr=False)
    keys: dict[KeyPath, Location] = field(repr=False)

    def where(self, *path: Key) -> Location:
        """Place of the value at ``path``, or of the nearest enclosing value that exists."""
        for length in range(len(path), -1, -1):
            if place := self.values.get(path[:length]):
                return place
        return Location(self.label)

    def where_key(self, *path: Key) -> Location:
        """Place of the key at ``path``, or as `where`."""
        return self.keys.get(path) or self.where(*path)


# The implicit types of plain scalars, as PyYAML (1.1) and as the 1.2 core schema read them.
_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_BOOL_11 = re.compile(r"(?:yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF)\Z")
_INT = re.compile(r"(?:[-+]?(?:0|[1-9][0-9]*))\Z")
_INT_12 = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")
_INT_11 = re.compile(
    r"(?:[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+"
    r"|[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+)\Z"
)
_FLOAT_12 = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
_FLOAT_11 = re.compile(
    r"(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?"
    r"|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
_TIMESTAMP_11 = re.compile(r"[0-9]{4}-[0-9][0-9]?-[0-9][0-9]?(?:(?:[Tt]|[ \t]+)[0-9].*)?\Z")
# A first character that no implicit type of either version can start with spares the table.
_MAYBE_TYPED = frozenset("-+.~0123456789nNtTfFyYoO=<")


def resolve_plain(text: str) -> tuple[Any, str | None]:
    """Value of a plain scalar and, where YAML 1.1 and 1.2 disagree, how each reads it (else None)."""
    if text and text[0] not in _MAYBE_TYPED:
        return text, None
    if _NULL.match(text):
        return None, None
    if _BOOL.match(text):
        return text in {"true", "True", "TRUE"}, None
    if _INT.match(text):
        return int(text), None
    old, new = _kind_11(text), _kind_12(text)
    if old != new:
        return text, f"YAML 1.1 reads {old}, YAML 1.2 {new}"
    if new == "a number with a fraction":
        return float(text.replace(".inf", "inf").replace(".nan", "nan").lower()), None
    if new == "an integer":
        return int(text, 16), None
    return text, None


def _kind_11(text: str) -> str:
    if _BOOL_11.match(text):
        return "a boolean"
    if _INT_11.match(text):
        if ":" in text:
            return "a base-60 number"
        if re.match(r"[-+]?0[0-7_]", text):
            return "an octal integer"
        return "an integer" if text.startswith("0x") and "_" not in text else "an integer in its own notation"
    if _FLOAT_11.match(text):
        if ":" in text:
            return "a base-60 number"
        return "a number with a fraction" if "_" not in text else "a number in its own notation"
    if _TIMESTAMP_11.match(text):
        return "a date"
    if text in {"=", "<<"}:
        return "a special key"
    return "text"


def _kind_12(text: str) -> str:
    if _INT_12.match(text):
        return "an octal integer in its own notation" if text.startswith("0o") else "an integer"
    return "a number with a fraction" if _FLOAT_12.match(text) else "text"


def require_yaml(text: str, label: str) -> YamlDocument:
    """The one document in ``text``.

    Raises:
        InputError: `parse_yaml` has a finding.
    """
    diag = Diagnostics()
    document = parse_yaml(text, label, diag)
    if document is None or diag.items:
        raise diag.items[0].as_error()
    return document


def parse_yaml(text: str, label: str, diag: Diagnostics) -> YamlDocument | None:
    """The one document in ``text``, or None when it cannot be read.

    Findings: ``yaml.syntax``, ``yaml.duplicate-key``, ``yaml.ambiguous-scalar``, ``yaml.alias``,
    ``yaml.tag``, ``yaml.key``, ``yaml.empty``, ``yaml.documents``, ``yaml.depth``.
    """
    found = Diagnostics()
    builder = _Builder(label, found)
    problem = _feed(builder, text, found, pure=False)
    if problem == _COLON_IN_FLOW:
        # libyaml as bundled refuses `[cub::DeviceScan]`, which every other reader takes.
        found = Diagnostics()
        builder = _Builder(label, found)
        problem = _feed(builder, text, found, pure=True)
    diag.items += found.items
    if problem is not None:
        return None
    if not builder.started:
        diag.error("yaml.empty", "holds no document", Location(label))
        return None
    if "\t" in text:
        _find_tabs(text, builder.texts, label, diag)
    if foreign := _FOREIGN_BREAK.search(text):
        diag.error(
            "yaml.ambiguous-scalar",
            f"U+{ord(foreign.group()):04X} breaks the line for YAML 1.1 and is a character for YAML 1.2",
            text_place(text, foreign.start(), label),
            "remove it, or write it as an escape in double quotes",
        )
    return YamlDocument(label, text, builder.root, builder.values, builder.keys)


_FOREIGN_BREAK = re.compile("[\x85\u2028\u2029]")
_COLON_IN_FLOW = "found unexpected ':'"
_STOPPED = "a finding"


def _feed(builder: _Builder, text: str, diag: Diagnostics, *, pure: bool) -> str | None:
    """Hand the events of ``text`` to ``builder``; what ended that early, or None."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    label = builder.label
    try:
        for event in _new_reader(pure=True).parse(text) if pure else _libyaml().parse(text):
            if not builder.take(event):
                return _STOPPED
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = Location(label, mark.line + 1, mark.column + 1) if mark else Location(label)
        message = " ".join(str(part) for part in (error.context, error.problem) if part)
        tab = "\t" in message or "'\\t'" in message or _starts_with_tab(text, place.line)
        diag.error(
            "yaml.syntax", message, place, "indent with spaces; YAML allows no tabs there" if tab else None
        )
        return str(error.problem)
    except (YAMLError, ValueError) as error:
        message = str(error).splitlines()[0]
        diag.error("yaml.syntax", message, Location(label))
        return message
    return None


def _new_reader(*, pure: bool) -> YAML:
    from ruamel.yaml import YAML

    return YAML(typ="safe", pure=pure)


@cache
def _libyaml() -> YAML:
    """The reader on libyaml. It keeps nothing from one text to the next; the pure one does after errors."""
    return _new_reader(pure=False)


def _starts_with_tab(text: str, line: int) -> bool:
    lines = text.split("\n")
    return 0 < line <= len(lines) and lines[line - 1].lstrip(" ").startswith("\t")


_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#.*")


def _find_tabs(text: str, texts: list[tuple[Any, Any]], label: str, diag: Diagnostics) -> None:
    """Report tabs outside of quoted text, blocks of text and comments; readers of YAML 1.1 refuse them."""
    lines = text.split("\n")
    for start, end in reversed(texts):
        # What is allowed to hold tabs is blanked out, from the last to the first so that columns stay.
        for number in range(start.line, min(end.line + 1, len(lines))):
            first = start.column if number == start.line else 0
            last = end.column if number == end.line else len(lines[number])
            line = lines[number]
            lines[number] = line[:first] + "x" * (last - first) + line[last:]
    for number, line in enumerate(lines, 1):
        if (column := _COMMENT.sub("", line).find("\t")) >= 0:
            place = Location(label, number, column + 1)
            diag.error("yaml.syntax", "has a tab outside of text and comments", place, "write spaces")


class _Builder:
    """Builds plain data from events; ``take`` returns False when reading must stop."""

    def __init__(self, label: str, diag: Diagnostics) -> None:
        self.root: Any = None
        self.started = False
        self.values: dict[KeyPath, Location] = {}
        self.keys: dict[KeyPath, Location] = {}
        # Start and end of every quoted text and block of text.
        self.texts: list[tuple[Any, Any]] = []
        self.label = label
        self._diag = diag
        self._open: list[dict[str, Any] | list[Any]] = []
        self._paths: list[KeyPath] = []
        self._key: list[str | None] = []

    def take(self, event: Any) -> bool:
        kind = type(event).__name__
        if kind in {"StreamStartEvent", "StreamEndEvent", "DocumentEndEvent"}:
            return True
        mark = event.start_mark
        place = Location(self.label, mark.line + 1, mark.column + 1)
        if kind == "DocumentStartEvent":
            if self.started:
                self._diag.error("yaml.documents", "holds a second document", place, "keep one document")
                return False
            return True
        if kind in {"MappingEndEvent", "SequenceEndEvent"}:
            self._open.pop()
            self._paths.pop()
            self._key.pop()
            return True
        if kind == "AliasEvent" or event.anchor:
            self._diag.error("yaml.alias", "uses an anchor or alias", place, "write the value out")
            return False
        if event.tag is not None:
            self._diag.error("yaml.tag", f"uses the tag {event.tag}", place, "write a plain value")
            return False
        if kind == "ScalarEvent":
            return self._scalar(event, place)
        return self._collection({} if kind == "MappingStartEvent" else [], place)

    def _collection(self, value: dict[str, Any] | list[Any], place: Location) -> bool:
        if len(self._open) >= MAX_DEPTH:
            self._diag.error("yaml.depth", f"nests deeper than {MAX_DEPTH}", place)
            return False
        if self._open and isinstance(self._open[-1], dict) and self._key[-1] is None:
            self._diag.error("yaml.key", "a key must be text", place)
            return False
        path = self._add(value, place)
        self._open.append(value)
        self._paths.append(path)
        self._key.append(None)
        return True

    def _scalar(self, event: Any, place: Location) -> bool:
        plain = bool(event.implicit[0])
        if event.style:
            self.texts.append((event.start_mark, event.end_mark))
        value, dispute = resolve_plain(event.value) if plain else (event.value, None)
        if plain and event.value.endswith(":"):
            dispute = "YAML 1.1 refuses the colon at its end"
        if dispute:
            self._diag.error(
                "yaml.ambiguous-scalar",
                f"{event.value} is read differently by YAML versions: {dispute}",
                place,
                f'write "{event.value}"',
            )
        if self._open and isinstance(self._open[-1], dict) and self._key[-1] is None:
            return self._take_key(value, place)
        self._add(value, place)
        return True

    def _take_key(self, key: Any, place: Location) -> bool:
        if not isinstance(key, str):
            self._diag.error("yaml.key", f"the key {key!r} is not text", place, "quote the key")
            return False
        path = (*self._paths[-1], key)
        if first := self.keys.get(path):
            self._diag.error(
                "yaml.duplicate-key",
                f"the key '{key}' stands twice, first in line {first.line}",
                place,
                "keep one of the two",
            )
            return False
        self.keys[path] = place
        self._key[-1] = key
        return True

    def _add(self, value: Any, place: Location) -> KeyPath:
        self.started = True
        if not self._open:
            self.root = value
            self.values[()] = place
            return ()
        container = self._open[-1]
        path: KeyPath
        if isinstance(container, list):
            path = (*self._paths[-1], len(container))
            container.append(value)
        else:
            key = self._key[-1]
            assert key is not None, "a value follows its key"
            path = (*self._paths[-1], key)
            container[key] = value
            self._key[-1] = None
        self.values[path] = place
        return path
