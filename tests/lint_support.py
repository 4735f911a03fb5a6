"""A sound problem folder that lint tests break in one place, and what they expect to be said about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from ce_author.lint import lint_folders
from ce_corpus.folder import load_folder
from ce_schema.diagnostics import Diagnostic

SPEC = """\
task_id: "cuda-kernels/1"
date: "2024-12-19"
problem_type: cuda_cpp
group: cuda-kernels
prompt: |
  Implement `scale` with cudaMemcpyAsync.

  Declared in include/scale.h.
build_command: "nvcc -I include -o test.out solution.cu test/*.cu"
test_command: "./test.out"
benchmark_command: "./test.out --bench"
timing_mode:
  type: region
  include: ["scale*"]
timeout_seconds: 30.0
min_cuda_toolkit: "12.0"
compute_capability: "8.0"
source_references:
  all: [cudaMemcpyAsync]
metadata:
  difficulty: medium
  tags: [kernels]
  releases: [2025-1, 2025-2]
  do_not_release: false
"""
FILES = {
    "context/include/scale.h": "void scale(float* data, int n);\n",
    "test/test/test_main.cu": 'int main() { nvtxRangePushA("scale_loop"); }\n',
    "solution/solution.cu": '#include "scale.h"\nvoid scale(float*, int) { cudaMemcpyAsync(0, 0, 0, k); }\n',
}


@dataclass(frozen=True)
class Case:
    """One change of the sound problem, and the finding that it must (or, with ``at`` None, must not) cause.

    ``spec`` are replacements in the spec, each of a text that stands there; ``files`` new contents by
    path (None removes one); ``at`` is the place inside the folder, as ``path:line:column``.
    """

    rule: str
    spec: dict[str, str] = field(default_factory=dict)
    files: dict[str, str | bytes | None] = field(default_factory=dict)
    at: str | None = None
    says: str = ""
    fix: str = ""
    name: str = "cuda-kernels-1"


def write_problem(
    root: Path,
    name: str = "cuda-kernels-1",
    spec: dict[str, str] | None = None,
    files: dict[str, str | bytes | None] | None = None,
) -> Path:
    """Write the sound problem with changes, and return its folder."""
    text = SPEC
    for old, new in (spec or {}).items():
        assert old in text, f"the spec has no {old!r}"
        text = text.replace(old, new, 1)
    contents: dict[str, str | bytes | None] = {"problem-spec.yaml": text, **FILES, **(files or {})}
    folder = root / name
    for path, content in contents.items():
        if content is None:
            continue
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def lint(folder: Path, *rules: str) -> list[Diagnostic]:
    """The findings in one folder, which messages call ``P``."""
    return lint_folders([load_folder(folder, "P")], select=rules)


def check(case: Case, tmp_path: Path) -> None:
    """Assert that the change has, or has not, the finding."""
    found = lint(write_problem(tmp_path, case.name, case.spec, case.files), case.rule)
    if case.at is None:
        assert not found, f"false alarm: {found[0]}"
        return
    assert found, f"{case.rule} found nothing"
    assert all(item.fix for item in found), "a finding says nothing about what to do"
    place = f"P/{case.at}" if case.at else "P"
    assert place in [str(item.location) for item in found], [str(item) for item in found]
    item = next(item for item in found if str(item.location) == place)
    assert case.says in item.message, item
    assert case.fix in (item.fix or ""), item


def table(*cases: Case) -> pytest.MarkDecorator:
    """The cases as a parametrised test's."""
    ids = [f"{case.rule}-{'good' if case.at is None else 'bad'}" for case in cases]
    return pytest.mark.parametrize("case", cases, ids=ids)
