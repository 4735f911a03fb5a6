"""Which folders are problems: none is passed over in silence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support import write_corpus, write_problem

from ce_corpus.folder import load_folder
from ce_corpus.index import problem_folders


def _as_folder(spec: Path) -> None:
    spec.mkdir()


def _as_pipe(spec: Path) -> None:
    os.mkfifo(spec)


def _as_link(spec: Path) -> None:
    spec.symlink_to("/etc/passwd")


def _gone(spec: Path) -> None:
    pass


@pytest.mark.parametrize("put", [_gone, _as_folder, _as_pipe, _as_link])
def test_a_problem_whose_spec_is_no_file_is_found_and_unsound(tmp_path: Path, put: object) -> None:
    corpus = write_corpus(tmp_path)
    folder = write_problem(corpus)
    write_problem(corpus, "numba-cuda/2")
    (folder / "problem-spec.yaml").unlink()
    assert callable(put)
    put(folder / "problem-spec.yaml")
    found = problem_folders(corpus / "problems")
    assert [path.name for path in found] == ["numba-cuda-1", "numba-cuda-2"]
    loaded = load_folder(found[0])
    assert not loaded.is_sound
    assert any("spec" in str(item) for item in loaded.defects)


def test_other_folders_are_no_problems(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path)
    for path in ("a/test", "b/solution", "c/context", ".hidden/test", ".hidden/context"):
        (corpus / "problems" / path).mkdir(parents=True)
    assert problem_folders(corpus / "problems") == []
    assert problem_folders(corpus / "nowhere") == []


def test_a_link_to_a_problem_is_found_and_refused(tmp_path):
    corpus = write_corpus(tmp_path / "corpus")
    real = write_problem(tmp_path / "elsewhere")
    (corpus / "problems").mkdir()
    link = corpus / "problems" / "numba-cuda-1"
    link.symlink_to(real, target_is_directory=True)
    (corpus / "problems" / "notes").symlink_to(tmp_path, target_is_directory=True)
    assert problem_folders(corpus) == [link]
    folder = load_folder(link)
    assert [defect.rule for defect in folder.defects] == ["files.link"]
    assert not folder.is_sound
