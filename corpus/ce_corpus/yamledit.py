"""Edits of specs that keep comments, layout and every byte they are not about.

editor = SpecEditor.open(path)
editor.set("metadata", "difficulty", value="hard")
editor.save()
"""

from __future__ import annotations

from copy import copy, deepcopy
from pathlib import Path
from typing import Any

from ce_corpus.textfile import require_text
from ce_corpus.yamlnodes import Child, Node, node_at, parse_nodes
from ce_corpus.yamltext import Key, KeyPath
from ce_corpus.yamlwrite import flow, literal
from ce_schema.atomic import write_text
from ce_schema.errors import InputError

_STEP = 2


class SpecEditor:
    """One YAML file being edited; nothing is written before `save`."""

    def __init__(self, path: Path, text: str) -> None:
        self._path = path
        self._before = text
        self._use(text)

    @classmethod
    def open(cls, path: Path) -> SpecEditor:
        """Read the file.

        Raises:
            InputError: it cannot be read or has a defect (placed); files with defects are not edited.
        """
        return cls(path, require_text(path))

    @property
    def text(self) -> str:
        """The text as edited so far."""
        return self._text

    def get(self, *path: Key) -> Any:
        """The value at ``path`` as plain data, or None where there is none."""
        node = node_at(self._root, path)
        return deepcopy(node.data) if node else None

    def set(self, *path: Key, value: Any) -> None:
        """Give the key at ``path`` a value, adding it (and mappings around it) where it is missing.

        ``value`` is None, a bool, a number, text, or lists and mappings of these.
        """
        expected = _with(self._root.data, path, value)
        node = node_at(self._root, path)
        self._splice(*(self._replace(node, value) if node else self._add(path, value)), expected)

    def insert(self, *path: Key, index: int, value: Any) -> None:
        """Put an item into the list at ``path``, before the item that has ``index`` now."""
        node = self._sequence(path)
        items = [*node.data]
        items.insert(index, value)
        if not node.children:
            self.set(*path, value=items)
            return
        expected = _with(self._root.data, path, items)
        self._splice(*self._insertion(node, index, value), expected)

    def remove(self, *path: Key) -> None:
        """Take the key or list item at ``path`` away; nothing happens where there is none."""
        if node_at(self._root, path) is None:
            return
        parent = node_at(self._root, path[:-1])
        assert parent is not None, "a node that exists has a parent"
        left = deepcopy(parent.data)
        del left[path[-1]]
        if not left and path[:-1]:
            self.set(*path[:-1], value=left)
            return
        expected = _with(self._root.data, path[:-1], left)
        self._splice(*self._removal(parent, path[-1]), expected)

    def save(self) -> bool:
        """Write the file whole or not at all, and return whether anything changed.

        Raises:
            InputError: the place cannot be written.
        """
        if self._text == self._before:
            return False
        write_text(self._path, self._text)
        self._before = self._text
        return True

    def _use(self, text: str) -> None:
        self._text = text
        self._root = parse_nodes(text, str(self._path))

    def _splice(self, start: int, end: int, new: str, expected: Any) -> None:
        text = self._text[:start] + new + self._text[end:]
        root = parse_nodes(text, str(self._path))
        # Unusual layout could defeat a splice; then the file stays as it was.
        if root.data != expected:
            raise InputError(
                "has a layout that cannot be edited in place",
                where=str(self._path),
                fix="run ce-author fmt on it, then try again",
            )
        self._text, self._root = text, root

    def _sequence(self, path: KeyPath) -> Node:
        node = node_at(self._root, path)
        if node is None or node.kind != "sequence":
            named = ".".join(str(key) for key in path)
            raise InputError(f"{named} is no list", where=str(self._path))
        return node

    def _replace(self, node: Node, value: Any) -> tuple[int, int, str]:
        indent = self._indent_of_line(node.start) + _STEP
        new = self._value(value, indent)
        if node.style == "empty":
            return node.start, node.end, f" {new}"
        if node.style == "block":
            # From the colon on, so that the value moves up to the line of its key.
            colon = len(self._text[: node.start].rstrip())
            return colon, node.end, f" {new}"
        return node.start, node.end, new

    def _value(self, value: Any, indent: int) -> str:
        block = literal(value, indent) if isinstance(value, str) else None
        return block if block is not None else flow(value)

    def _add(self, path: KeyPath, value: Any) -> tuple[int, int, str]:
        """Append the first missing key of ``path`` to the mapping that lacks it."""
        length = next(n for n in range(1, len(path) + 1) if node_at(self._root, path[:n]) is None)
        parent = node_at(self._root, path[: length - 1])
        for key in reversed(path[length:]):
            value = {key: value}
        if parent is None or parent.kind != "mapping":
            if parent is not None and parent.data is None:
                return self._replace(parent, {path[length - 1]: value})
            named = ".".join(str(key) for key in path[: length - 1])
            raise InputError(f"{named} is no mapping", where=str(self._path))
        return self._new_entry(parent, path[length - 1], value)

    def _new_entry(self, parent: Node, key: Key, value: Any) -> tuple[int, int, str]:
        if not parent.children:
            return parent.start, parent.end, flow({key: value})
        last = parent.children[-1]
        if parent.style == "flow":
            return last.node.end, last.node.end, f", {flow({key: value})[1:-1]}"
        indent = self._column(last.start)
        new = f"\n{' ' * indent}{flow(key)}: {self._value(value, indent + _STEP)}"
        end = self._line_end(last.node.end)
        return end, end, new

    def _insertion(self, node: Node, index: int, value: Any) -> tuple[int, int, str]:
        at_end = index >= len(node.children)
        near = node.children[-1 if at_end else index]
        if node.style == "flow":
            if at_end:
                return near.node.end, near.node.end, f", {flow(value)}"
            return near.start, near.start, f"{flow(value)}, "
        dash = f"{' ' * self._column(near.start)}- {flow(value)}"
        if at_end:
            end = self._line_end(near.node.end)
            return end, end, f"\n{dash}"
        start = near.start - self._column(near.start)
        return start, start, f"{dash}\n"

    def _removal(self, parent: Node, key: Key) -> tuple[int, int, str]:
        children = parent.children
        place = next(index for index, child in enumerate(children) if child.key == key)
        child = children[place]
        if parent.style == "flow":
            if place + 1 < len(children):
                return child.start, children[place + 1].start, ""
            return children[place - 1].node.end, child.node.end, ""
        return self._lines_of(child)

    def _lines_of(self, child: Child) -> tuple[int, int, str]:
        start = child.start - self._column(child.start)
        end = self._line_end(child.node.end)
        return (start, end + 1, "") if end < len(self._text) else (max(start - 1, 0), end, "")

    def _line_end(self, offset: int) -> int:
        """The newline at or after ``offset``, or the end of the text."""
        end = self._text.find("\n", offset)
        return end if end >= 0 else len(self._text)

    def _column(self, offset: int) -> int:
        return offset - (self._text.rfind("\n", 0, offset) + 1)

    def _indent_of_line(self, offset: int) -> int:
        line = self._text[self._text.rfind("\n", 0, offset) + 1 :]
        return len(line) - len(line.lstrip(" "))


def _with(data: Any, path: KeyPath, value: Any) -> Any:
    """Plain data with the value at ``path`` set, and mappings made where they are missing."""
    if not path:
        return value
    changed = {} if data is None and isinstance(path[0], str) else copy(data)
    missing = isinstance(changed, dict) and path[0] not in changed
    changed[path[0]] = _with(None if missing else changed[path[0]], path[1:], value)
    return changed


def add_release(path: Path, release: str) -> bool:
    """Add ``release`` to ``metadata.releases`` of the spec at ``path``; return whether it was missing.

    Releases stay in their order if they were; the new one is written like its neighbours.

    Raises:
        InputError: the spec has a defect or cannot be written.
    """
    editor = SpecEditor.open(path)
    present = editor.get("metadata", "releases") or []
    if release in present:
        return False
    if not present:
        editor.set("metadata", "releases", value=[release])
    else:
        later = [i for i, other in enumerate(present) if release_key(str(other)) > release_key(release)]
        editor.insert("metadata", "releases", index=later[0] if later else len(present), value=release)
    return editor.save()


def remove_release(path: Path, release: str) -> bool:
    """Take ``release`` out of ``metadata.releases`` of the spec at ``path``; return whether it was there.

    Raises:
        InputError: the spec has a defect or cannot be written.
    """
    editor = SpecEditor.open(path)
    present = editor.get("metadata", "releases") or []
    if release not in present:
        return False
    editor.remove("metadata", "releases", present.index(release))
    return editor.save()


def release_key(release: str) -> tuple[int, ...]:
    """Sorts release names by age: ``internal``, then ``YYYY-N`` by year and number."""
    numbers = release.split("-")
    return tuple(int(part) for part in numbers) if all(part.isdecimal() for part in numbers) else ()
