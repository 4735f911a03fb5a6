"""Rules about a problem's own copy of the test harness."""

from __future__ import annotations

from pathlib import PurePosixPath

from ce_author.harness import HARNESS_OF, HARNESS_VERSION, harness_version, shipped_harness
from ce_author.lint.facts import source_files, text_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_corpus.textfile import text_place
from ce_schema.diagnostics import Location, Severity

_FILES = frozenset(HARNESS_OF.values())


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
        if name not in _FILES:
            continue
        have, current = harness_version(file.content), harness_version(shipped_harness(name))
        if have != current:
            match = HARNESS_VERSION.search(file.content)
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
        if name not in _FILES:
            continue
        shipped = shipped_harness(name)
        if harness_version(file.content) == harness_version(shipped) and file.content != shipped:
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
    if named not in _FILES:
        return
    copies = [file for _, file in source_files(folder, "test") if PurePosixPath(file.path).name == named]
    place = folder.where("metadata", "harness")
    if not copies:
        report(f"the test has no {named}", place, "correct the name, or copy the harness into test/test/")
    elif version and version != (have := harness_version(copies[0].content)):
        report(f"the copy in the test is version {have}, not {version}", place, f'write "{named} {have}"')
