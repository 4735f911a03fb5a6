"""Problem folders as the public benchmark has them lint without errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from ce_author.lint import lint_folders
from ce_corpus.folder import load_folder

TAIL = """\
metadata:
  difficulty: medium                 # how hard
  tags: [kernels, memory]
  releases: [2025-1, 2025-2]
  do_not_release: false
"""
CPP = """\
task_id: "CUDA/0"                     # unique
date: "2024-12-19"
problem_type: cuda_cpp
group: cuda-kernels
prompt: "Implement a CUDA kernel that adds 1 with cudaMalloc, cudaFree and cudaMemcpyAsync. TODOs: none"
build_command: "nvcc -I include -o test.out solution.cu test/*.cu"
test_command: "./test.out"
timeout_seconds: 30.0
base_image: null
min_cuda_toolkit: "13.1"
"""
CPP_FILES = {
    "context/include/kernel.h": "void kernel();\n",
    "context/helpers/helpers.cu": "int helper() { return 1; }\n",
    "test/test/test_main.cu": 'int main() { push("PerfTest_1"); puts("COMPUTE_EVAL_TIME_MS: 1"); }\n',
    "solution/solution.cu": "void kernel() { cudaMalloc(0, 0); cudaMemcpyAsync(0, 0, 0, k); cudaFree(0); }\n",
}
PLAIN = """\
task_id: few-shot/pair-transform
date: '2026-08-17'
problem_type: cuda_cpp
group: cuda-runtime

prompt: |
  Implement `pair` for host arrays.

build_command: nvcc -std=c++17 -I include -o test.out solution.cu test/*.cu
test_command: ./test.out
timeout_seconds: 30.0

metadata:
  difficulty: medium
  tags:
    - candidate-few-shot
"""
# Test and solution side by side, as the tile problems have them.
PYTHON = """\
task_id: cutile/3
date: "2026-01-15"
problem_type: cuda_python
group: cutile
prompt: Write solution.py with a tile kernel; use ct.kernel.
test_command: python test_main.py
compute_capability: "10.0"
source_references: ct.kernel
metadata: {difficulty: hard, releases: [2026-1]}
"""
PYTHON_FILES = {
    "test/test_main.py": "import solution\n",
    "solution/solution.py": "import cuda.tile as ct\n\n@ct.kernel\ndef f(): ...\n",
}
REFERENCES = [
    "null",
    "cudaMalloc",
    "[cudaMalloc, cudaFree]",
    "{any: [cudaMemcpy, cudaMemcpyAsync]}",
    "{all: [cudaMalloc, cudaFree], any: [cudaMemcpy, cudaMemcpyAsync]}",
]
TIMINGS = [
    "{type: process}",
    '{type: kernels, include: ["matmul_*", "*_optimized"], exclude: ["debug_*"]}',
    '{type: region, include: ["PerfTest*"]}',
    '{type: region, include: ["PerfTest*"], time_type: wall_clock}',
    "{type: gpu}",
    "{type: custom}",
]
CASES = [
    *(("CUDA-0", f"{CPP}source_references: {each}\n{TAIL}", CPP_FILES) for each in REFERENCES),
    *(
        ("CUDA-0", f'{CPP}benchmark_command: "./test.out --perf"\ntiming_mode: {each}\n{TAIL}', CPP_FILES)
        for each in TIMINGS
    ),
    ("CUDA-0", f"{CPP}arch_list: []\n{TAIL}", CPP_FILES),
    ("few-shot-pair-transform", PLAIN, CPP_FILES),
    ("cutile-3", PYTHON, PYTHON_FILES),
]


@pytest.mark.parametrize(("name", "spec", "files"), CASES)
def test_no_errors(tmp_path: Path, name: str, spec: str, files: dict[str, str]) -> None:
    for path, text in {"problem-spec.yaml": spec, **files}.items():
        target = tmp_path / name / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    found = lint_folders([load_folder(tmp_path / name, name)])
    assert [str(item) for item in found if item.severity == "error"] == []
