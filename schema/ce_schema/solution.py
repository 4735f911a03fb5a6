"""Solutions: what a model hands in for a problem, as whole files or as a patch."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class SourceFile(BaseModel):
    """A text file: its path inside the workspace and its content."""

    path: str
    content: str


class _Solution(BaseModel):
    # Unknown keys carry provenance (model, sampling parameters, ...) and survive a round trip.
    model_config = ConfigDict(extra="allow")

    schema_version: int = 1


class FileSolution(_Solution):
    """A solution given as complete files."""

    type: Literal["file"] = "file"
    task_id: str
    files: list[SourceFile] = Field(default_factory=list)


class PatchSolution(_Solution):
    """A solution given as a unified diff against the problem's context files."""

    type: Literal["patch"] = "patch"
    task_id: str
    patch: str


type Solution = Annotated[FileSolution | PatchSolution, Field(discriminator="type")]
