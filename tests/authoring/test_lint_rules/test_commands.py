from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import Case, check, lint, table, write_problem

MISSING = "command.missing-file"
BUILD = "nvcc -I include -o test.out solution.cu test/*.cu"
PYTHON = {"cuda_cpp": "cuda_python", f'build_command: "{BUILD}"\n': "", '"./test.out --bench"': "null"}
TEST_PY = {"test/test/test_main.py": "x\n"}


@table(
    Case(
        "command.syntax",
        spec={'"./test.out"': "'./test.out \"a'"},
        at="problem-spec.yaml:10:15",
        says="no closing quotation",
    ),
    Case("command.syntax", spec={'"./test.out"': '" "'}, at="problem-spec.yaml:10:15", says="blank"),
    Case("command.syntax", spec={'"./test.out"': "./test.out 'a b'"}),
    Case(
        MISSING,
        spec={"solution.cu": "solutoin.cu"},
        at="problem-spec.yaml:9:45",
        says="Did you mean solution.cu",
    ),
    Case(
        MISSING,
        spec={"test/*.cu": "tests/*.cu"},
        at="problem-spec.yaml:9:57",
        says="no file matches tests/*.cu",
    ),
    Case(
        MISSING,
        spec={'test_command: "./test.out"': 'test_command: "./tset.out"'},
        at="problem-spec.yaml:10:16",
        says="test.out",
    ),
    Case(MISSING, spec={"--bench": "&& ./other"}, at="problem-spec.yaml:11:35", says="./other"),
    Case(
        MISSING,
        spec={**PYTHON, '"./test.out"': '"python3 test/test.py"'},
        files=TEST_PY,
        at="problem-spec.yaml:9:24",
    ),
    Case(
        MISSING,
        spec={**PYTHON, '"./test.out"': '"python3 -m pytest -q test/t.py::a"'},
        files=TEST_PY,
        at="problem-spec.yaml:9:37",
    ),
    Case(MISSING),
    Case(MISSING, files={"solution/solution.cu": None}),
    Case(MISSING, spec={**PYTHON, '"./test.out"': '"python3 test/test_main.py --x y.py"'}, files=TEST_PY),
    Case("command.no-build", spec={f'"{BUILD}"': "null"}, at="problem-spec.yaml:9:16"),
    Case("command.no-build", spec={f'build_command: "{BUILD}"\n': ""}, at="problem-spec.yaml:1:1"),
    Case("command.no-build", spec={f'"{BUILD}"': "null", '"./test.out"': '"make test"'}),
    Case("command.no-build", spec=PYTHON),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


@pytest.mark.parametrize(
    "build",
    [
        "nvcc -std=c++17 -O3 -arch=native -I include -o test.out solution.cu test/*.cu -lcublas -lcurand",
        "nvcc -arch sm_90a --expt-relaxed-constexpr -Xcompiler -fopenmp -o test.out solution.cu test/*.cu",
        "nvcc -rdc=true -gencode arch=compute_80,code=sm_80 -Werror all-warnings -o test.out *.cu test/*.cu",
        "nvcc -c -o solution.o solution.cu && nvcc -o test.out solution.o test/*.cu",
        "nvcc -c solution.cu && g++ -o test.out solution.o -L/usr/local/cuda/lib64 -lcudart",
        "nvcc -I $CUTLASS_PATH/include -I/opt/cutlass/include -o test.out solution.cu test/*.cu ${EXTRA}",
        "mkdir -p build && cmake -S . -B build && cmake --build build && cp build/test.out .",
        "make -j && true",
        "CXX=g++ nvcc -ccbin g++-12 -dlto -t 4 -otest.out ./solution.cu ./test//test_main.cu",
        "/usr/local/cuda/bin/nvcc --output-file test.out solution.cu test/[t]est_*.cu 2>&1 | tee log",
        "timeout 60 nvcc -include cuda_runtime.h -x cu -o test.out solution.cu test/*.cu",
    ],
)
def test_public_styles_of_builds_are_fine(tmp_path: Path, build: str) -> None:
    folder = write_problem(tmp_path, spec={f'"{BUILD}"': f"'{build}'"})
    assert not lint(folder, "command")


def test_a_patch_brings_its_new_files(tmp_path: Path) -> None:
    patch = "--- /dev/null\n+++ b/solution.cu\n@@ -0,0 +1 @@\n+int x;\n"
    folder = write_problem(tmp_path, files={"solution/solution.cu": None, "solution/a.patch": patch})
    assert not lint(folder, "command")
