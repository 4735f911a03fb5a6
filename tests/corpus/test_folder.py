"""Loading problem folders: what stands there, and what is wrong with it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lint_support import SPEC, write_problem

from ce_corpus.folder import load_folder
from ce_corpus.index import choose_folders, problem_folders
from ce_schema.errors import FindingsError, InputError
from ce_schema.solution import FileSolution, PatchSolution


def test_a_sound_folder(tmp_path: Path) -> None:
    folder = load_folder(write_problem(tmp_path), "P")
    assert folder.defects == ()
    assert folder.spec_findings == []
    assert [file.path for file in folder.context] == ["include/scale.h"]
    assert [file.path for file in folder.test] == ["test/test_main.cu"]
    assert folder.problem.task_id == "cuda-kernels/1"
    assert folder.problem.compute_capability == "8.0"
    assert isinstance(folder.packed.baseline_solution, FileSolution)
    assert str(folder.where("metadata", "tags", 0)) == "P/problem-spec.yaml:22:10"


def test_junk_is_passed_over(tmp_path: Path) -> None:
    path = write_problem(
        tmp_path, files={"test/__pycache__/a.pyc": b"\xff", "test/.DS_Store": b"\0", "test/a~": "x"}
    )
    folder = load_folder(path)
    assert folder.defects == ()
    assert [file.path for file in folder.test] == ["test/test_main.cu"]


def test_files_are_sorted_by_path(tmp_path: Path) -> None:
    names = ["b/a.h", "b.h", "a/z.h", "a.h", "B.h"]
    path = write_problem(tmp_path, files={f"context/{name}": "int x;\n" for name in names})
    paths = [file.path for file in load_folder(path).context]
    assert paths == sorted([*names, "include/scale.h"])


def test_a_baseline_moves_the_reference_into_the_metadata(tmp_path: Path) -> None:
    path = write_problem(tmp_path, files={"baseline/solution.cu": "// slow\n"})
    packed = load_folder(path).packed
    assert isinstance(packed.baseline_solution, FileSolution)
    assert packed.baseline_solution.files[0].content == "// slow\n"
    assert "cudaMemcpyAsync" in packed.metadata.extra("reference_solution")["files"][0]["content"]


def test_one_patch_is_a_patch_solution(tmp_path: Path) -> None:
    path = write_problem(tmp_path, files={"solution/solution.cu": None, "solution/a.diff": "--- a\n"})
    assert isinstance(load_folder(path).reference, PatchSolution)


def test_links_are_neither_followed_nor_read(tmp_path: Path) -> None:
    path = write_problem(tmp_path)
    (tmp_path / "secret").write_text("secret\n")
    (path / "context" / "out.h").symlink_to(tmp_path / "secret")
    (path / "context" / "in.h").symlink_to("include/scale.h")
    (path / "context" / "loop").symlink_to(".")
    (path / "context" / "broken").symlink_to("nowhere")
    folder = load_folder(path, "P")
    assert [file.path for file in folder.context] == ["include/scale.h"]
    assert sorted(str(item.location) for item in folder.defects) == [
        "P/context/broken",
        "P/context/in.h",
        "P/context/loop",
        "P/context/out.h",
    ]


def test_pipes_are_not_opened(tmp_path: Path) -> None:
    path = write_problem(tmp_path)
    os.mkfifo(path / "context" / "pipe")
    assert [item.rule for item in load_folder(path).defects] == ["files.special"]


@pytest.mark.parametrize("spec", [b"", b"\xff", b"[]", b"a: 1\na: 2", b"a: \0", b"task_id: 3\n"])
def test_a_bad_spec_is_a_finding_when_it_is_needed(tmp_path: Path, spec: bytes) -> None:
    folder = load_folder(write_problem(tmp_path, files={"problem-spec.yaml": spec}))
    assert folder.spec is None
    with pytest.raises(FindingsError) as caught:
        _ = folder.problem
    assert caught.value.where is not None


def test_a_folder_without_spec(tmp_path: Path) -> None:
    assert [item.rule for item in load_folder(tmp_path).defects] == ["text.unreadable"]


def test_release_membership_does_not_change_behaviour(tmp_path: Path) -> None:
    one = load_folder(write_problem(tmp_path / "1")).behaviour_sha256
    more = {"2025-2]": "2025-2, 2026-1]", "[kernels]": "[other]", "medium": "hard"}
    assert load_folder(write_problem(tmp_path / "2", spec=more)).behaviour_sha256 == one
    assert load_folder(write_problem(tmp_path / "3", spec={"30.0": "31.0"})).behaviour_sha256 != one


def test_folders_are_chosen_by_task_folder_group_topic_and_path(tmp_path: Path) -> None:
    cub = write_problem(tmp_path / "cccl", "cub-1", {'"cuda-kernels/1"': '"cub/1"'})
    kernel = write_problem(tmp_path / "cuda-kernels")
    assert problem_folders(tmp_path) == [cub, kernel]
    for name in ("cub/1", "cub-1", "cub", "cccl", str(cub), str(cub.parent)):
        assert choose_folders(tmp_path, [name]) == [cub], name
    assert choose_folders(tmp_path, ["cuda-kernels", "cub/1", "cub"]) == [kernel, cub]


@pytest.mark.parametrize(
    ("name", "near"), [("cuda-kernel/1", "cuda-kernels"), ("cuda-kernls", "cuda-kernels")]
)
def test_a_misspelled_name_is_told_with_near_ones(tmp_path: Path, name: str, near: str) -> None:
    write_problem(tmp_path / "cuda-kernels")
    with pytest.raises(InputError, match=f"Did you mean .*{near}"):
        choose_folders(tmp_path, [name])


def test_the_spec_of_these_tests_is_sound() -> None:
    assert SPEC.count("\n") == 24
