"""Times, throughputs and speedups of a run, against measured figures and against the statistics module."""

from __future__ import annotations

import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_problem, make_solution

from ce_eval.performance import PerformanceTally, percentile
from ce_eval.summary import summarise
from ce_schema.grade import GradedSolution, Outcome, StageName, StageResult
from ce_schema.metrics import KernelMetrics, PerformanceMetrics, PerformanceSummary


def grade(
    time: float | None = None, speedup: float | None = None, outcome: Outcome = Outcome.PASSED, **fields
):
    return GradedSolution(
        task_id="numba-cuda/1",
        passed=outcome is Outcome.PASSED,
        skipped=outcome is Outcome.SKIPPED,
        solution=make_solution(),
        problem=make_problem(),
        outcome=outcome,
        solution_time=time,
        speedup=speedup,
        **fields,
    )


def profile(*kernels: tuple[float, float | None, float | None]) -> PerformanceMetrics:
    return PerformanceMetrics(
        kernels=[
            KernelMetrics(
                name="k",
                invocations=1,
                total_duration_ms=duration,
                avg_duration_ms=duration,
                sm_throughput_avg=sm,
                dram_throughput_avg=dram,
            )
            for duration, sm, dram in kernels
        ],
        memory_transfers={},
        nvtx_ranges={},
        summary=PerformanceSummary(
            total_kernel_time_ms=0.0,
            total_kernels=0,
            total_kernel_invocations=0,
            total_memory_transfers=0,
            application_duration_ms=0.0,
        ),
    )


def sections(*grades: GradedSolution) -> dict[str, dict[str, float | int | None]]:
    tally = PerformanceTally()
    for each in grades:
        tally.add(each)
    return tally.as_dict()


def test_the_figures_of_the_public_evaluator_for_the_same_times():
    # Measured: the public evaluator's summary of these very solutions, throughputs aside.
    failed = [grade(outcome=Outcome.TEST_FAILED)] * 2
    untimed = [grade(), grade(), grade(benchmark_output="exit code 3"), grade(benchmark_output="no time")]
    timed = [
        grade(3.0),
        grade(5.0, 2.0),
        grade(20.0, 0.5),
        grade(8.0, 1.25),
        grade(4.0, 1.0),
        grade(2.0, 2.0),
    ]
    found = sections(*failed, *untimed, *timed)
    assert found["performance_analysis"]["invalid_skipped"] == 6
    assert found["performance_analysis"]["avg_solution_time_ms"] == 7.0
    assert found["baseline_comparison"] == pytest.approx(
        {
            "baseline_available_count": 5,
            "baseline_coverage_pct": 41.66666666666667,
            "avg_speedup": 1.2011244339814313,
            "median_speedup": 1.25,
            "min_speedup": 0.5,
            "max_speedup": 2.0,
            "regressions_count": 1,
            "improvements_count": 3,
            "speedup_p25": 1.0,
            "speedup_p75": 2.0,
        }
    )


@pytest.mark.parametrize(
    ("speedups", "mean", "median", "p25", "p75"),
    [
        ([2.0], 2.0, 2.0, 2.0, 2.0),
        ([1.0, 2.0], 1.414213562373095, 1.5, 1.25, 1.75),
        ([1.0, 2.0, 3.0, 4.0], 2.2133638394006434, 2.5, 1.75, 3.25),
        ([0.999, 1.001, 0.96, 1.04, 0.94, 1.06, 0.9, 1.1], 0.9980944288087025, 1.0, 0.955, 1.045),
    ],
)
def test_speedups_as_the_public_evaluator_sums_them_up(speedups, mean, median, p25, p75):
    found = sections(*(grade(1.0, speedup) for speedup in speedups))["baseline_comparison"]
    names = ("avg_speedup", "median_speedup", "speedup_p25", "speedup_p75")
    assert [found[name] for name in names] == pytest.approx([mean, median, p25, p75])
    assert found["regressions_count"] == sum(speedup < 1 for speedup in speedups)


def test_skipped_and_missing_solutions_count_as_without_a_time():
    skipped = [grade(outcome=Outcome.SKIPPED)] * 2
    missing = grade(outcome=Outcome.INVALID_SOLUTION)
    found = sections(grade(5.0, 2.0), grade(5.0, 2.0), *skipped, missing)
    assert found["performance_analysis"]["invalid_skipped"] == 3
    assert found["baseline_comparison"]["baseline_coverage_pct"] == 40.0


def test_throughputs_are_weighted_by_kernel_time_and_averaged_over_solutions():
    fast = grade(1.0, solution_metrics=profile((1.0, 50.0, None), (3.0, 70.0, 90.0)))
    slow = grade(1.0, solution_metrics=profile((2.0, 15.0, None)))
    unknown = grade(1.0, solution_metrics=profile((2.0, None, None), (0.0, 99.0, None)))
    found = sections(fast, slow, unknown)["performance_analysis"]
    assert found["avg_sm_throughput_pct"] == pytest.approx((65.0 + 15.0) / 2)
    assert found["avg_dram_throughput_pct"] == pytest.approx(90.0)


def test_what_was_not_measured_is_not_reported_as_zero():
    found = sections(grade(benchmark_output="exit code 3"))
    assert found == {
        "performance_analysis": {
            "invalid_skipped": 1,
            "avg_solution_time_ms": None,
            "avg_sm_throughput_pct": None,
            "avg_dram_throughput_pct": None,
        }
    }


@pytest.mark.parametrize(
    ("fields", "present"),
    [
        ({}, False),
        ({"benchmark_output": ""}, False),
        ({"stages": [StageResult(name=StageName.TEST, command="true")]}, False),
        ({"stages": [StageResult(name=StageName.BENCHMARK, command="true")]}, True),
        ({"time": 0.0}, True),
    ],
)
def test_the_section_is_there_where_a_benchmark_was_tried(fields, present):
    assert ("performance_analysis" in sections(grade(**fields))) is present


def test_the_summary_of_a_run_holds_both_sections_but_no_infrastructure_errors():
    grades = [grade(2.0, 3.0), grade(outcome=Outcome.INFRASTRUCTURE_ERROR, benchmark_output="driver gone")]
    summary = summarise(grades, (1,)).as_dict()
    assert summary["performance_analysis"]["invalid_skipped"] == 0
    assert summary["baseline_comparison"]["baseline_coverage_pct"] == 100.0
    plain = summarise([grade()], (1,)).as_dict()
    assert "performance_analysis" not in plain
    assert "baseline_comparison" not in plain


FIGURES = st.lists(st.floats(0.001, 1000), min_size=2, max_size=40).map(sorted)


@given(FIGURES)
def test_percentiles_agree_with_the_statistics_module(figures):
    quartiles = statistics.quantiles(figures, n=4, method="inclusive")
    assert [percentile(figures, share) for share in (0.25, 0.5, 0.75)] == pytest.approx(quartiles)


@given(FIGURES, st.floats(0, 1))
def test_a_percentile_lies_between_the_ends(figures, share):
    assert figures[0] <= percentile(figures, share) <= figures[-1] * (1 + 1e-12)
