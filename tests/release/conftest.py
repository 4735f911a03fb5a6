from __future__ import annotations

from pathlib import Path

import pytest
from release_support import GIT_ENVIRONMENT, Workshop


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workshop:
    """A corpus without problems, nothing committed; the working folder."""
    for name, value in GIT_ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    root = tmp_path / "corpus"
    root.mkdir()
    (root / "corpus.yaml").write_text(
        "name: synthetic\npolicy:\n  rungs: [lint, build, test]\n  test_passes: 20\n"
    )
    monkeypatch.chdir(root)
    workshop = Workshop(root)
    workshop.git("init", "-q")
    return workshop


@pytest.fixture
def workshop(bare: Workshop) -> Workshop:
    """A corpus of three certified problems in 2026-1, committed."""
    bare.problem("cuda-kernels/10")
    bare.problem("cuda-kernels/2")
    bare.problem("cub/1", group="cccl", metadata="  topic: cub\n")
    bare.commit()
    return bare


@pytest.fixture
def released(workshop: Workshop) -> Workshop:
    """The same, after 2026-1 was cut and its manifest committed."""
    assert workshop.cut().code == 0
    workshop.commit()
    return workshop
