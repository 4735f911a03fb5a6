"""Performance figures of a benchmark run, as the public graded format carries them."""

from __future__ import annotations

from pydantic import BaseModel


class KernelMetrics(BaseModel):
    """One kernel's launches; durations in milliseconds, throughputs in percent of peak."""

    name: str
    invocations: int
    total_duration_ms: float
    avg_duration_ms: float
    sm_throughput_avg: float | None = None
    dram_throughput_avg: float | None = None


class NvtxMemoryBreakdown(BaseModel):
    """The part of a kind of transfer that fell inside one NVTX range."""

    bytes: int
    time_ms: float
    bandwidth_gbps: float


class MemoryTransferMetrics(BaseModel):
    """All transfers of one kind (direction)."""

    count: int
    total_bytes: int
    total_time_ms: float
    bandwidth_gbps: float
    nvtx: dict[str, NvtxMemoryBreakdown] | None = None


class NvtxRangeMetrics(BaseModel):
    """What ran inside one NVTX range."""

    wall_clock_time_ms: float | None = None
    kernel_time_ms: float
    kernel_invocations: int
    memcpy_time_ms: float
    memcpy_count: int
    memcpy_bytes: int


class PerformanceSummary(BaseModel):
    """Totals over the whole process."""

    total_kernel_time_ms: float
    total_kernels: int
    total_kernel_invocations: int
    total_memory_transfers: int
    application_duration_ms: float


class PerformanceMetrics(BaseModel):
    """The whole profile of one benchmark run."""

    kernels: list[KernelMetrics]
    memory_transfers: dict[str, MemoryTransferMetrics]
    nvtx_ranges: dict[str, NvtxRangeMetrics]
    summary: PerformanceSummary
