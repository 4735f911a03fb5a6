"""Certificates: what a problem has proved, on which machine, bound to its exact content."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

CERTIFICATE_VERSION = 1


class Rung(StrEnum):
    """The authoring ladder, lowest first; each rung needs the ones below."""

    LINT = "lint"
    BUILD = "build"
    TEST = "test"
    SANITIZE = "sanitize"
    TIME = "time"
    MUTATE = "mutate"


class RungStatus(StrEnum):
    """``not_run`` is never a pass: the machine could not climb, or a lower rung failed."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_RUN = "not_run"


class RungResult(BaseModel):
    """How one rung went. ``figures`` are the rung's own measurements, named with their units."""

    model_config = ConfigDict(extra="forbid")

    rung: Rung
    status: RungStatus
    reason: str | None = None
    seconds: float = 0.0
    figures: dict[str, Any] = Field(default_factory=dict)


class Machine(BaseModel):
    """Where a certificate was earned. The GPU's UUID is hashed: it names a machine, not an owner."""

    model_config = ConfigDict(extra="forbid")

    gpu: str | None = None
    gpu_uuid_sha256: str | None = None
    compute_capability: str | None = None
    driver: str | None = None
    cuda_toolkit: str | None = None
    image_digest: str | None = None
    mode: str


class Certificate(BaseModel):
    """One problem's certificate; stale as soon as its ``behaviour_sha256`` is not the problem's."""

    model_config = ConfigDict(extra="forbid")

    certificate_version: int = CERTIFICATE_VERSION
    task_id: str
    behaviour_sha256: str
    toolkit_version: str
    date: str
    machine: Machine
    rungs: list[RungResult]

    def passed(self, rung: Rung) -> bool:
        """Whether that rung was climbed."""
        return any(r.rung is rung and r.status is RungStatus.PASSED for r in self.rungs)
