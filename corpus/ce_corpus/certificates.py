"""Certificates on disk: one committed JSON file a problem."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path

from pydantic import ValidationError

from ce_corpus.folder import ProblemFolder
from ce_schema.atomic import write_text
from ce_schema.certificate import Certificate
from ce_schema.errors import InputError, first_of
from ce_schema.paths import folder_name


class CertificateState(StrEnum):
    """Whether a problem's certificate speaks for the problem as it stands."""

    CURRENT = "current"
    STALE = "stale"
    MISSING = "missing"


def certificate_path(folder: Path, task_id: str) -> Path:
    """Where the certificate of a task lies."""
    return folder / f"{folder_name(task_id)}.json"


def read_certificate(folder: Path, task_id: str) -> Certificate | None:
    """The certificate of a task, or None when there is none.

    Raises:
        InputError: the file is no certificate.
    """
    path = certificate_path(folder, task_id)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return None
    try:
        return Certificate.model_validate_json(data)
    except ValidationError as error:
        raise InputError(
            f"is no certificate: {first_of(error)}",
            where=str(path),
            fix="restore it from git or run ce-author validate",
        ) from None


def write_certificate(folder: Path, certificate: Certificate) -> Path:
    """Write a certificate, replacing the one before, and return its path."""
    path = certificate_path(folder, certificate.task_id)
    text = json.dumps(certificate.model_dump(mode="json"), indent=2, ensure_ascii=False)
    write_text(path, text + "\n")
    return path


def certificate_state(problem: ProblemFolder, certificate: Certificate | None) -> CertificateState:
    """Whether ``certificate`` was earned by exactly this problem."""
    if certificate is None:
        return CertificateState.MISSING
    if certificate.behaviour_sha256 != problem.behaviour_sha256:
        return CertificateState.STALE
    return CertificateState.CURRENT
