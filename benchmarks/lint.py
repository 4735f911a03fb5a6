"""How long ``ce-author lint`` takes on many distinct problems, cold: process start included, no cache.

python benchmarks/lint.py [N] [REPEATS]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from make_corpus import make_corpus

CE_AUTHOR = Path(sys.executable).with_name("ce-author")


@dataclass(frozen=True)
class Timing:
    """Seconds of one run: on the clock, and on all CPUs."""

    wall: float
    cpu: float


def time_command(*arguments: str, cwd: Path) -> Timing:
    """Run ``ce-author`` once; it must succeed."""
    start = time.perf_counter()
    process = subprocess.Popen([CE_AUTHOR, *arguments], cwd=cwd, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if status != 0:
        sys.exit(f"ce-author {' '.join(arguments)} ended with status {status}")
    return Timing(wall, usage.ru_utime + usage.ru_stime)


def main() -> None:
    """Print the median and the range of several runs of each command."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    repeats = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="ce-bench-") as folder:
        root = Path(folder)
        make_corpus(root, count)
        load = os.getloadavg()[0]
        print(f"{count} problems, {len(os.sched_getaffinity(0))} CPUs, load {load:.1f}, {repeats} runs each")
        for arguments in (["--help"], ["lint", "cuda-kernels/1"], ["lint", "--all"], ["fmt", "--check"]):
            runs = [time_command(*arguments, cwd=root) for _ in range(repeats)]
            walls = [run.wall for run in runs]
            cpu = statistics.median(run.cpu for run in runs)
            print(
                f"ce-author {' '.join(arguments):<22} {statistics.median(walls):6.3f} s "
                f"({min(walls):.3f} to {max(walls):.3f}), {cpu:.3f} s of CPU"
            )


if __name__ == "__main__":
    main()
