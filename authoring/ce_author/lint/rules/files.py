"""Rules about the files of a problem: which must be there, and which must not meet in one workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePosixPath

from ce_author.lint.facts import source_files, text_at, texts_at, value_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import JUNK_NAMES, JUNK_SUFFIXES, PARTS, PATCH_SUFFIXES, ProblemFolder
from ce_eval.parsing import CPP_HEADERS
from ce_schema.diagnostics import Location, Severity
from ce_schema.errors import CeError, did_you_mean
from ce_schema.solution import SourceFile
from ce_schema.spec import SPEC_FILE

# `solutions/` holds further solutions with the outcome each must have.
_KNOWN_ENTRIES = (SPEC_FILE, *PARTS, "solutions")
_NOTES = (".md", ".txt")


def _patches(folder: ProblemFolder) -> list[SourceFile]:
    return [file for file in folder.solution if file.path.endswith(PATCH_SUFFIXES)]


def _solution_files(folder: ProblemFolder) -> Iterator[tuple[str, SourceFile]]:
    """The files that a solution folder of whole files puts into the workspace."""
    if not _patches(folder):
        yield from source_files(folder, "solution")


def _unread(folder: ProblemFolder, part: str) -> bool:
    """Whether something in a part could not be read, so that a file may only seem to be missing."""
    place = f"{folder.label}/{part}"
    return any(defect.location.path.startswith(place) for defect in folder.defects)


@rule(
    "files.missing-solution",
    Severity.ERROR,
    "there is a reference solution",
    why="Nothing shows that the problem can be solved, and there is no baseline for speedups.",
)
def has_solution(folder: ProblemFolder, report: Report) -> None:
    """Ask for files in solution/."""
    if not folder.solution and not _unread(folder, "solution"):
        report(
            "has no reference solution",
            Location(folder.label),
            "write the solution's files, or one .patch, into solution/",
        )


@rule(
    "files.missing-test",
    Severity.ERROR,
    "there is a hidden test",
    why="Without one every solution that builds passes.",
)
def has_test(folder: ProblemFolder, report: Report) -> None:
    """Ask for files in test/."""
    if not folder.test and not _unread(folder, "test"):
        report("has no test", Location(folder.label), "write the test's files into test/")


@rule(
    "files.missing-header",
    Severity.WARNING,
    "a C++ problem declares its interface in a header",
    why="A declaration given in prose only is copied with errors, which no test of the kernel is about.",
)
def has_header(folder: ProblemFolder, report: Report) -> None:
    """Ask for a header among the context files."""
    if text_at(folder, "problem_type") != "cuda_cpp" or _unread(folder, "context"):
        return
    if not any(file.path.endswith(CPP_HEADERS) for file in folder.context):
        report(
            "has no header in context/",
            Location(folder.label),
            "declare what the solution must define in context/include/NAME.h",
        )


@rule(
    "files.mixed-solution",
    Severity.ERROR,
    "solution/ holds either whole files or one patch",
    why="The public reader refuses anything else.",
)
def solution_is_of_one_kind(folder: ProblemFolder, report: Report) -> None:
    """Refuse a patch beside other files."""
    patches = _patches(folder)
    if patches and len(folder.solution) > 1:
        report(
            f"solution/ holds {len(patches)} patch(es) among {len(folder.solution)} files",
            Location(f"{folder.label}/solution/{patches[0].path}"),
            "keep one patch alone, or whole files",
        )


@rule(
    "files.patch",
    Severity.ERROR,
    "a reference patch applies to the context",
    why="A patch solution is applied before anything is built.",
)
def patch_applies(folder: ProblemFolder, report: Report) -> None:
    """Apply the patch to the context files."""
    if len(folder.solution) != 1 or not (patches := _patches(folder)):
        return
    from ce_corpus.patches import PatchError, apply_patch

    try:
        apply_patch(list(folder.context), patches[0].content)
    except PatchError as error:
        label = f"{folder.label}/solution/{patches[0].path}"
        number = (error.where or "").partition("patch:")[2]
        place = Location(label, int(number), 1) if number.isdigit() else Location(label)
        report(f"does not apply: {error.what}", place, error.fix or "make the patch anew against context/")
    except CeError:
        # No git here: that is the machine's lack, not the problem's.
        return


@rule(
    "files.replaces-test",
    Severity.ERROR,
    "the solution writes neither over the test nor into its folders",
    why="Build commands collect the test's folders with globs; evaluators refuse such a solution.",
)
def solution_leaves_test_alone(folder: ProblemFolder, report: Report) -> None:
    """Compare the paths of solution and test, as `ce_eval.workspace.arrange` does."""
    tests = {file.path.casefold() for file in folder.test}
    folders = {str(PurePosixPath(file.path).parent) for file in folder.test} - {"."}
    for label, file in _solution_files(folder):
        if file.path.casefold() in tests:
            report(f"replaces the test's file {file.path}", Location(label), "give it another path")
        elif inside := [parent for parent in PurePosixPath(file.path).parents if str(parent) in folders]:
            report(f"lies in {inside[0]}/, a folder of the test", Location(label), "give it another path")


@rule(
    "files.replaces-context",
    Severity.ERROR,
    "the solution changes only context files that it may",
    why="The interface is the author's: headers stay, or what metadata.editable does not list.",
)
def solution_keeps_interface(folder: ProblemFolder, report: Report) -> None:
    """Compare the files of solution and context; a copy without a change harms nobody."""
    context = {file.path: file.content for file in folder.context}
    editable = value_at(folder, "metadata", "editable")
    for label, file in _solution_files(folder):
        if context.get(file.path) in {None, file.content}:
            continue
        if isinstance(editable, list):
            if file.path not in editable:
                report(
                    f"changes {file.path}, which metadata.editable does not list",
                    Location(label),
                    "list it there, or give the solution's file another path",
                )
        elif file.path.endswith(CPP_HEADERS):
            report(
                f"changes the header {file.path}",
                Location(label),
                "include the header unchanged, or list it in metadata.editable",
            )


@rule(
    "files.editable",
    Severity.WARNING,
    "metadata.editable lists context files",
    why="A misspelled path forbids what was meant to be allowed.",
)
def editable_files_exist(folder: ProblemFolder, report: Report) -> None:
    """Look the listed paths up."""
    context = [file.path for file in folder.context]
    for index, path in texts_at(folder, "metadata", "editable"):
        if path not in context:
            place = folder.where("metadata", "editable", index)
            report(
                f"context/ has no file {path}.{did_you_mean(path, context)}", place, "correct or remove it"
            )


@rule(
    "files.shadowed-context",
    Severity.WARNING,
    "test and context share no file",
    why="The test's file is written over the one that the model was shown.",
)
def test_leaves_context_alone(folder: ProblemFolder, report: Report) -> None:
    """Compare the paths of test and context."""
    shown = {file.path for file in folder.context}
    for label, file in source_files(folder, "test"):
        if file.path in shown:
            report(f"stands in context/ as well: {file.path}", Location(label), "keep one of the two")


@rule(
    "files.clash",
    Severity.ERROR,
    "all paths can stand in one folder, on any file system",
    why="The files of all parts are written into one workspace.",
)
def paths_fit_together(folder: ProblemFolder, report: Report) -> None:
    """Look for a file where another needs a folder, and for paths that differ in case only."""
    files = [*source_files(folder, "context", "test"), *_solution_files(folder)]
    owners = {file.path: label for label, file in files}
    folded: dict[str, str] = {}
    for path, label in owners.items():
        for parent in PurePosixPath(path).parents:
            if other := owners.get(str(parent)):
                report(f"needs a folder where {other} is a file", Location(label), "rename one of them")
        if (twin := folded.setdefault(path.casefold(), path)) != path:
            report(f"differs from {owners[twin]} in case only", Location(label), "rename one of them")


@rule(
    "files.hidden",
    Severity.WARNING,
    "no file is hidden",
    why="Globs pass over it and people overlook it, but it travels in the pack.",
)
def nothing_is_hidden(folder: ProblemFolder, report: Report) -> None:
    """Look for names that start with a dot."""
    for label, file in source_files(folder):
        if any(part.startswith(".") for part in file.path.split("/")):
            report("is hidden", Location(label), "remove or rename it")


@rule(
    "files.empty",
    Severity.WARNING,
    "no file is empty",
    why="An empty file was mostly meant to hold something.",
)
def nothing_is_empty(folder: ProblemFolder, report: Report) -> None:
    """Look for files without a visible character; an empty __init__.py means something."""
    for label, file in source_files(folder):
        if not file.content.strip() and not file.path.endswith("__init__.py"):
            report("is empty", Location(label), "fill or remove it")


@rule(
    "files.stray",
    Severity.WARNING,
    "a problem folder holds its parts and nothing else",
    why="What lies beside the parts is not packed: files of a misspelled folder are simply missing.",
)
def nothing_lies_about(folder: ProblemFolder, report: Report) -> None:
    """List the folder itself; notes of the author may stay."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder.path))
    except OSError:
        return
    for name in names:
        known = name in _KNOWN_ENTRIES or name in JUNK_NAMES
        if known or name.endswith((*JUNK_SUFFIXES, *_NOTES)):
            continue
        near = did_you_mean(name, list(_KNOWN_ENTRIES))
        report(
            f"belongs to no part of the problem.{near}",
            Location(f"{folder.label}/{name}"),
            "move it into context/, test/ or solution/, or remove it",
        )
