"""Releases on the hub: downloaded once by the hub's own client, which also caches them."""

from __future__ import annotations

import re
from pathlib import Path

from ce_schema.errors import InputError, MachineLacksError, missing_extra
from ce_schema.spec import RELEASE_PATTERN

PUBLIC_DATASET = "nvidia/compute-eval"
NEWEST_RELEASE = "2026-2"


def release_file(release: str) -> str:
    """Path of a release's problems inside the dataset."""
    if release == NEWEST_RELEASE:
        return "data/problems.jsonl"
    return f"data/archive/{release}/problems.jsonl"


def fetch_release(release: str, *, dataset: str = PUBLIC_DATASET, token: str | None = None) -> Path:
    """Local path of a release's ``problems.jsonl``, downloaded if the cache lacks it.

    Raises:
        InputError: ``release`` is no release's name.
        MachineLacksError: the hub's client is not installed, or the hub cannot be reached.
    """
    if not re.match(RELEASE_PATTERN, release):
        raise InputError(f"'{release}' is no release", fix="releases are called YYYY-N, such as 2026-2")
    try:
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
    except ImportError:
        raise missing_extra("hub", "reading a release from the hub") from None
    wanted = release_file(release)
    try:
        return Path(hf_hub_download(dataset, wanted, repo_type="dataset", token=token))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise MachineLacksError(
            f"release {release} could not be fetched from the hub ({reason})",
            where=f"{dataset}: {wanted}",
            fix="check the network and the release's name, or pass a local pack with --problems",
        ) from None
