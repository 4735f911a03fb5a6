"""Grades on disk survive whatever ends a run."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import make_problem, make_solution

from ce_eval.gradelog import GradeLog
from ce_schema.errors import InputError
from ce_schema.grade import GradedSolution, Outcome


def grade(key: str, outcome: Outcome = Outcome.PASSED) -> GradedSolution:
    return GradedSolution(
        task_id="numba-cuda/1",
        passed=outcome is Outcome.PASSED,
        skipped=False,
        solution=make_solution(),
        problem=make_problem(),
        outcome=outcome,
        key=key,
    )


def test_the_graded_file_appears_whole_and_in_order(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    with GradeLog(path) as log:
        assert log.open(resume=True) == set()
        log.append(grade("b"))
        log.append(grade("a"))
        assert not path.exists()
        log.finish(["a", "b"])
    keys = [GradedSolution.model_validate_json(line).key for line in path.read_bytes().splitlines()]
    assert keys == ["a", "b"]
    assert not log.partial.exists()


def test_finished_grades_are_found_again_in_both_files(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    with GradeLog(path) as log:
        log.open(resume=True)
        log.append(grade("a"))
        log.finish(["a"])
    with GradeLog(path) as log:
        log.open(resume=True)
        log.append(grade("b"))
    with GradeLog(path) as log:
        assert log.open(resume=True) == {"a", "b"}
        log.finish(["b", "a"])
    assert path.read_bytes().count(b"\n") == 2


def test_infrastructure_errors_are_graded_again(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    with GradeLog(path) as log:
        log.open(resume=True)
        log.append(grade("a", Outcome.INFRASTRUCTURE_ERROR))
    with GradeLog(path) as log:
        assert log.open(resume=True) == set()


def test_no_resume_starts_over_and_keeps_the_old_file_until_the_end(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    with GradeLog(path) as log:
        log.open(resume=True)
        log.append(grade("a"))
        log.finish(["a"])
    before = path.read_bytes()
    with GradeLog(path) as log:
        assert log.open(resume=False) == set()
        log.append(grade("a"))
        assert path.read_bytes() == before
        log.finish(["a"])


@given(cut=st.integers(min_value=0, max_value=100_000), data=st.binary(max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_kill_at_any_byte_loses_at_most_the_last_grade(tmp_path_factory, cut, data):
    folder = tmp_path_factory.mktemp("log")
    path = folder / "m-graded-solutions.jsonl"
    with GradeLog(path) as log:
        log.open(resume=True)
        for key in ("a", "b", "c"):
            log.append(grade(key))
    whole = log.partial.read_bytes()
    lines = whole.splitlines(keepends=True)
    torn = whole[: cut % (len(whole) + 1)]
    survivors = {key for key, end in zip("abc", _ends(lines), strict=True) if end <= len(torn)}
    log.partial.write_bytes(torn + data.replace(b"\n", b""))
    with GradeLog(path) as again:
        assert again.open(resume=True) == survivors
        for key in sorted({"a", "b", "c"} - survivors):
            again.append(grade(key))
        again.finish(["a", "b", "c"])
    keys = [GradedSolution.model_validate_json(line).key for line in path.read_bytes().splitlines()]
    assert keys == ["a", "b", "c"]


def _ends(lines):
    total = 0
    for line in lines:
        total += len(line)
        yield total


def test_two_runs_do_not_write_into_one_file(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    with GradeLog(path), pytest.raises(InputError, match="another run"), GradeLog(path):
        pass


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(InputError, match="cannot be written"), GradeLog(blocked / "m-graded-solutions.jsonl"):
        pass


def test_a_foreign_graded_file_is_not_taken_for_ours(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    path.write_text(
        '{"task_id": "x/1", "passed": true}\nnot json\n[]\n"key"\n{"key": 3, "outcome": "passed"}\n'
    )
    with GradeLog(path) as log:
        assert log.open(resume=True) == set()


def test_grades_outside_of_a_narrower_run_are_kept_and_found_by_a_wider_one(tmp_path):
    path = tmp_path / "m-graded-solutions.jsonl"
    graded = []
    for keys in (["a", "b", "d"], ["a"], ["c", "a"], ["a", "b"], ["a", "b", "c", "d"]):
        with GradeLog(path) as log:
            todo = sorted(set(keys) - log.open(resume=True))
            for key in todo:
                log.append(grade(key))
            log.finish(keys)
        graded.append(todo)
        listed = [GradedSolution.model_validate_json(line).key for line in path.read_bytes().splitlines()]
        assert listed == keys
    assert graded == [["a", "b", "d"], [], ["c"], [], []]
    assert not log.previous.exists()
