"""Every installed command says its version, by the same two flags."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ce_schema.version import __version__


@pytest.mark.parametrize("command", ["ce-eval", "compute_eval", "ce-author", "ce-release"])
@pytest.mark.parametrize("flag", ["--version", "-V"])
def test_every_command_says_its_version(command: str, flag: str) -> None:
    program = Path(sys.executable).parent / command
    done = subprocess.run([program, flag], capture_output=True, text=True, check=True)
    assert done.stdout == f"{command}, version {__version__}\n"
