"""What a release asks of each problem, and which problems do not give it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ce_corpus.certificates import CertificateState
from ce_corpus.root import ReleasePolicy
from ce_schema.certificate import CERTIFICATE_VERSION, Certificate, Rung, RungResult, RungStatus


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that keeps a problem out of a release: what, and how to mend it."""

    task: str
    rule: str
    message: str
    fix: str | None = None

    def as_dict(self) -> dict[str, str | None]:
        """The finding as plain data, for ``--json``."""
        return {"task": self.task, "rule": self.rule, "message": self.message, "fix": self.fix}


def certificate_lacks(
    task_id: str, state: CertificateState, certificate: Certificate | None, policy: ReleasePolicy
) -> list[Lack]:
    """What the certificate of a task fails to prove under ``policy``; empty when it proves all of it."""
    climb = f"ce-author validate {task_id}"
    if certificate is None:
        return [Lack(task_id, "certificate-missing", "has no certificate", climb)]
    if certificate.certificate_version > CERTIFICATE_VERSION:
        version = certificate.certificate_version
        message = f"its certificate has version {version}; this toolkit knows {CERTIFICATE_VERSION}"
        return [Lack(task_id, "certificate-version", message, "update the toolkit")]
    if certificate.task_id != task_id:
        message = f"its certificate speaks of {certificate.task_id}"
        return [Lack(task_id, "certificate-stale", message, climb)]
    if state is not CertificateState.CURRENT:
        message = f"changed since its certificate was earned ({certificate.date})"
        return [Lack(task_id, "certificate-stale", message, climb)]
    return list(_rung_lacks(task_id, certificate, policy))


def _rung_lacks(task_id: str, certificate: Certificate, policy: ReleasePolicy) -> Iterator[Lack]:
    for rung in policy.rungs:
        result = _result(certificate, rung)
        if result is None or result.status is RungStatus.NOT_RUN:
            why = f": {result.reason}" if result and result.reason else ""
            yield Lack(task_id, "rung", f"rung {rung} was not run{why}", f"ce-author validate {task_id}")
        elif result.status is RungStatus.FAILED:
            why = f": {result.reason}" if result.reason else ""
            yield Lack(
                task_id, "rung", f"rung {rung} failed{why}", "mend the problem, then validate it again"
            )
        elif rung is Rung.TEST:
            yield from _pass_lacks(task_id, result, policy)


def _pass_lacks(task_id: str, result: RungResult, policy: ReleasePolicy) -> Iterator[Lack]:
    passes = result.figures.get("passes")
    if isinstance(passes, int) and passes >= policy.test_passes:
        return
    count = passes if isinstance(passes, int) else "an unknown number of"
    message = f"its reference passed {count} times; a release asks for {policy.test_passes}"
    yield Lack(task_id, "test-passes", message, f"ce-author validate {task_id} --passes {policy.test_passes}")


def _result(certificate: Certificate, rung: Rung) -> RungResult | None:
    return next((result for result in certificate.rungs if result.rung is rung), None)
