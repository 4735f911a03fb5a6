"""The canonical form of a spec: the same values and comments, written the way everybody's are.

Top-level keys stand in the order of `ce_schema.spec.ProblemSpec`, known keys of ``metadata`` in theirs;
a comment moves with the key that it stands above. Text is quoted where a reader could take it for
anything else (quotes beyond that stay), and written as a literal block where it has several lines.

A loaded document written back would hang comments on the key before them. So values are rendered from
their nodes, and the comments between them handed out one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ce_corpus.textfile import text_place
from ce_corpus.yamlnodes import Child, Node, parse_nodes
from ce_corpus.yamlwrite import literal, text_scalar
from ce_schema.errors import InputError
from ce_schema.spec import ProblemSpec

MAX_WIDTH = 110
_STEP = 2
_ORDERS = {
    (): tuple(ProblemSpec.model_fields),
    ("metadata",): ("topic", "category", "difficulty", "tags", "releases", "do_not_release"),
    ("timing_mode",): ("type", "include", "exclude", "time_type"),
}
# Comments that are about the file stay at its top whatever key comes first.
_FILE_COMMENT = re.compile(r"#\s*(?:yaml-language-server|SPDX-|Copyright|ce-lint:\s*ignore-file)")
_TRIVIA = re.compile(r"(?:(?<=\s)|^)#[^\n]*|\n[ \t]*(?=\n)")


def formatted(text: str, label: str) -> str:
    """``text`` in canonical form; the form of a canonical text is the text itself.

    Raises:
        InputError: the text has a defect, or a comment where the form has no place for one.
    """
    root = parse_nodes(text, label)
    if root.kind != "mapping" or root.style != "block":
        raise InputError("the spec must be a block of keys and values", where=label)
    writer = _Writer(text, root)
    written = writer.document()
    if left := writer.left_over():
        raise InputError(
            "this comment has no place in the canonical form",
            where=str(text_place(text, left.offset, label)),
            fix="move it to a line of its own above a key",
        )
    if written != text and parse_nodes(written, label).data != root.data:
        raise InputError("has a layout that cannot be kept", where=label, fix="write plain keys and values")
    return written


@dataclass(slots=True)
class _Trivium:
    """A comment, or a blank line (whose text is empty), and whether it has been written."""

    offset: int
    text: str
    column: int
    own_line: bool
    written: bool = False


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a block goes: the indentation of its children. And where it came from: the column of the key
    that it is the value of, and the offset before which it ends."""

    indent: int
    outer: int
    limit: int


def _trivia(text: str, root: Node) -> list[_Trivium]:
    """The comments and blank lines of a document, in order."""
    found: list[_Trivium] = []
    at = 0
    for start, end in [*_leaves(root, text), (len(text), len(text))]:
        for match in _TRIVIA.finditer(text, at, max(at, start)):
            line_start = text.rfind("\n", 0, match.start()) + 1
            alone = not text[line_start : match.start()].strip()
            comment = match.group().rstrip() if match.group().startswith("#") else ""
            found.append(_Trivium(match.start(), comment, match.start() - line_start, alone or not comment))
        at = max(at, end)
    return found


def _leaves(node: Node, text: str) -> Iterator[tuple[int, int]]:
    """The extents of keys and scalars: where a ``#`` is no comment."""
    for child in node.children:
        if node.kind == "mapping":
            yield child.start, child.key_end
        yield from _leaves(child.node, text)
    if node.kind == "scalar" and node.style in {"|", ">"}:
        # A comment may stand behind the indicator.
        header = re.compile(r"[|>][0-9+-]*").match(text, node.start)
        yield node.start, header.end() if header else node.start
        yield text.find("\n", node.start), node.end
    elif node.kind == "scalar":
        yield node.start, node.end


class _Writer:
    def __init__(self, text: str, root: Node) -> None:
        self._text = text
        self._root = root
        self._trivia = _trivia(text, root)

    def document(self) -> str:
        """The whole text."""
        first = self._root.children[0].start
        head = self._take(0, first)
        # What stands above the first key, with no blank line between, is about that key.
        split = 1 + max(
            (n for n, line in enumerate(head) if not line or _FILE_COMMENT.match(line)), default=-1
        )
        lines = head[:split] + self._block(self._root, (), _Place(0, -1, len(self._text)), head[split:])
        return "\n".join(lines).strip("\n") + "\n"

    def left_over(self) -> _Trivium | None:
        """A comment that was not written."""
        return next((item for item in self._trivia if item.text and not item.written), None)

    def _take(self, start: int, end: int, least_column: int = 0) -> list[str]:
        """Write the lines of comments between two offsets, up to the first left of ``least_column``."""
        taken: list[_Trivium] = []
        for item in self._trivia:
            if item.written or not item.own_line or not start <= item.offset < end:
                continue
            if item.text and item.column < least_column:
                break
            taken.append(item)
        while taken and least_column and not taken[-1].text:
            taken.pop()
        for item in taken:
            item.written = True
        # Blank lines separate, one like many.
        lines = [item.text for item in taken]
        return [line for line, before in zip(lines, [None, *lines], strict=False) if line or before != ""]

    def _behind(self, start: int) -> str:
        """Write the comment behind something on its line."""
        end = self._text.find("\n", start)
        for item in self._trivia:
            if (
                not item.written
                and not item.own_line
                and start <= item.offset < (end if end >= 0 else item.offset + 1)
            ):
                item.written = True
                return f"  {item.text}"
        return ""

    def _block(self, node: Node, path: tuple[str, ...], place: _Place, above: list[str]) -> list[str]:
        """The lines of a block; ``above`` are those above its first child."""
        pad = " " * place.indent
        chunks: list[tuple[str, list[str]]] = []
        write = self._entry if node.kind == "mapping" else self._item
        for number, child in enumerate(node.children, 1):
            last = number == len(node.children)
            stop = place.limit if last else node.children[number].start
            lines = _indented(above, pad) + write(child, path, place.indent, stop)
            # After the last one, comments right of the enclosing key are still about this block.
            above = self._take(child.node.end, stop, place.outer + 1 if last else 0)
            chunks.append((str(child.key), lines))
        if order := _ORDERS.get(path):
            rank = {name: number for number, name in enumerate(order)}
            chunks.sort(key=lambda chunk: rank.get(chunk[0], len(rank)))
        return [*(line for _, lines in chunks for line in lines), *_indented(above, pad)]

    def _entry(self, child: Child, path: tuple[str, ...], indent: int, stop: int) -> list[str]:
        key = f"{' ' * indent}{text_scalar(str(child.key))}:"
        if child.node.style == "block":
            behind = self._behind(child.key_end)
            above = self._take(child.key_end, child.node.start)
            inner = self._block(child.node, (*path, str(child.key)), self._inside(child, indent, stop), above)
            return [f"{key}{behind}", *inner]
        first, *rest = self._value(child, indent).split("\n")
        return [f"{key} {first}{self._behind_value(child.node)}", *rest]

    def _item(self, child: Child, path: tuple[str, ...], indent: int, stop: int) -> list[str]:
        dash = f"{' ' * indent}- "
        if child.node.style == "block":
            inner = self._block(child.node, (*path, "*"), self._inside(child, indent, stop), [])
            return [f"{dash}{inner[0][indent + _STEP :]}", *inner[1:]]
        first, *rest = self._value(child, indent).split("\n")
        return [f"{dash}{first}{self._behind_value(child.node)}", *rest]

    def _inside(self, child: Child, indent: int, stop: int) -> _Place:
        return _Place(indent + _STEP, self._column(child.start), stop)

    def _behind_value(self, node: Node) -> str:
        return self._behind(node.start if node.style in {"|", ">"} else node.end)

    def _value(self, child: Child, indent: int) -> str:
        """A value that is no block; its further lines are indented."""
        node = child.node
        if isinstance(node.data, str) and node.kind == "scalar":
            block = literal(node.data, indent + _STEP)
            if block is not None:
                return block
        written = self._flow(node)
        folds = "\n" in self._text[node.start : node.end] and node.style in {">", "flow"}
        comments = [item for item in self._trivia if item.text and node.start <= item.offset < node.end]
        inside = [item for item in comments if node.style == "flow"]
        if inside or (folds and len(written) + indent > MAX_WIDTH):
            for item in inside:
                item.written = True
            return self._as_it_was(node, indent - self._column(child.start))
        return written

    def _flow(self, node: Node) -> str:
        """A value on one line; numbers keep their notation."""
        if node.kind == "sequence":
            return f"[{', '.join(self._flow(child.node) for child in node.children)}]"
        if node.kind == "mapping":
            pairs = (f"{text_scalar(str(child.key))}: {self._flow(child.node)}" for child in node.children)
            return f"{{{', '.join(pairs)}}}"
        if isinstance(node.data, str):
            written = text_scalar(node.data)
            # Quotes that are not needed do no harm, and mark a name as one: they stay.
            return f'"{written}"' if node.style == '"' and written == node.data else written
        if node.data is None:
            return "null"
        if isinstance(node.data, bool):
            return "true" if node.data else "false"
        return self._text[node.start : node.end]

    def _as_it_was(self, node: Node, shift: int) -> str:
        """The source of a value of several lines, those after the first moved with their key."""
        first, *rest = self._text[node.start : node.end].split("\n")
        if node.style == ">":
            # A comment behind the indicator is written by whoever writes the line.
            first = first.split()[0]
        moved = [
            line if not line.strip() else " " * max(0, _indent(line) + shift) + line.lstrip(" ")
            for line in rest
        ]
        return "\n".join([first, *(line.rstrip() if node.style == "flow" else line for line in moved)])

    def _column(self, offset: int) -> int:
        return offset - (self._text.rfind("\n", 0, offset) + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _indented(lines: list[str], pad: str) -> list[str]:
    return [f"{pad}{line}" if line else "" for line in lines]
