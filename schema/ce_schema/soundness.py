"""What makes a problem impossible to grade, whatever the solution: the pack's fault, never a model's.

The models of the format are as lax as the public ones, so that every published line can be read. A line can
then hold commands and files that no solution passes, or that every solution passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ce_schema.paths import path_defect
from ce_schema.problem import BaseProblem

# Linux takes no longer argument, and a command is one argument of a shell.
MAX_COMMAND_BYTES = 100_000
MAX_TIMEOUT_SECONDS = 86_400.0


def problem_defects(problem: BaseProblem) -> Iterator[str]:
    """Every reason not to grade a problem."""
    yield from setting_defects(problem)
    yield from file_defects(problem)


def setting_defects(problem: BaseProblem) -> Iterator[str]:
    """What is wrong with the commands and limits of a problem."""
    if not problem.test_command.strip():
        yield "test_command is empty, which every solution would pass"
    for name in ("build_command", "test_command", "benchmark_command"):
        command = getattr(problem, name) or ""
        if "\0" in command:
            yield f"{name} holds a NUL, which no shell takes"
        elif len(command.encode(errors="replace")) > MAX_COMMAND_BYTES:
            yield f"{name} is longer than {MAX_COMMAND_BYTES} bytes"
    seconds = problem.timeout_seconds
    # NaN is in no range.
    if seconds is not None and not 0 < seconds <= MAX_TIMEOUT_SECONDS:
        yield f"timeout_seconds is {seconds:g}, not above 0 and at most {MAX_TIMEOUT_SECONDS:g}"


def file_defects(problem: BaseProblem) -> Iterator[str]:
    """What is wrong with the places of a problem's files."""
    paths = [file.path for file in (*problem.context_files, *problem.test_files)]
    for path in paths:
        if defect := path_defect(path):
            yield f"the path {ascii(path)[:200]} {defect}"
    for path, number in Counter(paths).items():
        if number > 1:
            yield f"the file {ascii(path)[:200]} stands {number} times"
    yield from path_clashes(paths)


def path_clashes(paths: Iterable[str]) -> Iterator[str]:
    """Paths that are a file and a folder at once."""
    files = set(paths)
    for file in sorted(files):
        for end, char in enumerate(file):
            if char == "/" and file[:end] in files:
                yield f"{ascii(file[:end])[:200]} is a file and the folder of {ascii(file)[:200]}"
