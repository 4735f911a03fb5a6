"""Rules about a problem's own copy of the test harness."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path, PurePosixPath

from ce_author.lint.facts import source_files, text_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_corpus.textfile import text_place
from ce_schema.diagnostics import Location, Severity

HARNESS_FILES = ("ce_harness.hpp", "ce_harness.py")
_VERSION = re.compile(r'^(?:#define CE_HARNESS_VERSION|(?:CE_HARNESS_)?VERSION =) "([^"]+)"', re.MULTILINE)


@cache
def _shipped(name: str) -> str | None:
    import ce_eval

    path = Path(ce_eval.__file__).with_name("harness") / name
    return path.read_text(encoding="utf-8") if path.is_file() else None


def _version(text: str) -> str | None:
    match = _VERSION.search(text)
    return match.group(1) if match else None


@rule(
    "harness.version",
    Severity.INFO,
    "the test's harness is the current version",
    why="Later versions notice more. A copy travels with the problem so that old packs keep their verdicts.",
)
def is_current(folder: ProblemFolder, report: Report) -> None:
    """Compare the version of each copy with the shipped one's."""
    for label, file in source_files(folder, "test"):
        name = PurePosixPath(file.path).name
        if name not in HARNESS_FILES or (shipped := _shipped(name)) is None:
            continue
        have, current = _version(file.content), _version(shipped)
        if have != current:
            match = _VERSION.search(file.content)
            place = text_place(file.content, match.start(1), label) if match else Location(label)
            report(f"{name} is version {have or 'unknown'}; current is {current}", place, "upgrade the copy")


@rule(
    "harness.edited",
    Severity.WARNING,
    "the test's harness is as it was shipped",
    why="An upgrade would undo the edit, and nobody expects a copy to differ.",
)
def is_as_shipped(folder: ProblemFolder, report: Report) -> None:
    """Compare copies of the current version with the shipped file."""
    for label, file in source_files(folder, "test"):
        name = PurePosixPath(file.path).name
        if name not in HARNESS_FILES or (shipped := _shipped(name)) is None:
            continue
        if _version(file.content) == _version(shipped) and file.content != shipped:
            place = Location(label, _first_difference(file.content, shipped), 1)
            report(
                f"{name} differs from the shipped file of its version", place, "copy the shipped file again"
            )


def _first_difference(text: str, other: str) -> int:
    ours, theirs = text.split("\n"), other.split("\n")
    pairs = zip(ours, theirs, strict=False)
    return next((n for n, (a, b) in enumerate(pairs, 1) if a != b), min(len(ours), len(theirs)))


@rule(
    "harness.label",
    Severity.WARNING,
    "metadata.harness names the harness that the test has",
    why="People and tools look for problems of a harness version there.",
)
def is_labelled(folder: ProblemFolder, report: Report) -> None:
    """Compare ``FILE VERSION`` in the metadata with the copy."""
    named, _, version = (text_at(folder, "metadata", "harness") or "").partition(" ")
    if named not in HARNESS_FILES:
        return
    copies = [file for _, file in source_files(folder, "test") if PurePosixPath(file.path).name == named]
    place = folder.where("metadata", "harness")
    if not copies:
        report(f"the test has no {named}", place, "correct the name, or copy the harness into test/test/")
    elif version and version != (have := _version(copies[0].content)):
        report(f"the copy in the test is version {have}, not {version}", place, f'write "{named} {have}"')
