"""``make bench``: every benchmark, one after the other, with host and date."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).parent
SCRIPTS = [["lint.py", "500"], ["cut.py", "500"], ["noop.py", "500"], ["read_pack.py", "1"]]


def main() -> int:
    """Run them all; 1 when one fails."""
    cores = len(os.sched_getaffinity(0))
    now = datetime.now(UTC).isoformat(timespec="minutes")
    print(f"{now}, {platform.machine()}, {cores} cores, Python {platform.python_version()}", flush=True)
    failed = 0
    for script in SCRIPTS:
        print(f"\n== {' '.join(script)}", flush=True)
        failed += subprocess.run([sys.executable, HERE / script[0], *script[1:]], check=False).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
