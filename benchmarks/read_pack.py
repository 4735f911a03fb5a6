"""Memory and speed of reading a large problems pack with every check on.

    python benchmarks/read_pack.py [GIGABYTES]

The pack is written first (streamed), then read in a process of its own, whose peak memory the kernel counts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from ce_schema.datapack import write_problem_pack
from ce_schema.problem import CudaCppProblem, Metadata
from ce_schema.solution import SourceFile

READ = """
import sys
from ce_schema.datapack import open_problem_pack
with open_problem_pack(sys.argv[1]) as pack:
    print(sum(len(record.raw) for record in pack))
"""
FILE_BYTES = 200_000


def problems(total_bytes: int) -> Iterator[CudaCppProblem]:
    """Distinct problems of about 200 kB until ``total_bytes`` are reached."""
    for number in range(total_bytes // FILE_BYTES):
        # Distinct lines of code: neither all alike nor noise.
        lines = "".join(f"out[{number * 7 + i}] = in[{i * 13 % 4093}] * {i}.0f;\n" for i in range(6600))
        yield CudaCppProblem(
            task_id=f"cuda-kernels/{number}",
            date="2026-01-01",
            prompt=f"Write kernel {number}.",
            metadata=Metadata(releases=["2026-1"]),
            group="cuda-kernels",
            test_files=[SourceFile(path="test/main.cu", content=lines[:FILE_BYTES])],
            test_command="./test.out",
        )


def main() -> None:
    """Write, read, print."""
    total = int(float(sys.argv[1] if len(sys.argv) > 1 else "1") * 1e9)
    with tempfile.TemporaryDirectory(prefix="ce-bench-") as folder:
        path = Path(folder) / "2026-1-problems.tar.gz"
        start = time.perf_counter()
        write_problem_pack(path, problems(total), release="2026-1", created_at="2026-01-01T00:00:00+00:00")
        written = time.perf_counter() - start
        start = time.perf_counter()
        reading = subprocess.Popen([sys.executable, "-c", READ, str(path)], stdout=subprocess.PIPE, text=True)
        assert reading.stdout is not None
        size = int(reading.stdout.read())
        _, status, usage = os.wait4(reading.pid, 0)
        if status:
            sys.exit("the pack could not be read")
        seconds = time.perf_counter() - start
        print(f"lines {size / 1e9:.2f} GB, archive {path.stat().st_size / 1e6:.0f} MB")
        print(f"written in {written:.1f} s")
        print(f"read and checked in {seconds:.1f} s, {size / 1e6 / seconds:.0f} MB/s")
        print(f"peak memory of the reader {usage.ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
