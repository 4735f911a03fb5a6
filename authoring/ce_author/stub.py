"""A stub from a reference: the same functions, doing nothing. A hidden test that passes it proves nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ce_eval.parsing import Language, grammar, language_of
from ce_schema.solution import FileSolution, SourceFile

if TYPE_CHECKING:
    from tree_sitter import Node

# A replacement of the bytes from the first to the second offset.
type Edit = tuple[int, int, bytes]

# Helpers whose value may be needed to compile, and code that only the emptied functions call.
_KEPT_SPECIFIERS = frozenset({"static", "constexpr", "consteval"})


class _CannotEmptyError(Exception):
    """The file holds something that this module cannot empty with confidence."""


def derive_stub(reference: FileSolution) -> FileSolution | None:
    """The reference with the body of every function that a test could call emptied, or None.

    In C++ those are the functions and kernels with external linkage: they return nothing, or a
    value-initialised result. Device functions, templates' heads and everything else stay. In Python
    every function of a module or class becomes ``pass``. None where nothing can be emptied, or where
    part of a file cannot be understood: a stub that still did some work would accuse the test wrongly.
    """
    emptied = 0
    files: list[SourceFile] = []
    for file in reference.files:
        find = _edits_finder(file.path)
        try:
            edits = find(file.content.encode()) if find else []
        except _CannotEmptyError:
            return None
        emptied += len(edits)
        files.append(SourceFile(path=file.path, content=_apply(file.content.encode(), edits).decode()))
    return FileSolution(task_id=reference.task_id, files=files) if emptied else None


def _edits_finder(path: str) -> Callable[[bytes], list[Edit]] | None:
    language = language_of(path)
    return _EDITS_OF[language] if language else None


def _apply(source: bytes, edits: list[Edit]) -> bytes:
    for start, end, text in sorted(edits, reverse=True):
        source = source[:start] + text + source[end:]
    return source


def _cpp_edits(source: bytes) -> list[Edit]:
    from tree_sitter import Parser

    parser = Parser(grammar(Language.CUDA))
    edits = []
    for function in _external_functions(parser.parse(source).root_node):
        body = function.child_by_field_name("body") or _child(function, "try_statement")
        if body is not None and (text := _empty_body(function)) is not None:
            edits.append((body.start_byte, body.end_byte, text))
    # Errors inside bodies are gone with them. Where one is left, a function may have been missed.
    if parser.parse(_apply(source, edits)).root_node.has_error:
        raise _CannotEmptyError
    return edits


def _external_functions(node: Node) -> Iterator[Node]:
    """The function definitions below ``node`` that other files can call, outermost only."""
    for child in node.named_children:
        if child.type == "function_definition":
            words = _specifiers(child)
            internal = words & _KEPT_SPECIFIERS or ("__device__" in words and "__global__" not in words)
            if not internal:
                yield child
        elif child.type == "namespace_definition":
            if child.child_by_field_name("name") is not None:
                yield from _external_functions(child)
        elif child.type not in {"class_specifier", "struct_specifier", "union_specifier"}:
            yield from _external_functions(child)


def _specifiers(function: Node) -> set[str]:
    return {(child.text or b"").decode() for child in function.children if child.type != "compound_statement"}


def _empty_body(function: Node) -> bytes | None:
    """The body that replaces that of ``function``; None where it may stay as it is.

    Raises:
        _CannotEmptyError: it returns a reference, and there is nothing to refer to.
    """
    kind, declarator = function.child_by_field_name("type"), function.child_by_field_name("declarator")
    result = b"{ return {}; }"
    if declarator is None:
        raise _CannotEmptyError
    if kind is None:  # a constructor, a destructor or a conversion
        return result if _descendant(declarator, "operator_cast") else b"{}"
    returned = kind.text or b""
    if kind.type == "placeholder_type_specifier":
        trailing = _descendant(declarator, "trailing_return_type")
        if trailing is None:
            return None  # no other file can call what has no type before its body is seen
        returned = (trailing.text or b"").removeprefix(b"->").strip()
    if declarator.type == "reference_declarator" or returned.endswith(b"&"):
        raise _CannotEmptyError
    return b"{}" if returned == b"void" and declarator.type != "pointer_declarator" else result


def _child(node: Node, kind: str) -> Node | None:
    return next((child for child in node.children if child.type == kind), None)


def _descendant(node: Node, kind: str) -> Node | None:
    """The first node of that kind below ``node``, parameters left out."""
    for child in node.children:
        if child.type == kind:
            return child
        if child.type != "parameter_list" and (found := _descendant(child, kind)):
            return found
    return None


def _python_edits(source: bytes) -> list[Edit]:
    try:
        module = ast.parse(source)
    except (SyntaxError, ValueError):
        raise _CannotEmptyError from None
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    edits: list[Edit] = []
    for function in _python_functions(module):
        first, last = function.body[0], function.body[-1]
        # The position of a definition is that of its keyword; decorators stand above, in the same column.
        above = first.decorator_list if isinstance(first, _DEFINITIONS) else []
        row = min([first.lineno, *(decorator.lineno for decorator in above)])
        end = starts[(last.end_lineno or last.lineno) - 1] + (last.end_col_offset or 0)
        edits.append((starts[row - 1] + first.col_offset, end, b"pass"))
    return edits


_EDITS_OF = {Language.CUDA: _cpp_edits, Language.PYTHON: _python_edits}
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _python_functions(node: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield child
        else:
            yield from _python_functions(child)
