"""What the benchmarks of a run came to: times, throughputs and speedups, in the public layout."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import fmean, geometric_mean

from ce_schema.grade import GradedSolution, StageName
from ce_schema.metrics import KernelMetrics


def _numbers() -> array[float]:
    return array("d")


@dataclass(slots=True)
class PerformanceTally:
    """Figures of the graded solutions, read one by one; eight bytes a figure stay.

    Times are in milliseconds, throughputs in percent of the peak, a speedup is baseline time over solution
    time. A solution's throughput is that of its kernels, weighted by the time they took.
    """

    solutions: int = 0
    benchmarked: bool = False
    times: array[float] = field(default_factory=_numbers)
    sm_throughputs: array[float] = field(default_factory=_numbers)
    dram_throughputs: array[float] = field(default_factory=_numbers)
    speedups: array[float] = field(default_factory=_numbers)

    def add(self, grade: GradedSolution) -> None:
        """Count one grade, which may be of a solution that was never benchmarked."""
        self.solutions += 1
        self.benchmarked = self.benchmarked or _was_benchmarked(grade)
        if grade.solution_time is not None:
            self.times.append(grade.solution_time)
        if grade.speedup is not None:
            self.speedups.append(grade.speedup)
        if grade.solution_metrics is not None:
            kernels = grade.solution_metrics.kernels
            for figures, name in (
                (self.sm_throughputs, "sm_throughput_avg"),
                (self.dram_throughputs, "dram_throughput_avg"),
            ):
                if (throughput := _weighted(kernels, name)) is not None:
                    figures.append(throughput)

    def as_dict(self) -> dict[str, dict[str, float | int | None]]:
        """``performance_analysis`` where a benchmark ran, ``baseline_comparison`` where one had a baseline.

        ``invalid_skipped`` counts the solutions without a time, for whatever reason. The mean of no figure
        is None. ``baseline_coverage_pct`` is the share of all solutions that have a speedup. The mean
        speedup is geometric, percentiles are interpolated linearly, and an unchanged time (1.0) is
        neither a regression nor an improvement.
        """
        sections: dict[str, dict[str, float | int | None]] = {}
        if self.benchmarked:
            sections["performance_analysis"] = {
                "invalid_skipped": self.solutions - len(self.times),
                "avg_solution_time_ms": _mean(self.times),
                "avg_sm_throughput_pct": _mean(self.sm_throughputs),
                "avg_dram_throughput_pct": _mean(self.dram_throughputs),
            }
        if self.speedups:
            ordered = sorted(self.speedups)
            sections["baseline_comparison"] = {
                "baseline_available_count": len(ordered),
                "baseline_coverage_pct": 100.0 * len(ordered) / self.solutions,
                "avg_speedup": geometric_mean(ordered),
                "median_speedup": percentile(ordered, 0.5),
                "min_speedup": ordered[0],
                "max_speedup": ordered[-1],
                "regressions_count": sum(speedup < 1.0 for speedup in ordered),
                "improvements_count": sum(speedup > 1.0 for speedup in ordered),
                "speedup_p25": percentile(ordered, 0.25),
                "speedup_p75": percentile(ordered, 0.75),
            }
        return sections


def percentile(ordered: Sequence[float], share: float) -> float:
    """The value below which ``share`` (0 to 1) of the ascending figures lie, interpolated linearly."""
    position = share * (len(ordered) - 1)
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (position - below) * (ordered[above] - ordered[below])


def _was_benchmarked(grade: GradedSolution) -> bool:
    """Whether a benchmark was at least tried, here or in an evaluator that records no stages."""
    return (
        grade.solution_time is not None
        or bool(grade.benchmark_output)
        or any(stage.name is StageName.BENCHMARK for stage in grade.stages)
    )


def _weighted(kernels: Sequence[KernelMetrics], name: str) -> float | None:
    """The mean of a figure over the kernels that have it, by duration; None where none has."""
    known = [(kernel.total_duration_ms, getattr(kernel, name)) for kernel in kernels]
    known = [(duration, value) for duration, value in known if value is not None]
    total = sum(duration for duration, _ in known)
    return sum(duration * value for duration, value in known) / total if total > 0 else None


def _mean(figures: Sequence[float]) -> float | None:
    return fmean(figures) if figures else None
