from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from lint_support import Case, check, lint, table, write_problem

from ce_author.lint import lint_folders
from ce_corpus.folder import load_folder

TODAY = datetime.now(UTC).date()


@table(
    Case(
        "identity.folder-name",
        name="cuda-kernels-2",
        at="problem-spec.yaml:1:10",
        fix="rename the folder to cuda-kernels-1",
    ),
    Case("identity.folder-name"),
    Case("identity.folder-name", spec={"cuda-kernels/1": "a/b/1"}, name="a-b-1"),
    Case(
        "identity.date",
        spec={"2024-12-19": "2024-02-30"},
        at="problem-spec.yaml:2:7",
        says="no day 2024-02-30",
    ),
    Case(
        "identity.date",
        spec={"2024-12-19": str(TODAY + timedelta(days=3))},
        at="problem-spec.yaml:2:7",
        says="future",
    ),
    Case("identity.date", spec={"2024-12-19": str(TODAY)}),
    Case("identity.group-language", spec={"cuda_cpp": "cuda_python"}, at="problem-spec.yaml:4:8"),
    Case("identity.group-language", spec={"cuda_cpp": "cuda_python", "cuda-kernels\n": "triton\n"}),
    Case(
        "identity.topic",
        spec={"cuda-kernels\n": "cccl\n", "metadata:": "metadata:\n  topic: cubb"},
        at="problem-spec.yaml:21:10",
        says="Did you mean cub?",
        fix="thrust, cub, libcudacxx",
    ),
    Case(
        "identity.topic",
        spec={"metadata:": "metadata:\n  topic: cub"},
        at="problem-spec.yaml:21:10",
        fix="group: cccl",
    ),
    Case(
        "identity.topic",
        spec={"metadata:": "metadata:\n  topic: own"},
        at="problem-spec.yaml:21:10",
        fix="tags",
    ),
    Case("identity.topic", spec={"cuda-kernels\n": "cccl\n", "metadata:": "metadata:\n  topic: cub"}),
    Case("identity.topic", spec={"metadata:": "metadata:\n  topic: cuda-kernels"}),
    Case(
        "identity.group-folder", name="cccl/cuda-kernels-1", at="problem-spec.yaml:4:8", fix="cuda-kernels/"
    ),
    Case("identity.group-folder", name="cuda-kernels/cuda-kernels-1"),
    Case("identity.group-folder", name="elsewhere/cuda-kernels-1"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_two_problems_of_one_task_are_both_told(tmp_path: Path) -> None:
    folders = [
        load_folder(write_problem(tmp_path / "one"), "one"),
        load_folder(write_problem(tmp_path / "two"), "two"),
        load_folder(write_problem(tmp_path, "cuda-kernels-2", {"kernels/1": "kernels/2"}), "three"),
    ]
    found = lint_folders(folders, select=["identity.duplicate-task"])
    assert [str(item.location) for item in found] == [
        "one/problem-spec.yaml:1:10",
        "two/problem-spec.yaml:1:10",
    ]
    assert "two/problem-spec.yaml:1:10" in found[0].message
    assert "one/problem-spec.yaml:1:10" in found[1].message


def test_a_single_problem_is_no_duplicate(tmp_path: Path) -> None:
    assert not lint(write_problem(tmp_path), "identity.duplicate-task")
