"""Our problem folders in the public evaluator: they load unchanged and mean the same, as do their packs."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ce_corpus.folder import load_folder
from ce_schema.datapack import write_problem_pack
from ce_schema.groups import published_groups
from ce_schema.lines import encode_line, problem_adapter, solution_adapter
from ce_schema.problem import Problem

if TYPE_CHECKING:
    from conftest import Peer

pytestmark = pytest.mark.peer

CORPUS = Path(__file__).parents[2] / "corpus" / "problems"
FOLDERS = sorted(
    spec.parent for spec in CORPUS.glob("*/*/problem-spec.yaml") if spec.parts[-3] in published_groups()
)


@pytest.fixture(scope="module")
def loaded(peer: Peer, tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Any]:
    """Problem and reference of each folder, as the public evaluator reads a copy of it."""
    copies = tmp_path_factory.mktemp("problems")
    places = [shutil.copytree(folder, copies / folder.name) for folder in FOLDERS]
    return dict(zip(FOLDERS, peer.call("load_folders", *places), strict=True))


def by_path(problem: Problem) -> Problem:
    """The problem with its files in one order: their loader takes that of the file system."""
    ordered = {
        name: sorted(getattr(problem, name), key=lambda file: file.path)
        for name in ("context_files", "test_files")
    }
    return problem.model_copy(update=ordered)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_folder_is_the_same_problem_to_both(folder: Path, loaded: dict[Path, Any]) -> None:
    problem, reference = loaded[folder]
    assert problem is not None, reference
    theirs = problem_adapter().validate_json(problem)
    ours = load_folder(folder)
    assert encode_line(by_path(theirs)) == encode_line(by_path(ours.problem))
    assert ours.reference is not None
    theirs_reference = solution_adapter().validate_json(reference)
    assert {file.path: file.content for file in theirs_reference.files} == {
        file.path: file.content for file in ours.reference.files
    }
    assert theirs_reference.task_id == ours.reference.task_id


def test_pack_of_the_corpus_loads(peer: Peer, tmp_path: Path) -> None:
    packed = [load_folder(folder).packed for folder in FOLDERS]
    write_problem_pack(tmp_path / "corpus.tar.gz", packed, release="2026-2", created_at="2026-01-01")
    read = peer.call("read_problems", tmp_path / "corpus.tar.gz", "2026-2")
    assert read["items"] == [json.loads(encode_line(problem)) for problem in packed]


def test_there_are_folders() -> None:
    assert FOLDERS
