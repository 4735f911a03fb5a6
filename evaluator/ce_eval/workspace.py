"""The files a solution is built and tested in: whose file wins, and what a solution may not touch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ce_eval.parsing import CPP_HEADERS
from ce_schema.paths import path_defect
from ce_schema.problem import Problem
from ce_schema.solution import PatchSolution, Solution, SourceFile

MAX_SOLUTION_BYTES = 32 << 20


class InvalidSolutionError(Exception):
    """The solution breaks the rules before anything is built; the message says which."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The files of a workspace, and what the grade must say about them.

    ``author`` holds the problem's files as they will stand on disk, ``solution`` the candidate's.
    """

    author: dict[str, str]
    solution: dict[str, str]
    notes: list[dict[str, object]] = field(default_factory=list)


def arrange(problem: Problem, solution: Solution) -> Workspace:
    """Decide which files a workspace holds.

    The interface is the author's: a replaced file of it is put back and noted. The context files that
    ``metadata.editable`` lists are none of it; without that key, those that are no headers. A path inside a
    folder that holds test files is refused, for build commands collect such folders with globs.

    Raises:
        InvalidSolutionError: a path is not allowed, a file stands twice, or a patch does not apply.
    """
    context = {file.path: file.content for file in problem.context_files}
    test = {file.path: file.content for file in problem.test_files}
    for path in (*context, *test):
        if defect := path_defect(path):
            raise InvalidSolutionError(f"the problem's own file {path!r} {defect}")
    candidate = _candidate_files(problem, solution)
    test_folders = {path.rpartition("/")[0] for path in test} - {""}
    notes: list[dict[str, object]] = []
    kept: dict[str, str] = {}
    for path, content in candidate.items():
        _refuse(path, context, test, test_folders)
        if path in context and _is_interface(problem, path):
            if content != context[path]:
                notes.append(_note("interface.restored", path, "the author's file was put back"))
            continue
        if path in context and content != context[path]:
            notes.append(_note("context.replaced", path, "the solution replaced a context file"))
        kept[path] = content
    author = {**{path: text for path, text in context.items() if path not in kept}, **test}
    _refuse_file_as_folder({*author, *kept})
    return Workspace(author, kept, notes)


def _is_interface(problem: Problem, path: str) -> bool:
    """Whether a context file is the author's alone."""
    editable = problem.metadata.extra("editable")
    return path not in editable if isinstance(editable, list) else path.endswith(CPP_HEADERS)


def write_files(root: Path, files: dict[str, str]) -> None:
    """Write ``files`` below ``root``, which must be a folder of ours that nobody else writes to."""
    for folder in sorted({parent for path in files for parent in _parents(path)}):
        (root / folder).mkdir(exist_ok=True)
    for path, content in files.items():
        (root / path).write_bytes(content.encode())


def _candidate_files(problem: Problem, solution: Solution) -> dict[str, str]:
    if isinstance(solution, PatchSolution):
        return _patched(problem, solution)
    if not solution.files:
        raise InvalidSolutionError("the solution holds no file")
    files: dict[str, str] = {}
    for file in solution.files:
        if defect := path_defect(file.path):
            raise InvalidSolutionError(f"the path {file.path!r} {defect}")
        if file.path in files:
            raise InvalidSolutionError(f"the file {file.path!r} stands twice")
        files[file.path] = file.content
    _refuse_unwritable(solution.files)
    return files


def _patched(problem: Problem, solution: PatchSolution) -> dict[str, str]:
    from ce_corpus.patches import PatchError, apply_patch

    before = {file.path: file.content for file in problem.context_files}
    try:
        after = apply_patch(problem.context_files, solution.patch)
    except PatchError as error:
        raise InvalidSolutionError(f"the patch does not apply: {error}") from None
    # A deleted context file stays in the workspace: only what the patch wrote is the candidate's.
    return {file.path: file.content for file in after if before.get(file.path) != file.content}


def _refuse(path: str, context: Iterable[str], test: Iterable[str], test_folders: set[str]) -> None:
    folded = path.casefold()
    if any(folded == other.casefold() for other in test):
        raise InvalidSolutionError(f"the file {path!r} would overwrite a test file")
    if any(folded == other.casefold() and path != other for other in context):
        raise InvalidSolutionError(f"the file {path!r} differs from a context file in case only")
    for parent in _parents(path):
        if parent in test_folders:
            raise InvalidSolutionError(f"the file {path!r} lies in a folder of the test ({parent}/)")


def _refuse_unwritable(files: Sequence[SourceFile]) -> None:
    total = 0
    for file in files:
        try:
            total += len(file.content.encode())
        except UnicodeEncodeError:
            raise InvalidSolutionError(f"the file {file.path!r} holds a lone surrogate") from None
    if total > MAX_SOLUTION_BYTES:
        raise InvalidSolutionError(f"the solution is larger than {MAX_SOLUTION_BYTES >> 20} MiB")


def _refuse_file_as_folder(paths: set[str]) -> None:
    for path in paths:
        for parent in _parents(path):
            if parent in paths:
                raise InvalidSolutionError(f"{parent!r} is both a file and a folder")


def _parents(path: str) -> Iterator[str]:
    """Every folder above a path of the workspace, nearest first."""
    while path := path.rpartition("/")[0]:
        yield path


def _note(rule: str, path: str, message: str) -> dict[str, object]:
    return {"rule": rule, "severity": "flag", "path": path, "message": message}
