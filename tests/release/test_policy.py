from __future__ import annotations

import pytest
from release_support import MACHINE

from ce_corpus.certificates import CertificateState
from ce_corpus.root import ReleasePolicy
from ce_release.policy import certificate_lacks
from ce_schema.certificate import Certificate, Rung, RungResult, RungStatus

POLICY = ReleasePolicy(rungs=(Rung.LINT, Rung.TEST), test_passes=20)


def certificate(*rungs: RungResult, **changes: object) -> Certificate:
    fields = {
        "task_id": "cub/1",
        "behaviour_sha256": "0" * 64,
        "toolkit_version": "0.0.0+synthetic",
        "date": "2026-01-03",
        "machine": MACHINE,
        "rungs": list(rungs),
    }
    return Certificate.model_validate(fields | changes)


def passed(rung: Rung, **figures: object) -> RungResult:
    return RungResult(rung=rung, status=RungStatus.PASSED, figures=figures)


def rules(held: Certificate | None, state: CertificateState = CertificateState.CURRENT) -> list[str]:
    return [lack.rule for lack in certificate_lacks("cub/1", state, held, POLICY)]


def test_proof_of_all_that_is_asked_is_enough() -> None:
    assert rules(certificate(passed(Rung.LINT), passed(Rung.TEST, passes=20))) == []


def test_rungs_that_policy_does_not_ask_for_do_not_matter() -> None:
    failed = RungResult(rung=Rung.MUTATE, status=RungStatus.FAILED)
    assert rules(certificate(passed(Rung.LINT), passed(Rung.TEST, passes=99), failed)) == []


def test_missing_and_stale() -> None:
    assert rules(None, CertificateState.MISSING) == ["certificate-missing"]
    assert rules(certificate(), CertificateState.STALE) == ["certificate-stale"]
    assert rules(certificate(task_id="cub/2")) == ["certificate-stale"]
    assert rules(certificate(certificate_version=2)) == ["certificate-version"]


@pytest.mark.parametrize("status", [RungStatus.FAILED, RungStatus.NOT_RUN])
def test_rungs_not_climbed(status: RungStatus) -> None:
    result = RungResult(rung=Rung.LINT, status=status, reason="no GPU")
    lacks = certificate_lacks("cub/1", CertificateState.CURRENT, certificate(result), POLICY)
    assert [lack.rule for lack in lacks] == ["rung", "rung"]
    assert lacks[0].message.endswith(": no GPU")
    assert lacks[1].message == "rung test was not run"


@pytest.mark.parametrize("figures", [{}, {"passes": 19}, {"passes": "20"}, {"passes": None}])
def test_too_few_passes_of_the_test(figures: dict[str, object]) -> None:
    assert rules(certificate(passed(Rung.LINT), passed(Rung.TEST, **figures))) == ["test-passes"]
