"""A problem as it stands on a line of a datapack: the public format, key for key.

Field order is the order of keys on a line, so it is part of the format.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ce_schema.solution import Solution, SourceFile
from ce_schema.timing import ProcessTiming, TimingMode

PROBLEM_SCHEMA_VERSION = 2


class Metadata(BaseModel):
    """Everything about a problem that does not decide a grade. Unknown keys are kept."""

    model_config = ConfigDict(extra="allow")

    difficulty: str | None = None
    tags: list[str] = Field(default_factory=list)
    releases: list[str] = Field(default_factory=list)
    do_not_release: bool = False

    def extra(self, key: str) -> Any:
        """The value of a key outside the public ones (``topic``, ``harness``, ...), or None."""
        return (self.model_extra or {}).get(key)


class SourceReferences(BaseModel):
    """Names a solution must use: every one of ``all``, and at least one of ``any``.

    Accepts the five written forms: one string, a list of strings (both mean ``all``), ``{any: …}``,
    ``{all: …}`` and both keys together. Always written with both keys.
    """

    model_config = ConfigDict(extra="forbid")

    any: list[str] | None = None
    all: list[str] | None = None

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"all": [value]}
        if isinstance(value, list):
            return {"all": value}
        return value

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        # The public evaluator refuses the whole pack over this.
        if self.any is None and self.all is None:
            raise ValueError("names neither 'any' nor 'all'; write null where nothing is required")
        return self


class BaseProblem(BaseModel):
    """The fields that every type of problem has."""

    # A key that a later version of the format adds must survive being read and written here.
    model_config = ConfigDict(extra="allow")

    type: Literal["cuda_cpp", "cuda_python"]
    schema_version: int = PROBLEM_SCHEMA_VERSION
    task_id: str
    date: str
    prompt: str
    metadata: Metadata
    group: str
    context_files: list[SourceFile] = Field(default_factory=list)
    test_files: list[SourceFile] = Field(default_factory=list)
    source_references: SourceReferences | None = None
    build_command: str | None = None
    test_command: str
    benchmark_command: str | None = None
    base_image: str | None = None
    timing_mode: TimingMode = Field(default_factory=ProcessTiming)
    min_cuda_toolkit: str | None = None
    compute_capability: str | None = "8.0"
    requires_datacenter_gpu: bool = False
    timeout_seconds: float | None = None
    baseline_solution: Solution | None = None


class CudaCppProblem(BaseProblem):
    """A CUDA C++ problem."""

    type: Literal["cuda_cpp"] = "cuda_cpp"


class CudaPythonProblem(BaseProblem):
    """A CUDA Python problem."""

    type: Literal["cuda_python"] = "cuda_python"


type Problem = Annotated[CudaCppProblem | CudaPythonProblem, Field(discriminator="type")]
