"""Every benchmark of this folder, one after the other: `make bench`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

BENCHMARKS = ("lint.py", "cut.py", "noop.py")


def main() -> int:
    folder = Path(__file__).resolve().parent
    status = 0
    for name in BENCHMARKS:
        print(f"== {name}", flush=True)
        status |= subprocess.run([sys.executable, str(folder / name)], check=False).returncode
    return status


if __name__ == "__main__":
    sys.exit(main())
