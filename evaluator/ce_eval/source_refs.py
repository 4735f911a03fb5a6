"""Whether a solution uses the names that its problem asks for.

Only code counts: no comment, no string, nothing under ``#if 0``. The operand of an asm statement is code.
What counts beyond that is deliberately generous, because the check may fail a solution that works:

- a name counts wherever it stands, in a call as in a declaration, in a macro's body or in a template
  argument; a solution that defines a function of the same name has the name;
- a name counts under each of its meanings: after ``namespace cg = cooperative_groups``, ``using namespace
  cub`` or ``import cupy as cp`` both the short and the full name are there;
- a reference may name a part: ``DeviceReduce`` and ``cub::DeviceReduce`` are both in
  ``cub::DeviceReduce::Sum``, ``ld.global`` is in ``ld.global.nc.f32``.

It is a hurdle against solutions that ignore the task, not a proof: see docs/design.md §5 for the rest.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ce_eval.parsing import CPP_SUFFIXES, Language, ParsedSource, language_of, parse
from ce_eval.source_names import SourceNames
from ce_schema.problem import SourceReferences
from ce_schema.solution import SourceFile

# A Python solution may compile a .cu file of its own; nothing of a C++ solution runs its .py files.
_READ = {
    "cuda_cpp": frozenset({Language.CUDA}),
    "cuda_python": frozenset({Language.CUDA, Language.PYTHON}),
}

_PART = r"[^\W\d][\w$]*"
_NAME = re.compile(rf"(?:::\s*)?({_PART}(?:\s*(?:::|\.|->)\s*~?{_PART})*)\s*(.*)", re.DOTALL)
_DIRECTIVE = re.compile(r"#\s*include\s*[<\"]([^>\"]+)[>\"]")
_BRACKETED = re.compile(r"<([\w.+-]+(?:/[\w.+-]+)*)>")
_HEADER = re.compile(
    rf"[\w.+-]+(?:/[\w.+-]+)+|[\w+-]+(?:{'|'.join(map(re.escape, sorted(CPP_SUFFIXES, reverse=True)))})"
)


@dataclass(frozen=True, slots=True)
class ReferenceReport:
    """Which references were found, and which are wanting.

    ``missing_all`` are those of ``all`` that are not there. ``missing_any`` is the whole of ``any`` when none
    of it is there, else empty. ``files_read`` is how many files were in a language of the problem.
    """

    found: tuple[str, ...]
    missing_all: tuple[str, ...]
    missing_any: tuple[str, ...]
    files_read: int

    @property
    def ok(self) -> bool:
        """Whether the solution has what it must have."""
        return not self.missing_all and not self.missing_any

    @property
    def message(self) -> str:
        """What is missing, on one line, for ``test_output``; empty when nothing is."""
        if self.ok:
            return ""
        wants = [
            f"{what} [{', '.join(names)}]"
            for what, names in (("all of", self.missing_all), ("none of", self.missing_any))
            if names
        ]
        where = "" if self.files_read else " (the solution has no source file)"
        return f"source references missing: {'; '.join(wants)}{where}"


def check_source_references(
    files: Sequence[SourceFile],
    references: SourceReferences,
    language: Literal["cuda_cpp", "cuda_python"],
    context: Sequence[SourceFile] = (),
) -> ReferenceReport:
    """Look ``references`` up in the sources among ``files``: all of ``all``, and one of ``any``.

    Files are told apart by suffix (``ce_eval.parsing.CPP_SUFFIXES``, ``PYTHON_SUFFIXES``); a build file or
    a note does not count. ``context`` files only lend what they alias. An empty list asks for nothing, and a
    blank reference is never found. Works on any text, in time linear in its size, and raises nothing.
    """
    sources = _parsed(files, language)
    names = SourceNames(sources, _parsed(context, language))
    of_all, of_any = (tuple(dict.fromkeys(wanted or ())) for wanted in (references.all, references.any))
    found = {reference for reference in {*of_all, *of_any} if _is_used(reference, names)}
    return ReferenceReport(
        found=tuple(reference for reference in dict.fromkeys(of_all + of_any) if reference in found),
        missing_all=tuple(reference for reference in of_all if reference not in found),
        missing_any=of_any if found.isdisjoint(of_any) else (),
        files_read=len(sources),
    )


def _parsed(files: Sequence[SourceFile], language: Literal["cuda_cpp", "cuda_python"]) -> list[ParsedSource]:
    kinds = ((file, language_of(file.path)) for file in files)
    return [parse(file.content, kind) for file, kind in kinds if kind in _READ[language]]


def _is_used(reference: str, names: SourceNames) -> bool:
    """Whether one reference is there: as a header, a name, a name with arguments, or a run of tokens."""
    wanted = reference.strip().rstrip("; \t\r\n").removeprefix("@")
    header = _DIRECTIVE.fullmatch(wanted) or _BRACKETED.fullmatch(wanted)
    if header:
        return names.includes(header[1])
    if _HEADER.fullmatch(wanted) and names.includes(wanted):
        return True
    if not (name := _NAME.fullmatch(wanted)):
        return names.spells(wanted)
    parts = tuple(re.findall(_PART, name[1]))
    arguments = re.sub(r"\s+", "", name[2])
    if not arguments or arguments in ("()", "<>", "("):
        return names.uses(parts)
    # The arguments are looked for behind the last part: the first ones may be written short.
    return names.uses(parts) and names.spells(parts[-1] + name[2])
