"""C++ text without what is not code: comments, literals and branches never compiled, blanked in place.

tree-sitter alone will not do: its preprocessor rules take ``//`` inside a macro's string for a comment and
read the string after a macro's comment as code, so a name would be lost or invented, and nothing marks the
place. What is a comment and what is a literal is decided here instead, by the lexical rules of the language.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import NamedTuple

_LEXEME = re.compile(
    rb"""
    [/"'\#0-9]  # alone in front, because a search for one byte of a set is fast
    (?: (?<=/) (?: (?P<line_comment>/(?:\\\r?\n|[^\n])*+) | (?P<block_comment>\*) )
      | (?:(?<=(?<!\w)R") | (?<=(?<!\w)[uUL]R") | (?<=(?<!\w)u8R"))
        (?P<raw>(?P<delimiter>[^()\\\s"]{0,16})\()
      | (?<=") (?P<string>(?:[^"\\\n]++|\\\r\n|\\[\s\S])*+"?)
      | (?<=') (?P<char>(?:[^'\\\n]++|\\\r\n|\\[\s\S])*+'?)
      | (?<=\#) (?P<directive>[ \t]*+(?P<word>[a-z_]\w*+))
      | (?<=[0-9]) (?<!\w.) (?P<number>(?:'?[\w.])*+)  # or 1'000 would open a character literal
    )""",
    re.VERBOSE,
)
_LOGICAL_LINE = re.compile(rb"(?:\\\r?\n|[^\n])*+")
_HEADER = re.compile(rb"""[ \t]*+(<[^>\n]*+>|"[^"\n]*+")""")
_COMMENT = re.compile(rb"//.*|/\*.*?(?:\*/|$)", re.DOTALL)
_ESCAPE = re.compile(rb"\\(?:[0-7]{1,3}|x[0-9a-fA-F]+|[\s\S])")
# Up to the first colon or closing parenthesis: the template of an asm statement, never its constraints.
_EMBEDDING = re.compile(
    rb"\b(?:(?:__)?asm(?:__)?(?:\s|\\\n|(?:__)?volatile(?:__)?\b|inline\b|goto\b)*+|(_Pragma)\s*+)\(([^:)]*+)"
)
_TO_SPACE = bytes(byte if byte in b"\n\r" else 32 for byte in range(256))
_NO_CONTROLS = bytes(32 if byte < 32 and byte not in b"\t\n\r\f\v" else byte for byte in range(256))
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class CppText:
    """A source with everything blanked that is not code.

    ``code`` has the length and the lines of the source, so offsets hold in both. A string literal is left as
    ``""``, a character as `` 0``. ``headers`` are the live ``#include`` names without their brackets.
    ``embedded`` is the code that stands in literals: the templates of asm statements, one a line, and
    ``_Pragma`` operands written as directives.
    """

    code: bytes
    headers: frozenset[str]
    embedded: bytes


class _Literal(NamedTuple):
    start: int
    body: bytes


@dataclass(slots=True)
class _Conditional:
    """One ``#if`` … ``#endif``: whether a branch was surely taken, and whether the present one can be."""

    taken: bool
    live: bool


@dataclass(slots=True)
class _Blanker:
    source: bytes
    out: bytearray
    literals: list[_Literal] = field(default_factory=list)
    headers: set[str] = field(default_factory=set)
    conditionals: list[_Conditional] = field(default_factory=list)
    dead_levels: int = 0
    dead_from: int = 0

    def blank(self, start: int, end: int, leave: bytes = b"") -> None:
        self.out[start:end] = (leave + self.source[start + len(leave) : end].translate(_TO_SPACE))[
            : end - start
        ]

    def lexeme(self, match: re.Match[bytes]) -> int:
        """Deal with one lexeme; returns where to read on."""
        start, end = match.span()
        match match.lastgroup:
            case "line_comment":
                self.blank(start, end)
            case "block_comment":
                end = self._end_of(b"*/", end)
                self.blank(start, end)
            case "raw":
                closing = b")" + match["delimiter"] + b'"'
                body, end = end, self._end_of(closing, end)
                # From the R on, or what is left would open another raw string.
                self._literal(start - 1, end, self.source[body : max(body, end - len(closing))])
            case "string":
                self._literal(start, end, _ESCAPE.sub(b" ", match["string"].removesuffix(b'"')))
            case "char":
                self.blank(start, end, b" 0")
            case "directive" if self._at_line_start(start):
                return self._directive(match["word"], start, end)
        return end

    def finish(self) -> None:
        if self.dead_levels:
            self.blank(self.dead_from, len(self.source))

    def _at_line_start(self, position: int) -> bool:
        """Whether blanks alone stand before it, or comments, blank by now; 64 bytes are looked at."""
        before = self.out[max(0, position - 64) : position].rstrip(b" \t")
        return not before or before.endswith(b"\n")

    def _end_of(self, closing: bytes, start: int) -> int:
        at = self.source.find(closing, start)
        return len(self.source) if at < 0 else at + len(closing)

    def _literal(self, start: int, end: int, body: bytes) -> None:
        self.blank(start, end, b'""')
        if not self.dead_levels:
            self.literals.append(_Literal(start, body))

    def _directive(self, word: bytes, start: int, end: int) -> int:
        if word in (b"if", b"ifdef", b"ifndef", b"elif", b"elifdef", b"elifndef", b"else", b"endif"):
            self._conditional(word, start, end)
        elif word in (b"include", b"include_next") and (header := _HEADER.match(self.source, end)):
            if not self.dead_levels:
                self.headers.add(header[1][1:-1].decode(errors="replace"))
            self.blank(header.start(1), header.end(), b'""')
            return header.end()
        elif word in (b"error", b"warning"):  # prose: an apostrophe in it opens nothing
            stop = _LOGICAL_LINE.match(self.source, end)
            end = stop.end() if stop else end
            self.blank(start, end)
        return end

    def _conditional(self, word: bytes, start: int, end: int) -> None:
        was_dead = self.dead_levels > 0
        if word in (b"if", b"ifdef", b"ifndef"):
            holds = self._constant(end) if word == b"if" else None
            self.conditionals.append(_Conditional(taken=holds is True, live=holds is not False))
            self.dead_levels += holds is False
        elif self.conditionals:
            top = self.conditionals[-1]
            self.dead_levels -= not top.live
            if word == b"endif":
                self.conditionals.pop()
            else:
                holds = self._constant(end) if word == b"elif" else None
                top.live = not top.taken and holds is not False
                top.taken = top.taken or holds is True
                self.dead_levels += not top.live
        if self.dead_levels and not was_dead:
            self.dead_from = end
        elif was_dead and not self.dead_levels:
            self.blank(self.dead_from, start)

    def _constant(self, start: int) -> bool | None:
        """What a condition comes to when it is a literal, else None."""
        line = _LOGICAL_LINE.match(self.source, start)
        text = _COMMENT.sub(b" ", line[0]) if line else b""
        value = text.strip(b" \t\r()").rstrip(b"uUlL")
        return {b"0": False, b"false": False, b"1": True, b"true": True}.get(value)


def blank_cpp(source: bytes) -> CppText:
    """Blank comments, literals and constantly false branches, in linear time. Any bytes will do."""
    source = source.translate(_NO_CONTROLS)
    if source.startswith(_UTF8_BOM):
        source = source.replace(_UTF8_BOM, b"   ", 1)
    blanker = _Blanker(source, bytearray(source))
    position = 0
    while match := _LEXEME.search(source, position):
        position = max(blanker.lexeme(match), match.end())
    blanker.finish()
    code = bytes(blanker.out)
    return CppText(code, frozenset(blanker.headers), _embedded(code, blanker.literals))


def _embedded(code: bytes, literals: list[_Literal]) -> bytes:
    """The text of the literals that are code, neighbours joined as the compiler joins them."""
    from bisect import bisect_left

    statements = []
    for match in _EMBEDDING.finditer(code):
        first = bisect_left(literals, match.start(2), key=lambda literal: literal.start)
        last = bisect_left(literals, match.end(2), key=lambda literal: literal.start)
        text = b"".join(literal.body for literal in literals[first:last])
        # PTX has comments of its own.
        statements.append(b"#pragma " + text if match[1] else _COMMENT.sub(b" ", text))
    return b"\n".join(statements)
