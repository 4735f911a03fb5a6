"""Climbing the ladder, and what of it becomes a certificate."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ce_author.rungs import RUNGS, Climb, Ground
from ce_author.rungs.base import not_run
from ce_corpus.certificates import CertificateState, certificate_state
from ce_corpus.folder import ProblemFolder
from ce_eval.engine import run_all
from ce_eval.trial import MachineFailedError
from ce_schema.certificate import Certificate, Machine, Rung, RungResult, RungStatus
from ce_schema.version import __version__


@dataclass(frozen=True, slots=True)
class Ascent:
    """How far one problem came."""

    folder: ProblemFolder
    rungs: list[RungResult]

    @property
    def failed(self) -> bool:
        """Whether some rung was tried and not climbed."""
        return any(result.status is RungStatus.FAILED for result in self.rungs)


def climb(folder: ProblemFolder, ground: Ground, upto: Rung) -> Ascent:
    """Climb the rungs from the lowest to ``upto``; above a rung that is not passed none is run."""
    results: list[RungResult] = []
    wanted = list(RUNGS)[: list(RUNGS).index(upto) + 1]
    with Climb(folder, ground) as climbing:
        for rung in wanted:
            below = next((r for r in results if r.status is not RungStatus.PASSED), None)
            if below is not None:
                results.append(not_run(rung, f"the rung {below.rung} was not climbed"))
                continue
            start = time.monotonic()
            try:
                result = RUNGS[rung](climbing)
            except MachineFailedError as error:
                result = not_run(rung, f"this machine failed: {error}")
            results.append(result.model_copy(update={"seconds": round(time.monotonic() - start, 3)}))
    return Ascent(folder, results)


def climb_all(folders: Sequence[ProblemFolder], ground: Ground, upto: Rung, workers: int) -> Iterator[Ascent]:
    """Climb with several problems at once; each ascent as it ends. An interrupt stops all jobs."""
    return run_all(lambda folder: climb(folder, ground, upto), folders, workers, ground.sandbox.cancel)


def certify(ascent: Ascent, ground: Ground) -> Certificate:
    """The certificate that an ascent earned."""
    machine = ground.machine
    gpu = machine.gpus[0] if machine.gpus else None
    return Certificate(
        task_id=ascent.folder.problem.task_id,
        behaviour_sha256=ascent.folder.behaviour_sha256,
        toolkit_version=__version__,
        date=datetime.now(UTC).date().isoformat(),
        machine=Machine(
            gpu=gpu.name if gpu else None,
            gpu_uuid_sha256=hashlib.sha256(gpu.uuid.encode()).hexdigest() if gpu else None,
            compute_capability=gpu.compute_capability if gpu else None,
            driver=machine.driver,
            cuda_toolkit=machine.cuda_toolkit,
            mode=ground.sandbox.name,
        ),
        rungs=ascent.rungs,
    )


def supersedes(new: Certificate, old: Certificate | None, folder: ProblemFolder) -> bool:
    """Whether ``new`` should take the place of ``old``.

    A machine that cannot climb as high, has no GPU or let the reference pass fewer times must not wipe out
    what a better one proved; a rung that was tried and failed always speaks.
    """
    if old is None or certificate_state(folder, old) is not CertificateState.CURRENT:
        return True
    if any(result.status is RungStatus.FAILED for result in new.rungs):
        return True
    return _strength(new) >= _strength(old)


def _strength(certificate: Certificate) -> tuple[int, bool, int]:
    """What a certificate proves, for comparison: rungs climbed, whether on a GPU, passes of the reference."""
    passes = [result.figures.get("passes", 0) for result in certificate.rungs if result.rung is Rung.TEST]
    rungs = sum(certificate.passed(rung) for rung in Rung)
    return rungs, certificate.machine.gpu is not None, max(passes, default=0)
