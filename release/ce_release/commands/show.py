"""``ce-release show``: the releases of a corpus, or what is in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table

if TYPE_CHECKING:
    from ce_corpus.manifests import CertifyingMachine, Manifest, Revision


@click.command(
    "show",
    short_help="List the releases, or what is in one of them.",
    epilog=examples(
        "ce-release show",
        "ce-release show 2026-2                  # its revisions, reasons, machines",
        "ce-release show 2026-2@1 --json | jq '.tasks | keys'",
        "ce-release show dist/2026-2-problems.tar.gz",
    ),
)
@click.argument("what", metavar="[RELEASE|PACK]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@corpus_option
def command(what: str | None, as_json: bool, corpus: Path | None) -> None:
    """List the releases of the corpus; with a release or a pack, what it holds.

    A release is named as 2026-2 (its newest revision) or 2026-2@1.
    """
    from ce_corpus.manifests import read_manifests
    from ce_corpus.root import find_corpus
    from ce_release.names import parse_ref
    from ce_release.sides import is_pack, require_manifest

    if what is not None and is_pack(what):
        _show_pack(Path(what), as_json)
        return
    opened = find_corpus(corpus)
    if what is None:
        _list(list(read_manifests(opened.manifests).values()), as_json)
        return
    ref = parse_ref(what)
    manifest = require_manifest(opened, ref.release)
    _show_revision(manifest, manifest.find(ref.revision), as_json)


def _list(manifests: list[Manifest], as_json: bool) -> None:
    if as_json:
        echo_json([_overview(manifest) for manifest in manifests])
        return
    if not manifests:
        click.echo("no release was cut so far", err=True)
        return
    print_table(
        ("release", "revisions", "problems", "created", "commit", "groups"),
        [
            (
                manifest.release,
                len(manifest.revisions),
                len(manifest.latest.tasks),
                manifest.latest.created_at[:10],
                manifest.latest.commit[:12],
                _counts(manifest.latest.groups),
            )
            for manifest in manifests
        ],
    )


def _overview(manifest: Manifest) -> dict[str, Any]:
    latest = manifest.latest
    return {
        "release": manifest.release,
        "revisions": len(manifest.revisions),
        "problems": len(latest.tasks),
        "groups": latest.groups,
        "created_at": latest.created_at,
        "commit": latest.commit,
        "pack": latest.pack,
    }


def _show_revision(manifest: Manifest, revision: Revision, as_json: bool) -> None:
    if as_json:
        echo_json({"release": manifest.release, **revision.model_dump(mode="json")})
        return
    facts: list[tuple[str, object]] = [
        ("release", f"{manifest.release}, revision {revision.revision} of {len(manifest.revisions)}"),
        ("created", revision.created_at),
        ("commit", revision.commit),
        ("toolkit", revision.toolkit_version),
        ("description", revision.description),
        ("pack", revision.pack.file),
        ("sha256", revision.pack.sha256),
        ("tar sha256", revision.pack.tar_sha256),
        ("policy", ", ".join(f"{key} {_plain(value)}" for key, value in revision.policy.items())),
        ("problems", len(revision.tasks)),
        ("groups", _counts(revision.groups)),
    ]
    facts += [("certified on", _machine(machine)) for machine in revision.certified_on.machines]
    facts += revision.certified_on.differs_from_base_image.items()
    facts += [
        (f"revision {earlier.revision}", f"{task}: {reason}")
        for earlier in manifest.revisions[: revision.revision]
        for task, reason in earlier.reasons.items()
    ]
    _print_facts(facts)


def _show_pack(path: Path, as_json: bool) -> None:
    from ce_schema.datapack import open_problem_pack

    with open_problem_pack(path) as pack:
        metadata = pack.metadata
        groups = Counter(record.item.group for record in pack)
    facts = metadata.model_dump(mode="json")
    hashes = facts.pop("task_id_hashes", None) or {}
    if as_json:
        echo_json({"pack": str(path), **facts, "groups": dict(groups), "tasks": hashes})
        return
    _print_facts([("pack", path), *facts.items(), ("groups", _counts(groups))])


def _print_facts(facts: Iterable[tuple[str, object]]) -> None:
    """Print a name and a value a line; what has no value is left out."""
    from ce_release.names import shown

    for name, value in facts:
        if value is not None:
            click.echo(f"{shown(name):<14}{shown(str(value))}")


def _machine(machine: CertifyingMachine) -> str:
    parts = [machine.gpu or "no GPU"]
    if machine.driver:
        parts.append(f"driver {machine.driver}")
    if machine.cuda_toolkit:
        parts.append(f"CUDA {machine.cuda_toolkit}")
    parts.append(machine.image_digest or f"mode {machine.mode}")
    return f"{', '.join(parts)}: {machine.tasks} problems"


def _counts(counts: Mapping[str, int]) -> str:
    """Problems by group, in the order of ``groups.yaml``; groups it does not have come last."""
    from ce_schema.groups import groups

    ordered = dict.fromkeys((*(name for name in groups() if name in counts), *sorted(counts)))
    return ", ".join(f"{name} {counts[name]}" for name in ordered)


def _plain(value: Any) -> str:
    return "+".join(map(str, value)) if isinstance(value, list) else str(value)
