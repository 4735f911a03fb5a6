"""How the time of a benchmark is read: the five timing modes of the public format, all in milliseconds."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

type GlobList = list[Annotated[str, Field(min_length=1)]]


class _TimingMode(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProcessTiming(_TimingMode):
    """Wall-clock time of the whole benchmark process."""

    type: Literal["process"] = "process"


class KernelsTiming(_TimingMode):
    """Sum of the kernels whose names match ``include`` and not ``exclude`` (globs)."""

    type: Literal["kernels"] = "kernels"
    include: GlobList | None = None
    exclude: GlobList | None = None


class RegionTiming(_TimingMode):
    """Time inside the NVTX ranges that match: of their kernels (default) or on the wall clock."""

    type: Literal["region"] = "region"
    include: GlobList | None = None
    exclude: GlobList | None = None
    time_type: Literal["kernel", "wall_clock"] = "kernel"


class GpuTiming(_TimingMode):
    """All GPU time: kernels and memory transfers."""

    type: Literal["gpu"] = "gpu"


class CustomTiming(_TimingMode):
    """The last ``COMPUTE_EVAL_TIME_MS: <ms>`` line the benchmark prints; needs no profiler."""

    type: Literal["custom"] = "custom"


type TimingMode = Annotated[
    ProcessTiming | KernelsTiming | RegionTiming | GpuTiming | CustomTiming, Field(discriminator="type")
]
