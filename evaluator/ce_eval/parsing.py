"""Source files as syntax trees and as plain code: the front end of every check that reads a solution.

Grammars are loaded when first used. Any text can be handed in: what a grammar cannot parse is still there
as code, and what would take too long to parse has no tree.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from ce_eval.cpp_text import CppText, blank_cpp

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Tree

_CPP_SOURCES = {".cu", ".c", ".cc", ".cpp", ".cxx", ".c++", ".cppm", ".ixx"}
CPP_HEADERS = (".cuh", ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".inc", ".ipp", ".tpp")
CPP_SUFFIXES = frozenset(_CPP_SOURCES.union(CPP_HEADERS))
PYTHON_SUFFIXES = frozenset({".py", ".pyi"})

# Ordinary code parses at 5 MB a second and more; on text made for it, both grammars take quadratic time.
_MAX_PARSE_CPU_SECONDS = 2.0
# Plain strings are over at the end of their line, so that a stray quote hides little.
_PYTHON_LITERAL = re.compile(
    rb"""#[^\n]*+|\"\"\"[\s\S]*?(?:\"\"\"|\Z)|'''[\s\S]*?(?:'''|\Z)|"(?:[^"\\\n]++|\\[\s\S])*+"?|'(?:[^'\\\n]++|\\[\s\S])*+'?"""
)
_PYTHON_OPAQUE = frozenset({"comment", "string_start", "string_content", "string_end", "format_specifier"})
_TO_SPACE = bytes(byte if byte in b"\n\r" else 32 for byte in range(256))


class Language(StrEnum):
    """The languages that solutions are written in."""

    CUDA = "cuda"
    PYTHON = "python"


def language_of(path: str) -> Language | None:
    """The language of a file by its suffix: C, C++ and CUDA count as one. None for any other file."""
    suffix = PurePosixPath(path).suffix.lower()
    if suffix in CPP_SUFFIXES:
        return Language.CUDA
    return Language.PYTHON if suffix in PYTHON_SUFFIXES else None


@dataclass(frozen=True)
class ParsedSource:
    """One file. Everything is worked out when first asked for; offsets are bytes and hold in all of it."""

    language: Language
    text: bytes

    @cached_property
    def _cpp(self) -> CppText:
        return blank_cpp(self.text)

    @cached_property
    def code(self) -> bytes:
        """The text with comments and literals blanked; interpolations of Python's f-strings stay."""
        return self._cpp.code if self.language is Language.CUDA else self._python_code()

    @property
    def embedded(self) -> bytes:
        """The code inside literals: asm templates and ``_Pragma`` operands. Empty for Python."""
        return self._cpp.embedded if self.language is Language.CUDA else b""

    @property
    def headers(self) -> frozenset[str]:
        """The names in live ``#include`` directives, without brackets. Empty for Python."""
        return self._cpp.headers if self.language is Language.CUDA else frozenset()

    @cached_property
    def tree(self) -> Tree | None:
        """The syntax tree, or None. That of C++ is of ``code``, where no literal misleads the grammar."""
        return _parse(self.language, self._cpp.code if self.language is Language.CUDA else self.text)

    def nodes(self) -> Iterator[Node]:
        """The nodes of the tree in source order, parents first; nothing where there is no tree."""
        return walk(self.tree) if self.tree else iter(())

    def _python_code(self) -> bytes:
        if self.tree is None or self.tree.root_node.has_error:
            # An error can make the grammar take the end of a literal for its start.
            return _PYTHON_LITERAL.sub(lambda match: match[0].translate(_TO_SPACE), self.text)
        code = bytearray(self.text)
        for node in self.nodes():
            if node.type in _PYTHON_OPAQUE:
                start, end = node.byte_range
                code[start:end] = self.text[start:end].translate(_TO_SPACE)
        return bytes(code)


def parse(text: str, language: Language) -> ParsedSource:
    """The file with this text. Never fails: what is not Unicode becomes ``?``."""
    return ParsedSource(language, text.encode("utf-8", "replace"))


def walk(tree: Tree) -> Iterator[Node]:
    """Every node of a tree in source order, parents first; its depth costs no stack."""
    cursor = tree.walk()
    while True:
        node = cursor.node
        if node is not None:
            yield node
        if cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


@cache
def grammar(language: Language) -> Grammar:
    """The tree-sitter grammar of a language, loaded when first asked for."""
    import tree_sitter

    if language is Language.CUDA:
        import tree_sitter_cuda

        return tree_sitter.Language(tree_sitter_cuda.language())
    import tree_sitter_python

    return tree_sitter.Language(tree_sitter_python.language())


def _parse(language: Language, source: bytes) -> Tree | None:
    import tree_sitter

    deadline = time.thread_time() + _MAX_PARSE_CPU_SECONDS
    try:
        # Progress is only reported to a caller that hands the text over piece by piece.
        return tree_sitter.Parser(grammar(language)).parse(
            lambda offset, _point: source[offset : offset + 65536],
            progress_callback=lambda _offset, _has_error: time.thread_time() > deadline,
        )
    except ValueError:
        return None
