"""What command lines need and leave behind."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ce_author.lint.shell import builds_something, effects, glob_matches

FILES = ["solution.cu", "test/test_main.cu", "test/run.py", "include/a.h"]


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("nvcc -o t solution.cu test/*.cu && ./t", []),
        ("nvcc -o t solution.cu && ./t.out", ["./t.out"]),
        ("nvcc solution.cu && ./a.out", []),
        ("nvcc -c solution.cu && nvcc solution.o -o t", []),
        ("nvcc -c solution.cu other.cu", ["other.cu"]),
        ("nvcc -dc solution.cu && nvcc solution.o", []),
        ("nvcc --compile solution.cu && nvcc solution.o", []),
        ("nvcc -Xlinker x.o -include y.cu -MF z.c solution.cu", []),
        ("nvcc src/*.cu", ["src/*.cu"]),
        ("nvcc *.cu", []),
        ("nvcc *.cpp", ["*.cpp"]),
        ("nvcc /opt/x.cu ~/y.cu $Z.cu ../w.cu {a,b}.cu `ls`.cu", []),
        ("python3 -u -W ignore test/run.py missing.py", []),
        ("python3 -c 'import x' y.py", []),
        ("python3 missing.py", ["missing.py"]),
        ("python3 -m pytest -k a test/run.py::b c.py", ["c.py"]),
        ("python3 -m mine missing.py", []),
        ("pytest test/missing.py", ["test/missing.py"]),
        ("bash run.sh", ["run.sh"]),
        ("sh -c ./missing", []),
        ("A=1 B=2 timeout 5 env ./missing --x", ["./missing"]),
        ("./missing | tee log", []),
        ("(cd build && make); ./t", []),
        ("make t && ./t", []),
        ("true || ./missing", ["./missing"]),
        ("mkdir -p b && ./missing", ["./missing"]),
        ("", []),
    ],
)
def test_missing(command: str, missing: list[str]) -> None:
    assert effects(command, FILES).missing == missing


def test_a_later_command_sees_what_an_earlier_one_made() -> None:
    build = effects("nvcc -o bin/t solution.cu", FILES)
    assert not effects("./bin/t", FILES, build).missing
    assert effects("./bin/u", FILES, build).missing == ["./bin/u"]


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.cu", "a.cu", True),
        ("*.cu", "t/a.cu", False),
        ("t/*.cu", "t/a.cu", True),
        ("*", ".hidden", False),
        (".*", ".hidden", True),
        ("[ab].c?", "a.cu", True),
        ("*/x", "t/x", True),
    ],
)
def test_globs_are_the_shells(pattern: str, path: str, matches: bool) -> None:
    assert glob_matches(pattern, path) is matches


@pytest.mark.parametrize(
    ("command", "builds"),
    [("./t", False), ("nvcc x.cu", True), ("make", True), ("echo a", False), ("'", True)],
)
def test_builds_something(command: str, builds: bool) -> None:
    assert builds_something(command) is builds


@settings(deadline=None)
@given(st.text(st.sampled_from("abc./-*&|;<>()'\"\\$ \n#=o"), max_size=40))
def test_any_text_has_effects_or_open_quotes(command: str) -> None:
    try:
        found = effects(command, FILES)
    except ValueError:
        return
    assert set(found.missing) <= set(found.missing)
