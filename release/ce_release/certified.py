"""What the certificates of a release were earned on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ce_corpus.manifests import CertifiedOn, CertifyingMachine
from ce_release.candidates import Candidate
from ce_schema.certificate import Machine

_IN_AN_IMAGE = frozenset({"docker", "podman"})

type _MachineKind = tuple[str | None, str | None, str | None, str | None, str | None, str]


def certified_on(candidates: Iterable[Candidate]) -> CertifiedOn:
    """The kinds of machines, most certificates first, and which tasks ran outside their ``base_image``."""
    kinds: Counter[_MachineKind] = Counter()
    differs: dict[str, str] = {}
    for candidate in candidates:
        assert candidate.certificate is not None, "policy asked for a certificate before"
        machine = candidate.certificate.machine
        kinds[_kind(machine)] += 1
        if candidate.base_image and (where := _outside_an_image(machine)):
            differs[candidate.task_id] = f"base_image is {candidate.base_image}; certified {where}"

    def order(kind: _MachineKind) -> tuple[int, list[str]]:
        return -kinds[kind], [part or "" for part in kind]

    return CertifiedOn(
        machines=tuple(_as_record(kind, kinds[kind]) for kind in sorted(kinds, key=order)),
        differs_from_base_image=differs,
    )


def _kind(machine: Machine) -> _MachineKind:
    return (
        machine.gpu,
        machine.compute_capability,
        machine.driver,
        machine.cuda_toolkit,
        machine.image_digest,
        machine.mode,
    )


def _as_record(kind: _MachineKind, tasks: int) -> CertifyingMachine:
    gpu, capability, driver, toolkit, digest, mode = kind
    return CertifyingMachine(
        gpu=gpu,
        compute_capability=capability,
        driver=driver,
        cuda_toolkit=toolkit,
        image_digest=digest,
        mode=mode,
        tasks=tasks,
    )


def _outside_an_image(machine: Machine) -> str | None:
    """Where the certificate was earned, if not in a container.

    A digest cannot be compared with a name without asking a registry; the manifest states the digest.
    """
    if machine.mode in _IN_AN_IMAGE and machine.image_digest:
        return None
    toolkit = f"CUDA toolkit {machine.cuda_toolkit}" if machine.cuda_toolkit else "no CUDA toolkit"
    return f"with {toolkit} of the host (mode {machine.mode})"
