"""Rules about the benchmark and how its time is read."""

from __future__ import annotations

import re

from ce_author.lint.facts import source_files, text_at, texts_at, value_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Severity

TIME_LINE = "COMPUTE_EVAL_TIME_MS"
_LITERAL_PART = re.compile(r"[^*?\[\]]+")


@rule(
    "timing.unused",
    Severity.WARNING,
    "timing_mode stands with a benchmark_command",
    why="Nothing is timed without a benchmark.",
)
def mode_has_benchmark(folder: ProblemFolder, report: Report) -> None:
    """Look for a mode alone."""
    if value_at(folder, "timing_mode") is not None and value_at(folder, "benchmark_command") is None:
        place = folder.where("timing_mode")
        report("nothing is timed: there is no benchmark_command", place, "write one, or remove timing_mode")


@rule(
    "timing.default",
    Severity.INFO,
    "a benchmark says what of it is timed",
    why="The default times the whole process, most of which is the start of CUDA: speedups look small.",
)
def benchmark_has_mode(folder: ProblemFolder, report: Report) -> None:
    """Look for a benchmark whose mode is the whole process."""
    if value_at(folder, "benchmark_command") is None:
        return
    if text_at(folder, "timing_mode", "type") in {None, "process"}:
        report(
            "the benchmark times the whole process, start-up of CUDA included",
            folder.where("benchmark_command"),
            "mark the timed part with an NVTX range and write timing_mode: {type: region, include: [NAME]}",
        )


@rule(
    "timing.custom",
    Severity.ERROR,
    "a benchmark with custom timing prints its time",
    why=f"The time is read from a line '{TIME_LINE}: <ms>'; without it the benchmark always fails.",
)
def custom_time_is_printed(folder: ProblemFolder, report: Report) -> None:
    """Look for the line's name in the sources."""
    if text_at(folder, "timing_mode", "type") != "custom" or value_at(folder, "benchmark_command") is None:
        return
    if not any(TIME_LINE in file.content for _, file in source_files(folder)):
        place = folder.where("timing_mode", "type")
        report(f"no source prints {TIME_LINE}", place, f"print '{TIME_LINE}: <ms>' in the benchmark")


@rule(
    "timing.region",
    Severity.WARNING,
    "the NVTX ranges that are timed are named in the sources",
    why="A range that nothing opens has no time, and the benchmark fails.",
)
def regions_are_opened(folder: ProblemFolder, report: Report) -> None:
    """Look for the longest literal part of each glob."""
    if text_at(folder, "timing_mode", "type") != "region":
        return
    for index, pattern in texts_at(folder, "timing_mode", "include"):
        literal = max(_LITERAL_PART.findall(pattern), key=len, default="")
        if not any(literal in file.content for _, file in source_files(folder)):
            place = folder.where("timing_mode", "include", index)
            report(f"no source names a range '{pattern}'", place, "open it in the test, or correct its name")
