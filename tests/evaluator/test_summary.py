"""pass@k against counting by hand, and what a summary counts."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_problem, make_solution

from ce_eval.passk import pass_at_k
from ce_eval.summary import summarise
from ce_schema.grade import GradedSolution, Outcome


def grade(task: str, outcome: Outcome = Outcome.PASSED, group: str = "numba-cuda", missing: bool = False):
    return GradedSolution(
        task_id=task,
        passed=outcome is Outcome.PASSED,
        skipped=outcome is Outcome.SKIPPED,
        solution=make_solution(task_id=task),
        problem=make_problem(task, group=group),
        outcome=outcome,
        missing=missing,
    )


@given(st.data())
def test_pass_at_k_is_the_share_of_draws_that_hold_a_right_one(data):
    n = data.draw(st.integers(1, 9))
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(any(draw) for draw in draws) / len(draws))


@given(st.integers(1, 5000), st.data())
def test_pass_at_k_stays_a_probability_for_many_samples(n, data):
    c = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    assert 0.0 <= pass_at_k(n, c, k) <= 1.0


@pytest.mark.parametrize(("n", "c", "k"), [(1, 0, 2), (3, 0, 0), (3, 4, 1), (3, -1, 1), (0, 0, 1)])
def test_impossible_counts_are_refused(n, c, k):
    with pytest.raises(ValueError, match="samples"):
        pass_at_k(n, c, k)


F, P, S = Outcome.TEST_FAILED, Outcome.PASSED, Outcome.SKIPPED


def test_the_figures_of_the_public_evaluator_for_the_same_grades():
    # Measured: the public evaluator's summary of these very outcomes, k = (1, 3).
    tasks = {
        ("r/1", "cuda-runtime"): [P, F, F],
        ("r/2", "cuda-runtime"): [P, P, F],
        ("r/3", "cuda-runtime"): [S, S, S],
        ("c/4", "cccl"): [F, F, F],
        ("c/5", "cccl"): [P, P, P],
    }
    grades = [grade(task, outcome, group) for (task, group), ends in tasks.items() for outcome in ends]
    summary = summarise(grades, (1, 3)).as_dict()
    assert summary["pass_at_k"] == pytest.approx({"skipped": 1.0, "pass@1": 0.5, "pass@3": 0.75})
    assert (summary["total_problem_count"], summary["evaluated_problem_count"]) == (5, 4)
    assert summary["groups"] == ["cccl", "cuda-runtime"]
    by_group = summary["metrics_by_group"]
    assert by_group["cuda-runtime"] == pytest.approx(
        {"skipped": 1.0, "evaluated_problem_count": 2, "pass@1": 0.5, "pass@3": 1.0}
    )
    assert by_group["cccl"] == pytest.approx(
        {"skipped": 0.0, "evaluated_problem_count": 2, "pass@1": 0.5, "pass@3": 0.5}
    )


def test_a_k_without_enough_samples_is_left_out():
    summary = summarise([grade("a/1"), grade("a/1"), grade("a/2")], (1, 2)).as_dict()
    assert set(summary["pass_at_k"]) == {"skipped", "pass@1"}


def test_a_problem_without_a_solution_fails_whatever_k_is():
    grades = [grade("a/1"), grade("a/1"), grade("a/2", Outcome.INVALID_SOLUTION, missing=True)]
    passes = summarise(grades, (1, 2)).as_dict()["pass_at_k"]
    assert (passes["pass@1"], passes["pass@2"]) == (0.5, 0.5)


def test_infrastructure_errors_are_no_failures_of_the_model():
    grades = [grade("a/1"), grade("a/1", Outcome.INFRASTRUCTURE_ERROR)]
    summary = summarise(grades, (1,))
    assert summary.as_dict()["pass_at_k"]["pass@1"] == 1.0
    assert summary.infrastructure_errors == 1


def test_nothing_evaluated_gives_no_pass_rate():
    summary = summarise([grade("a/1", Outcome.SKIPPED)], (1,)).as_dict()
    assert summary["pass_at_k"] == {"skipped": 1.0}
    assert summarise([], (1,)).as_dict()["problem_count"] == 0
