"""The nodes of a YAML text with their exact extents, for edits that leave every other byte alone.

Writing a loaded document back would lose hand-made layout and move comments along with the wrong key.
So an edit here is a splice: find the characters of one node, replace them, keep the rest.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

from ce_corpus.yamltext import Key, KeyPath, require_yaml, resolve_plain

type Kind = Literal["scalar", "mapping", "sequence"]


@dataclass(frozen=True, slots=True)
class Node:
    """A value and the characters ``start`` up to (not including) ``end`` that it takes.

    The end of a block excludes comments and blank lines after its last value, and its last newline.
    ``style`` is one of ``plain``, ``'``, ``"``, ``|``, ``>``, ``empty``, ``flow``, ``block``. The
    extent of an empty value is the point after its colon or dash.
    """

    kind: Kind
    style: str
    start: int
    end: int
    data: Any
    children: tuple[Child, ...] = ()

    def child(self, key: Key) -> Child | None:
        """The entry with that key, or the item with that index."""
        return next((child for child in self.children if child.key == key), None)


@dataclass(frozen=True, slots=True)
class Child:
    """An entry of a mapping or an item of a sequence; its key or dash takes ``start`` to ``key_end``."""

    key: Key
    start: int
    key_end: int
    node: Node


def parse_nodes(text: str, label: str) -> Node:
    """The root node of a document.

    Raises:
        InputError: `parse_yaml` has a finding about the text.
    """
    require_yaml(text, label)
    from ruamel.yaml import YAML

    # The parser in C gives no character offsets.
    return _convert(YAML(typ="safe", pure=True).compose(text), text, None)


def node_at(root: Node, path: KeyPath) -> Node | None:
    """The node at ``path``, or None."""
    node = root
    for key in path:
        child = node.child(key)
        if child is None:
            return None
        node = child.node
    return node


def _convert(raw: Any, text: str, after: int | None) -> Node:
    """A node from the parser's; ``after`` is where its colon or dash ends."""
    start, end = raw.start_mark.index, raw.end_mark.index
    if raw.id == "scalar":
        return _scalar(raw, text, start, end, after)
    style = "flow" if raw.flow_style else "block"
    if raw.id == "mapping":
        entries = tuple(_entry(key, value, text) for key, value in raw.value)
        data: Any = {child.key: child.node.data for child in entries}
        return Node("mapping", style, start, _end(style, end, entries), data, entries)
    items = tuple(_item(index, value, text, raw) for index, value in enumerate(raw.value))
    return Node("sequence", style, start, _end(style, end, items), [item.node.data for item in items], items)


def _end(style: str, end: int, children: tuple[Child, ...]) -> int:
    return children[-1].node.end if style == "block" else end


def _scalar(raw: Any, text: str, start: int, end: int, after: int | None) -> Node:
    style = raw.style or "plain"
    if style == "plain":
        if start == end and after is not None:
            return Node("scalar", "empty", after, after, None)
        return Node("scalar", style, start, end, resolve_plain(raw.value)[0])
    if style in "|>":
        end = _block_scalar_end(text, start, end)
    return Node("scalar", style, start, end, raw.value)


def _block_scalar_end(text: str, start: int, end: int) -> int:
    """Where a block scalar ends; the parser counts the blank lines after it in."""
    lines = text[start:end].removesuffix("\n").split("\n")
    header = re.match(r"[|>][0-9+-]*", lines[0])
    if header and "+" not in header.group():
        while len(lines) > 1 and not lines[-1].strip(" "):
            lines.pop()
    return start + len("\n".join(lines))


def _entry(key: Any, value: Any, text: str) -> Child:
    key_end = key.end_mark.index
    colon = text.find(":", key_end)
    return Child(key.value, key.start_mark.index, key_end, _convert(value, text, colon + 1))


def _item(index: int, value: Any, text: str, parent: Any) -> Child:
    start = value.start_mark.index
    if parent.flow_style:
        return Child(index, start, start, _convert(value, text, None))
    dash = start
    while text[dash] != "-" or _column(text, dash) != parent.start_mark.column:
        dash -= 1
    return Child(index, dash, dash + 1, _convert(value, text, dash + 1))


def _column(text: str, offset: int) -> int:
    return offset - (text.rfind("\n", 0, offset) + 1)
