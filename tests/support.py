"""What tests of several parts share: small problems that any machine can run, and packs of solutions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ce_schema.datapack import write_problem_pack, write_solution_pack
from ce_schema.problem import CudaPythonProblem, Metadata
from ce_schema.solution import FileSolution, Solution, SourceFile

CREATED_AT = "2026-01-01T00:00:00+00:00"

# The hidden test of the smallest problem: the answer file must say 42.
ANSWER_TEST = 'test "$(sh ./answer.sh)" = 42\n'


def make_problem(task_id: str = "numba-cuda/1", **changes: Any) -> CudaPythonProblem:
    """A problem that needs a shell only: `answer.sh` must print 42."""
    fields: dict[str, Any] = {
        "task_id": task_id,
        "date": "2026-01-01",
        "prompt": "Write answer.sh, which prints the answer.",
        "metadata": Metadata(releases=["2026-1"]),
        "group": "numba-cuda",
        "context_files": [SourceFile(path="context.txt", content="a hint\n")],
        "test_files": [SourceFile(path="test/check.sh", content=ANSWER_TEST)],
        "test_command": "sh test/check.sh",
        "compute_capability": None,
        "timeout_seconds": 10.0,
    }
    return CudaPythonProblem(**(fields | changes))


def make_solution(script: str = "echo 42\n", task_id: str = "numba-cuda/1") -> FileSolution:
    """A solution whose `answer.sh` is ``script``."""
    return FileSolution(task_id=task_id, files=[SourceFile(path="answer.sh", content=script)])


SPEC = """\
task_id: "{task_id}"
date: "2026-01-01"
problem_type: cuda_python
group: numba-cuda
prompt: |
  Write `answer.py`, which prints the answer to everything, 42, on a line of its own and nothing else.
test_command: "python3 test/check.py"
timeout_seconds: 20.0
metadata:
  difficulty: easy
  tags: [sample]
  releases: []
  do_not_release: false
"""
CHECK = """\
import subprocess, sys

printed = subprocess.run([sys.executable, "answer.py"], capture_output=True, text=True)
sys.exit(printed.stdout != "42\\n")
"""


def write_corpus(root: Path, policy: str = "") -> Path:
    """An empty corpus at ``root``."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "corpus.yaml").write_text(f"name: scratch\n{policy}")
    return root


def write_problem(corpus: Path, task_id: str = "numba-cuda/1", **files: str) -> Path:
    """A problem folder that any machine can climb to the rung test; ``files`` by their path."""
    folder = corpus / "problems" / "numba-cuda" / task_id.replace("/", "-")
    defaults = {
        "problem-spec.yaml": SPEC.format(task_id=task_id),
        "context/README.md": "The answer is well known.\n",
        "test/test/check.py": CHECK,
        "solution/answer.py": "print(42)\n",
        "solutions/rejected/test_failed/stub/answer.py": "pass\n",
    }
    for path, text in (defaults | files).items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)
    return folder


def problem_pack(folder: Path, problems: Sequence[CudaPythonProblem], release: str = "2026-1") -> Path:
    """A problems pack in ``folder``."""
    path = folder / f"{release}-problems.tar.gz"
    write_problem_pack(path, problems, release=release, created_at=CREATED_AT)
    return path


def solution_pack(
    folder: Path,
    solutions: Sequence[Solution],
    name: str = "model",
    groups: Sequence[str] | None = ("numba-cuda",),
    task_ids: Sequence[str] | None = None,
) -> Path:
    """A solutions pack in ``folder``."""
    path = folder / f"{name}-solutions.tar.gz"
    write_solution_pack(
        path, solutions, release="2026-1", created_at=CREATED_AT, groups=groups, task_ids=task_ids
    )
    return path
