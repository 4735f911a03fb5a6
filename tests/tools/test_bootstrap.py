"""The scripts behind the Makefile: what is missing is named in one line, and the lock holds versions only."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def path_with(folder: Path, *tools: str) -> str:
    folder.mkdir()
    for tool in tools:
        found = shutil.which(tool)
        assert found, tool
        (folder / tool).symlink_to(found)
    return str(folder)


def bootstrap(venv: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(ROOT / "tools" / "bootstrap.sh"), str(venv)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    ("tools", "missing"),
    [
        (["dirname"], "needs git (fix: install git)"),
        (["dirname", "git"], "needs a C++ compiler (fix: install g++, or set CXX)"),
        (["dirname", "git", "g++"], "needs python >= 3.12"),
    ],
)
def test_what_is_missing_is_named_in_one_line(tmp_path: Path, tools: list[str], missing: str) -> None:
    done = bootstrap(tmp_path / "venv", PATH=path_with(tmp_path / "bin", *tools))
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"bootstrap: {missing}")
    assert not (tmp_path / "venv").exists()


def test_a_python_that_is_too_old_is_passed_by(tmp_path: Path) -> None:
    path = path_with(tmp_path / "bin", "dirname", "git", "g++")
    old = tmp_path / "bin" / "python3"
    old.write_text("#!/bin/sh\nexit 1\n")  # as a real one answers the question for its version
    old.chmod(0o755)
    done = bootstrap(tmp_path / "venv", PATH=path, PYTHON="/no/such/python")
    assert done.returncode == 3
    assert "needs python >= 3.12" in done.stderr


def test_scripts_are_posix_shell() -> None:
    for name in ("bootstrap.sh", "lock.sh"):
        subprocess.run(["/bin/sh", "-n", str(ROOT / "tools" / name)], check=True)


def test_lock_holds_names_and_versions_and_nothing_else() -> None:
    first, *pins = (ROOT / "requirements.lock").read_text().splitlines()
    assert first.startswith("# Made by tools/lock.sh")
    assert pins == sorted(pins, key=lambda pin: pin.partition("==")[0])
    assert all(re.fullmatch(r"[a-z0-9.-]+==[0-9][A-Za-z0-9.+]*", pin) for pin in pins)


def test_lock_covers_what_the_bootstrap_installs() -> None:
    pinned = {line.partition("==")[0] for line in (ROOT / "requirements.lock").read_text().splitlines()[1:]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted: set[str] = set()
    todo = [*project["dependencies"], *extras["dev"], *extras["eval"], *extras["numba"]]
    while todo:
        name, nested = re.match(r"([A-Za-z0-9._-]+)(?:\[([^]]*)])?", todo.pop()).groups()  # type: ignore[union-attr]
        if name == "compute-eval-sdk":
            todo += [item for extra in nested.split(",") for item in extras[extra]]
        else:
            wanted.add(name.lower().replace("_", "-"))
    assert wanted <= pinned, "run make lock"
