"""Rules about limits and requirements."""

from __future__ import annotations

from ce_author.lint.facts import text_at, value_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Severity

SHORTEST_SECONDS, LONGEST_SECONDS = 2, 1800
# What the toolkit builds and runs: CUDA 12 and 13, and what CUDA 13 compiles for.
OLDEST_TOOLKIT, LOWEST_CAPABILITY = (12, 0), (7, 5)


@rule(
    "limits.timeout",
    Severity.WARNING,
    "timeout_seconds leaves time to compile, and ends a hang soon",
    why="The limit is for build and test each: too short fails right solutions on a busy machine, too long "
    "lets one endless loop hold a GPU for all of it.",
)
def timeout_is_sane(folder: ProblemFolder, report: Report) -> None:
    """Compare the limit with what compilers and tests take."""
    seconds = value_at(folder, "timeout_seconds")
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)) or seconds <= 0:
        return
    place = folder.where("timeout_seconds")
    if seconds < SHORTEST_SECONDS:
        report(f"{seconds} s is shorter than nvcc takes", place, "allow ten times what the reference needs")
    elif seconds > LONGEST_SECONDS:
        report(f"{seconds} s holds a GPU for a long time", place, "allow ten times what the reference needs")


@rule(
    "limits.toolkit",
    Severity.WARNING,
    "min_cuda_toolkit is a toolkit that this project supports",
    why="Nothing here was ever built with an older one, so the claim is not tested.",
)
def toolkit_is_supported(folder: ProblemFolder, report: Report) -> None:
    """Compare with the oldest toolkit supported."""
    _not_below(folder, "min_cuda_toolkit", OLDEST_TOOLKIT, report)


@rule(
    "limits.capability",
    Severity.WARNING,
    "compute_capability is one that current toolkits compile for",
    why="CUDA 13 has dropped older GPUs; the claim cannot be met there.",
)
def capability_is_supported(folder: ProblemFolder, report: Report) -> None:
    """Compare with the lowest capability supported."""
    _not_below(folder, "compute_capability", LOWEST_CAPABILITY, report)


def _not_below(folder: ProblemFolder, key: str, lowest: tuple[int, ...], report: Report) -> None:
    written = text_at(folder, key) or ""
    parts = written.split(".")
    if len(parts) < 2 or not all(part.isascii() and part.isdigit() for part in parts):
        return
    if tuple(int(part) for part in parts) < lowest:
        least = ".".join(str(part) for part in lowest)
        report(f"{key} {written} is below {least}", folder.where(key), f'write "{least}" or more')


@rule(
    "limits.arch-list",
    Severity.WARNING,
    "arch_list stands in C++ problems only",
    why="A Python problem has nothing to compile for an architecture; the public reader drops the key.",
)
def arch_list_is_of_use(folder: ProblemFolder, report: Report) -> None:
    """Look for the key in Python problems."""
    if text_at(folder, "problem_type") == "cuda_python" and value_at(folder, "arch_list"):
        report("arch_list means nothing in a Python problem", folder.where("arch_list"), "remove it")
