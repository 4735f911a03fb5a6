"""The public evaluator in its own virtual environment, made once."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[2]
DRIVER = Path(__file__).with_name("peer_driver.py")


@dataclass(frozen=True)
class Peer:
    """Runs the public evaluator; ``python`` is its interpreter."""

    python: Path

    def call(self, command: str, *arguments: str | Path) -> Any:
        """The answer of a command of the driver."""
        done = subprocess.run(
            [self.python, DRIVER, command, *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def evaluate(self, folder: Path, **flags: str | Path) -> dict[str, Any]:
        """What the command line says after grading in ``folder``, without isolation."""
        words = [f"--{name}={value}" for name, value in flags.items()]
        command = [
            self.python.with_name("compute_eval"),
            "evaluate_functional_correctness",
            "--mode=local",
            *words,
        ]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, done.stderr
        summary: dict[str, Any] = json.loads(done.stdout[done.stdout.index("{") :])
        return summary


@pytest.fixture(scope="session")
def peer() -> Peer:
    """The public evaluator; CE_PEER_PYTHON names an interpreter that has it already."""
    if given := os.environ.get("CE_PEER_PYTHON"):
        return Peer(Path(given))
    folder = ROOT / ".venv-peer"
    lock = ROOT / ".pytest_cache" / "peer.lock"
    lock.parent.mkdir(exist_ok=True)
    with FileLock(lock):
        made = subprocess.run(
            ["sh", "tools/peer.sh", folder], cwd=ROOT, capture_output=True, text=True, check=False
        )
    if made.returncode != 0:
        last = (made.stderr.strip() or "tools/peer.sh failed").splitlines()[-1]
        pytest.skip(f"not run: the public evaluator cannot be installed: {last}")
    return Peer(folder / "bin" / "python")
