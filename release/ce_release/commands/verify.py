"""``ce-release verify``: prove a pack sound and equal to what its manifest froze."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, echo_json, examples
from ce_schema.errors import CeError, ExitCode, InputError

if TYPE_CHECKING:
    from ce_corpus.manifests import Manifest


@click.command(
    "verify",
    short_help="Prove a pack sound and equal to what its manifest froze.",
    epilog=examples(
        "ce-release verify dist/2026-3-problems.tar.gz",
        "ce-release verify pack.tar.gz --manifest release/manifests/2026-3.json",
        "ce-release verify downloaded.tar.gz --no-manifest",
        "ce-release verify my-solutions.tar.gz       # structure and lines of a solution pack",
        "ce-release verify pack.tar.gz --json | jq '.findings[].message'",
    ),
)
@click.argument("pack", type=click.Path(path_type=Path))
@click.option(
    "--manifest",
    "manifest_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The manifest to compare with. Default: the release's, where a corpus is found that has it.",
)
@click.option("--no-manifest", is_flag=True, help="Check by the pack's own hashes only.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
@corpus_option
def command(
    pack: Path, manifest_file: Path | None, no_manifest: bool, as_json: bool, corpus: Path | None
) -> int:
    """Check PACK: archive, hashes, counts, lines, paths, names, and the manifest of its release.

    Reads any bytes safely. Exits 1 when there is an error; warnings are printed and forgiven.
    """
    from ce_release.verify import verify_release_pack

    if not pack.exists():
        raise InputError("does not exist", where=str(pack))
    manifest, origin = (None, None) if no_manifest else _find_manifest(pack, manifest_file, corpus)
    findings = verify_release_pack(pack, manifest)
    errors = sum(item.severity == "error" for item in findings)
    if as_json:
        echo_json(
            {
                "pack": str(pack),
                "sound": errors == 0,
                "manifest": origin,
                "findings": [item.as_dict() for item in findings],
            }
        )
    else:
        for item in findings:
            click.echo(str(item))
    against = f"against {origin}" if origin else "by its own hashes only (no manifest)"
    verdict = f"{errors} errors" if errors else "sound"
    click.echo(f"{pack}: {verdict}, checked {against}", err=True)
    return ExitCode.FINDINGS if errors else ExitCode.OK


def _find_manifest(pack: Path, file: Path | None, corpus: Path | None) -> tuple[Manifest | None, str | None]:
    """The manifest to compare with and how messages name it."""
    from ce_corpus.manifests import manifest_path, parse_manifest, read_manifest
    from ce_corpus.root import find_corpus

    if file is not None:
        try:
            return parse_manifest(file.read_bytes(), str(file)), str(file)
        except OSError as error:
            raise InputError(f"cannot be read: {error.strerror}", where=str(file)) from None
    release = _release_of(pack)
    if release is None:
        return None, None
    try:
        opened = find_corpus(corpus)
    except CeError:
        if corpus is not None:
            raise
        return None, None
    manifest = read_manifest(opened.manifests, release)
    return manifest, str(manifest_path(opened.manifests, release)) if manifest else None


def _release_of(pack: Path) -> str | None:
    """The release that a pack's metadata name; None where it has none that a manifest can have."""
    from ce_release.names import parse_release
    from ce_schema.datapack import ProblemPack, open_pack

    try:
        with open_pack(pack, verify=False) as opened:
            if not isinstance(opened, ProblemPack) or (opened.metadata.model_extra or {}).get("draft"):
                return None
            return parse_release(opened.metadata.release)
    except CeError:
        return None
