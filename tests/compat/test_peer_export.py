"""What ``ce-release export`` writes, read by the public evaluator; the whole pack it would refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from release_support import run
from support import make_problem

from ce_release.packs import load_pack
from ce_schema.datapack import write_problem_pack
from ce_schema.problem import CudaPythonProblem, Metadata
from ce_schema.solution import FileSolution, SourceFile

if TYPE_CHECKING:
    from conftest import Peer

pytestmark = pytest.mark.peer


def solution(task_id: str, text: str) -> FileSolution:
    return FileSolution(task_id=task_id, files=[SourceFile(path="solution.py", content=text)])


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A release with an extension group, a name of a later release, and a reference beside the baseline."""
    travelling = solution("cutile/2", "fast").model_dump()
    problems: list[CudaPythonProblem] = [
        make_problem("numba-cuda/1"),
        make_problem("cutile/1", group="cutile", metadata=Metadata(releases=["2026-1", "2026-2"])),
        make_problem(
            "cutile/2",
            group="cutile",
            baseline_solution=solution("cutile/2", "plain"),
            metadata=Metadata.model_validate(
                {"releases": ["2026-2", "2026-9"], "topic": "tiles", "reference_solution": travelling}
            ),
        ),
    ]
    path = tmp_path / "2026-9-problems.tar.gz"
    write_problem_pack(
        path, problems, release="2026-9", created_at="2026-01-01", extra_metadata={"revision": 1}
    )
    return path


@pytest.mark.parametrize("release", ["2026-2", "internal"])
def test_an_export_is_read_whole(peer: Peer, pack: Path, tmp_path: Path, release: str) -> None:
    out = tmp_path / "public.tar.gz"
    assert run("export", pack, "--output", out, "--as-release", release).code == 0
    read = peer.call("read_problems", out, release)
    exported = load_pack(out).tasks
    assert list(exported) == ["cutile/1", "cutile/2"]
    assert read["items"] == [json.loads(task.raw) for task in exported.values()]
    assert read["metadata"]["release"] == release


def test_the_whole_pack_is_refused(peer: Peer, pack: Path) -> None:
    with pytest.raises(AssertionError):
        peer.call("read_problems", pack, "2026-2")
