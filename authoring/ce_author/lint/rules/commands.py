"""Rules about the three commands: they can be read, and what they name is there when they run."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ce_author.lint.facts import place_in_value, source_files, text_at, value_at
from ce_author.lint.registry import Report, rule
from ce_author.lint.shell import Effects, builds_something, effects, normal
from ce_corpus.folder import PATCH_SUFFIXES, ProblemFolder
from ce_schema.diagnostics import Severity
from ce_schema.errors import did_you_mean

_COMMANDS = ("build_command", "test_command", "benchmark_command")
_PATCHED_FILE = re.compile(r"^\+\+\+ b/(.+)$", re.MULTILINE)


def _workspace(folder: ProblemFolder) -> list[str]:
    """The paths that stand in the workspace once the reference is in it."""
    paths: list[str] = []
    for _, file in source_files(folder, "context", "test", "solution"):
        paths.append(file.path)
        if file.path.endswith(PATCH_SUFFIXES):
            paths += _PATCHED_FILE.findall(file.content)
    return paths


@rule(
    "command.syntax",
    Severity.ERROR,
    "commands can be read by a shell",
    why="A command that the shell refuses fails for every solution.",
)
def can_be_read(folder: ProblemFolder, report: Report) -> None:
    """Split each command as a shell does."""
    for key in _COMMANDS:
        command = text_at(folder, key)
        if command is None:
            continue
        if not command.strip():
            report(f"{key} is blank", folder.where(key), "write a command, or null where that is allowed")
            continue
        try:
            effects(command, ())
        except ValueError as error:
            words = f"{error}".lower()
            report(f"{key} cannot be read by a shell: {words}", folder.where(key), "close the quotes")


@rule(
    "command.missing-file",
    Severity.ERROR,
    "what a command names is in the workspace or made by a command before",
    why="The command fails for every solution, the right ones too.",
)
def names_what_is_there(folder: ProblemFolder, report: Report) -> None:
    """Follow what each command needs and leaves behind, with the reference in place."""
    if not folder.solution or any(defect.rule.startswith(("text.", "files.")) for defect in folder.defects):
        # Without all files nothing can be said about missing ones.
        return
    files = _workspace(folder)
    for key, command, found in _run_all(folder, files):
        for word in found.missing:
            place = place_in_value(folder, (key,), max(command.find(word), 0))
            report(_absence(key, word, [*files, *found.made]), place, _remedy(word))


def _run_all(folder: ProblemFolder, files: list[str]) -> Iterator[tuple[str, str, Effects]]:
    before: Effects | None = None
    for key in _COMMANDS:
        command = text_at(folder, key)
        if command is None:
            continue
        try:
            before = effects(command, files, before)
        except ValueError:
            return
        yield key, command, before


def _absence(key: str, word: str, known: list[str]) -> str:
    if any(char in word for char in "*?["):
        return f"{key}: no file matches {word}"
    near = did_you_mean(normal(word), known)
    if word.startswith("./"):
        return f"{key}: {word} is no file of the problem, and no command before makes it.{near}"
    return f"{key}: there is no file {word} in context/, test/ or solution/.{near}"


def _remedy(word: str) -> str:
    if word.startswith("./"):
        return "name what the build makes (its -o), or add the file"
    return "paths are those inside context/, test/ and solution/, all put into one folder"


@rule(
    "command.no-build",
    Severity.ERROR,
    "a C++ problem is built",
    why="Without build_command nothing compiles the solution.",
)
def is_built(folder: ProblemFolder, report: Report) -> None:
    """Ask for a build_command where the test does not build either."""
    if text_at(folder, "problem_type") != "cuda_cpp" or value_at(folder, "build_command") is not None:
        return
    test = text_at(folder, "test_command")
    if test is not None and not builds_something(test):
        place = folder.where("build_command")
        report("a cuda_cpp problem has no build_command", place, "write the nvcc call that builds it")
