"""Problems that say nothing about a solution, whatever it is."""

from __future__ import annotations

import math

import pytest
from support import make_problem

from ce_schema.solution import SourceFile
from ce_schema.soundness import problem_defects


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"test_command": ""}, "test_command is empty"),
        ({"test_command": " \n"}, "test_command is empty"),
        ({"build_command": "true\0"}, "build_command holds a NUL"),
        ({"benchmark_command": ": " + "x" * 200_000}, "benchmark_command is longer"),
        ({"timeout_seconds": 0.0}, "timeout_seconds is 0"),
        ({"timeout_seconds": -1.0}, "timeout_seconds is -1"),
        ({"timeout_seconds": 1e308}, "timeout_seconds is 1e+308"),
        ({"timeout_seconds": math.nan}, "timeout_seconds is nan"),
        ({"test_files": [SourceFile(path="../x", content="")]}, "contains '..'"),
        ({"test_files": [SourceFile(path="a" * 300, content="")]}, "has a component longer"),
        ({"test_files": [SourceFile(path="context.txt", content="")]}, "stands 2 times"),
        ({"test_files": [SourceFile(path="context.txt/a", content="")]}, "is a file and the folder of"),
    ],
)
def test_defects(changes: dict[str, object], says: str) -> None:
    (defect,) = problem_defects(make_problem(**changes))
    assert says in defect


def test_sound_problems_have_none() -> None:
    assert not list(problem_defects(make_problem()))
    assert not list(problem_defects(make_problem(timeout_seconds=None, build_command="")))
