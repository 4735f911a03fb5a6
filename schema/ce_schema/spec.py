"""``problem-spec.yaml``: a problem as its author writes it, without the files beside it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from ce_schema.paths import TASK_ID_PATTERN
from ce_schema.problem import Metadata, SourceReferences
from ce_schema.timing import ProcessTiming, TimingMode

SPEC_FILE = "problem-spec.yaml"
RELEASE_PATTERN = r"^(internal|[0-9]{4}-[1-9][0-9]*)$"

type ReleaseName = Annotated[str, Field(pattern=RELEASE_PATTERN)]
type NonEmpty = Annotated[str, Field(min_length=1)]


class SpecMetadata(Metadata):
    """Metadata with what lint and release planning expect of it; further keys are the author's."""

    difficulty: Literal["easy", "medium", "hard"] | None = Field(
        default=None, description="How hard the problem is for a model."
    )
    tags: list[NonEmpty] = Field(default_factory=list, description="Free classification tags.")
    releases: list[ReleaseName] = Field(
        default_factory=list, description="The releases that hold this problem, as YYYY-N."
    )
    do_not_release: bool = Field(default=False, description="Keep the problem out of every release.")
    topic: NonEmpty | None = Field(
        default=None, description="A finer name inside the group, such as cub in cccl."
    )


class ProblemSpec(BaseModel):
    """The keys of ``problem-spec.yaml``, in the order in which they are written."""

    model_config = ConfigDict(extra="forbid")

    task_id: str = Field(
        pattern=TASK_ID_PATTERN,
        max_length=255,
        description="Unique id; the folder has the same name with '/' written as '-'.",
    )
    date: str = Field(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        json_schema_extra={"format": "date"},
        description='Day the problem was created, quoted: "YYYY-MM-DD".',
    )
    problem_type: Literal["cuda_cpp", "cuda_python"] = Field(description="Language of the problem.")
    group: NonEmpty = Field(description="The domain group the problem belongs to.")
    prompt: NonEmpty = Field(description="The task, as the model reads it.")
    build_command: NonEmpty | None = Field(
        default=None, description="Builds the workspace; null where nothing is built."
    )
    test_command: NonEmpty = Field(description="Runs the hidden test; exit code 0 is a pass.")
    benchmark_command: NonEmpty | None = Field(
        default=None, description="Runs a typical workload to be timed, after the test passed."
    )
    timing_mode: TimingMode = Field(
        default_factory=ProcessTiming, description="How the benchmark's time is read."
    )
    timeout_seconds: float | None = Field(
        default=None, gt=0, le=86400, description="Limit for build and for test each; 60 s where null."
    )
    base_image: NonEmpty | None = Field(
        default=None, description="Container image that overrides the evaluator's default."
    )
    min_cuda_toolkit: str | None = Field(
        default=None,
        pattern=r"^[0-9]+\.[0-9]+(\.[0-9]+)?$",
        description='Oldest CUDA toolkit, quoted: "13.1".',
    )
    compute_capability: str | None = Field(
        default=None, pattern=r"^[0-9]+\.[0-9]+$", description='Lowest compute capability, quoted: "8.0".'
    )
    requires_datacenter_gpu: bool = Field(default=False, description="Skip on consumer GPUs.")
    arch_list: list[NonEmpty] = Field(
        default_factory=list, description="Architectures to build for; accepted, not packed."
    )
    source_references: SourceReferences | None = Field(
        default=None, description="Names the solution's code must use."
    )
    metadata: SpecMetadata = Field(description="Classification, membership and the author's own keys.")
