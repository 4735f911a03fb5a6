"""What several tests of the evaluator need of the machine."""

from __future__ import annotations

import shutil

import pytest


@pytest.fixture(scope="session")
def needs_bubblewrap() -> None:
    """Skip the test on a machine without bubblewrap."""
    if shutil.which("bwrap") is None:
        pytest.skip("not run: no bubblewrap")
