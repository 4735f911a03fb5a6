"""How long releases take: cut, verify, diff and plan over a generated corpus, each from a cold command.

    python benchmarks/cut.py [N] [--runs K]

Prints the median and the fastest wall time of K runs, python's start included, and the CPU time of the
fastest. The certificates are synthetic: they live in the temporary corpus and prove nothing.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from make_corpus import make_corpus

from ce_corpus.certificates import write_certificate
from ce_corpus.index import load_folders, problem_folders
from ce_schema.certificate import Certificate, Machine, Rung, RungResult, RungStatus

COMMAND = str(Path(sys.executable).with_name("ce-release"))
IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "T"), ("EMAIL", "t@example.org"))
}


@dataclass(frozen=True)
class Timing:
    """Seconds of one command."""

    wall: float
    cpu: float


def main() -> None:
    """Generate, measure, print."""
    parser = argparse.ArgumentParser(description="Time ce-release over a generated corpus.")
    parser.add_argument("count", nargs="?", type=int, default=500)
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    cores = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "corpus"
        make_corpus(root, options.count)
        certify(root)
        commit(root)
        out = Path(scratch) / "out"
        pack = out / "2026-2-problems.tar.gz"

        def fresh() -> None:
            pack.unlink(missing_ok=True)
            (root / "manifests" / "2026-2.json").unlink(missing_ok=True)

        cut = ["cut", "2026-2", "--output-dir", str(out)]
        rows = {
            "help": measure(["--help"], root, options.runs),
            "cut": measure(cut, root, options.runs, before=fresh),
            "plan (show)": measure(["plan", "2026-2"], root, options.runs),
            "verify": measure(["verify", str(pack)], root, options.runs),
            "diff": measure(["diff", str(pack), str(pack)], root, options.runs),
            "show": measure(["show"], root, options.runs),
        }
        size = pack.stat().st_size
    print(f"{options.count} problems, pack {size / 1e6:.2f} MB, {cores} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'command':<12} {'median s':>9} {'fastest s':>10} {'its CPU s':>10}")
    for name, timings in rows.items():
        fastest = min(timings, key=lambda timing: timing.wall)
        median = statistics.median(timing.wall for timing in timings)
        print(f"{name:<12} {median:>9.3f} {fastest.wall:>10.3f} {fastest.cpu:>10.3f}")


def certify(root: Path) -> None:
    """Write a synthetic certificate for every problem."""
    rungs = [RungResult(rung=rung, status=RungStatus.PASSED) for rung in (Rung.LINT, Rung.BUILD, Rung.TEST)]
    rungs[2].figures["passes"] = 20
    for folder in load_folders(problem_folders(root / "problems")):
        certificate = Certificate(
            task_id=folder.require_spec().task_id,
            behaviour_sha256=folder.behaviour_sha256,
            toolkit_version="0.0.0+synthetic",
            date="2026-01-01",
            machine=Machine(gpu="Synthetic GPU", mode="sandbox"),
            rungs=rungs,
        )
        write_certificate(root / "certificates", certificate)


def commit(root: Path) -> None:
    """Make the corpus a repository with one commit."""
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "generated"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, env=os.environ | IDENTITY)


def measure(
    arguments: list[str], root: Path, runs: int, before: Callable[[], None] = lambda: None
) -> list[Timing]:
    """Timings of ``ce-release`` with these arguments, run in the corpus."""
    timings = []
    for _ in range(runs):
        before()
        used = _children_cpu()
        start = time.perf_counter()
        subprocess.run([COMMAND, *arguments], cwd=root, check=True, capture_output=True)
        timings.append(Timing(time.perf_counter() - start, _children_cpu() - used))
    return timings


def _children_cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    main()
