"""Whose file wins in a workspace, and what a solution may not touch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_problem, make_solution

from ce_eval.workspace import InvalidSolutionError, arrange, write_files
from ce_schema.paths import path_defect
from ce_schema.problem import Metadata
from ce_schema.solution import FileSolution, PatchSolution, SourceFile

CONTEXT = [
    SourceFile(path="include/api.h", content="int api();\n"),
    SourceFile(path="helper.cu", content="int help() { return 1; }\n"),
]
TEST = [SourceFile(path="test/main.cu", content="int main() {}\n")]


def problem(**changes):
    return make_problem(**({"context_files": CONTEXT, "test_files": TEST} | changes))


def solution(*files: tuple[str, str]) -> FileSolution:
    listed = [SourceFile(path=path, content=content) for path, content in files]
    return FileSolution(task_id="numba-cuda/1", files=listed)


def test_files_of_author_and_candidate_lie_side_by_side(tmp_path):
    workspace = arrange(
        problem(), solution(("solution.cu", "int api() { return 0; }\n"), ("lib/x.cuh", "x\n"))
    )
    write_files(tmp_path, workspace.author | workspace.solution)
    on_disk = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file())
    assert on_disk == ["helper.cu", "include/api.h", "lib/x.cuh", "solution.cu", "test/main.cu"]
    assert workspace.notes == []


def test_a_replaced_header_is_put_back_and_said():
    workspace = arrange(problem(), solution(("include/api.h", "#define main hidden\n"), ("s.cu", "\n")))
    assert workspace.author["include/api.h"] == "int api();\n"
    assert "include/api.h" not in workspace.solution
    assert [note["rule"] for note in workspace.notes] == ["interface.restored"]


def test_what_may_be_replaced_is_what_the_author_lists_as_editable():
    editable = Metadata.model_validate({"editable": ["include/api.h"]})
    replaced = solution(("include/api.h", "int api(int);\n"), ("helper.cu", "int help() { return 2; }\n"))
    workspace = arrange(problem(metadata=editable), replaced)
    assert workspace.solution == {"include/api.h": "int api(int);\n"}
    assert workspace.author["helper.cu"] == "int help() { return 1; }\n"
    assert [note["rule"] for note in workspace.notes] == ["context.replaced", "interface.restored"]


def test_an_identical_header_is_no_news():
    assert arrange(problem(), solution(("include/api.h", "int api();\n"), ("s.cu", "\n"))).notes == []


def test_a_context_source_may_be_replaced():
    workspace = arrange(problem(), solution(("helper.cu", "int help() { return 2; }\n")))
    assert "helper.cu" not in workspace.author
    assert workspace.solution["helper.cu"].endswith("2; }\n")
    assert [note["rule"] for note in workspace.notes] == ["context.replaced"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("test/main.cu", "would overwrite a test file"),
        ("test/MAIN.cu", "would overwrite a test file"),
        ("test/extra.cu", "lies in a folder of the test"),
        ("test/deep/extra.cu", "lies in a folder of the test"),
        ("INCLUDE/api.h", "differs from a context file in case only"),
        ("../escape.cu", "contains '..'"),
        ("/etc/passwd", "is absolute"),
        ("./solution.cu", "is not normalised"),
        ("a//b.cu", "is not normalised"),
        ("a\\b.cu", "contains a backslash"),
        ("~/x.cu", "starts with ~"),
        ("", "is empty"),
        ("a\nb.cu", "control character"),
        ("helper.cu/x.cu", "both a file and a folder"),
        ("test", "both a file and a folder"),
        ("x" * 300 + ".cu", "longer than"),
    ],
)
def test_a_path_that_reaches_too_far_is_refused(path, reason):
    with pytest.raises(InvalidSolutionError, match=reason):
        arrange(problem(), solution((path, "x\n")))


def test_test_files_at_the_root_leave_the_root_open():
    beside = problem(test_files=[SourceFile(path="test_main.py", content="\n")])
    assert "solution.py" in arrange(beside, solution(("solution.py", "\n"))).solution


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (FileSolution(task_id="numba-cuda/1"), "holds no file"),
        (solution(("a.cu", "1\n"), ("a.cu", "2\n")), "stands twice"),
        (solution(("a.cu", "\ud800")), "lone surrogate"),
        (PatchSolution(task_id="numba-cuda/1", patch="nonsense"), "does not apply"),
    ],
)
def test_a_solution_that_is_none_is_refused(bad, reason):
    with pytest.raises(InvalidSolutionError, match=reason):
        arrange(problem(), bad)


def test_a_patch_changes_context_sources():
    patch = (
        "--- a/helper.cu\n+++ b/helper.cu\n@@ -1 +1 @@\n"
        "-int help() { return 1; }\n+int help() { return 7; }\n"
    )
    workspace = arrange(problem(), PatchSolution(task_id="numba-cuda/1", patch=patch))
    assert workspace.solution == {"helper.cu": "int help() { return 7; }\n"}
    assert "include/api.h" in workspace.author


@given(st.text(max_size=40))
def test_no_path_leaves_the_workspace(path):
    try:
        workspace = arrange(problem(), solution((path, "x\n")))
    except InvalidSolutionError:
        return
    assert path_defect(path) is None
    assert set(workspace.solution) <= {path}
    assert workspace.author["test/main.cu"] == TEST[0].content


def test_the_smallest_problem_can_be_arranged():
    workspace = arrange(make_problem(), make_solution())
    assert set(workspace.author) == {"context.txt", "test/check.sh"}
