"""What the evaluators themselves cost: 500 problems whose commands are `true`, and `--help`.

    python benchmarks/noop.py [N] [--runs K] [--workers W]

Ours grades in mode `sandbox`, the public evaluator in its unprotected local mode, in turn (A B A B …), so
that drift of the machine hits both. Prints medians and the median of the pairwise ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ce_schema.datapack import write_problem_pack, write_solution_pack
from ce_schema.problem import CudaCppProblem, Metadata
from ce_schema.solution import FileSolution, SourceFile

ROOT = Path(__file__).parents[1]
OURS = Path(sys.executable).with_name("ce-eval")
PEER = ROOT / ".venv-peer" / "bin" / "compute_eval"
RELEASE, CREATED_AT = "2026-1", "2026-01-01T00:00:00+00:00"


def main() -> None:
    """Make the packs, measure, print."""
    parser = argparse.ArgumentParser(description="Time the evaluators on work that costs nothing.")
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    print(f"{options.count} no-op problems, {options.workers} workers, {cores} cores, {options.runs} pairs")
    with tempfile.TemporaryDirectory(prefix="ce-bench-") as scratch:
        folder = Path(scratch)
        problems, solutions = make_packs(folder, options.count)
        ours = [
            OURS, "run", solutions, "--problems", problems, "--mode", "sandbox", "--no-resume",
            "--workers", str(options.workers),
        ]  # fmt: skip
        peer = [
            PEER, "evaluate_functional_correctness", f"--release={RELEASE}", "--mode=local",
            f"--problems_source={problems}", f"--solutions_datapack={solutions}",
            f"--n_workers={options.workers}",
        ]  # fmt: skip
        compare("no-op solutions", ours, peer, options.runs, folder)
        compare("--help", [OURS, "--help"], [PEER, "--help"], options.runs, folder)


def make_packs(folder: Path, count: int) -> tuple[Path, Path]:
    """A problems pack and a solutions pack whose every command is `true`."""
    names = [f"cuda-runtime/{number}" for number in range(count)]
    problems = [
        CudaCppProblem(
            task_id=name,
            date="2026-01-01",
            prompt=f"Do nothing, for the {name}th time.",
            metadata=Metadata(releases=[RELEASE]),
            group="cuda-runtime",
            context_files=[SourceFile(path="include/nothing.h", content="void nothing();\n")],
            test_files=[SourceFile(path="test/main.cu", content="int main() { return 0; }\n")],
            build_command="true",
            test_command="true",
            compute_capability=None,
        )
        for name in names
    ]
    files = [SourceFile(path="solution.cu", content="void nothing() {}\n")]
    solutions = [FileSolution(task_id=name, files=files) for name in names]
    problem_path, solution_path = folder / f"{RELEASE}-problems.tar.gz", folder / "noop-solutions.tar.gz"
    write_problem_pack(problem_path, problems, release=RELEASE, created_at=CREATED_AT)
    write_solution_pack(
        solution_path, solutions, release=RELEASE, created_at=CREATED_AT, groups=["cuda-runtime"]
    )
    return problem_path, solution_path


def compare(what: str, ours: list[object], peer: list[object], runs: int, folder: Path) -> None:
    """Time both in turn after one warm-up each; print medians and the ratio."""
    if not PEER.exists():
        print(f"{what}: not run against the peer: no {PEER.relative_to(ROOT)} (sh tools/peer.sh makes it)")
    pairs = []
    for number in range(runs + 1):
        pair = (seconds(ours, folder), seconds(peer, folder) if PEER.exists() else float("nan"))
        if number:
            pairs.append(pair)
    mine, theirs = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = statistics.median(b / a for a, b in pairs)
    print(f"{what:<18} ours {mine:6.3f} s   peer {theirs:6.3f} s   peer/ours {ratio:5.2f}")


def seconds(command: list[object], folder: Path) -> float:
    """Wall seconds of one run, which must succeed."""
    start = time.perf_counter()
    subprocess.run([str(word) for word in command], cwd=folder, check=True, capture_output=True)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
