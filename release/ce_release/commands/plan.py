"""``ce-release plan``: choose the problems of a release, or show what the release still lacks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table
from ce_schema.errors import ExitCode, InputError

if TYPE_CHECKING:
    from ce_corpus.root import Corpus
    from ce_release.plan import PlannedStep


@click.command(
    "plan",
    short_help="Choose the problems of a release, or show what it still lacks.",
    epilog=examples(
        "ce-release plan 2026-3 thrust/4 cublas      # a problem and a whole group",
        "ce-release plan 2026-3 --all --dry-run",
        "ce-release plan 2026-3 thrust/4 --remove",
        "ce-release plan 2026-3                      # the plan so far, and what each problem lacks",
    ),
)
@click.argument("release")
@click.argument("names", metavar="[TASK|GROUP]...", nargs=-1)
@click.option("--all", "everything", is_flag=True, help="Every problem of the corpus.")
@click.option("--remove", is_flag=True, help="Take the problems out of the release again.")
@click.option("--dry-run", is_flag=True, help="Show what would change, and change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print as JSON.")
@corpus_option
def command(
    release: str,
    names: tuple[str, ...],
    everything: bool,
    remove: bool,
    dry_run: bool,
    as_json: bool,
    corpus: Path | None,
) -> int:
    """Add RELEASE to metadata.releases of the problems chosen; comments and layout of the specs stay.

    Without tasks, show which problems are in the plan and what each still lacks. Refuses releases that
    were cut (their problem sets are fixed) and problems that are do_not_release; then nothing is changed.
    """
    from ce_corpus.root import find_corpus
    from ce_release.names import parse_release

    release = parse_release(release)
    opened = find_corpus(corpus)
    if names and everything:
        raise InputError("--all and names exclude one another", fix="pass --all or name problems")
    if names or everything:
        return _edit(opened, release, names, remove=remove, dry_run=dry_run, as_json=as_json)
    if remove or dry_run:
        raise InputError("no problem is named", fix="name tasks or groups, or pass --all")
    _show(opened, release, as_json=as_json)
    return ExitCode.OK


def _edit(
    corpus: Corpus, release: str, names: Sequence[str], *, remove: bool, dry_run: bool, as_json: bool
) -> int:
    from ce_release.plan import Step, apply_steps, choose, plan_steps, refuse_cut_release

    refuse_cut_release(corpus, release)
    steps = plan_steps(choose(corpus, names), release, remove=remove)
    refused = [step for step in steps if step.step is Step.REFUSE]
    if not refused and not dry_run:
        apply_steps(steps, release)
    _print_steps(release, steps, as_json)
    changes = sum(step.step in {Step.ADD, Step.REMOVE} for step in steps)
    if refused:
        click.echo(f"nothing was changed: {len(refused)} of {len(steps)} problems refused", err=True)
        return ExitCode.FINDINGS
    would = "would change" if dry_run else "changed"
    click.echo(f"{would} {changes} of {len(steps)} problems", err=True)
    return ExitCode.OK


def _print_steps(release: str, steps: Sequence[PlannedStep], as_json: bool) -> None:
    if as_json:
        rows = [
            {"task": s.task_id, "step": str(s.step), "releases": list(s.releases), "why": s.why or None}
            for s in steps
        ]
        echo_json({"release": release, "steps": rows})
        return
    print_table(
        ("task", release, "releases", "why"),
        [(step.task_id, step.step, ", ".join(step.releases), step.why) for step in steps],
    )


def _show(corpus: Corpus, release: str, *, as_json: bool) -> None:
    from ce_corpus.manifests import read_manifest
    from ce_release.candidates import proof_lacks, reading

    with reading(corpus, release) as candidates:
        found = candidates()
    lacks = {item.task_id: proof_lacks(item, corpus.config.policy) for item in found}
    ready = [item.task_id for item in found if not item.do_not_release and not lacks[item.task_id]]
    if as_json:
        rows = [
            {
                "task": item.task_id,
                "group": item.group,
                "do_not_release": item.do_not_release,
                "certificate": str(item.state),
                "lacks": [lack.as_dict() for lack in lacks[item.task_id]],
            }
            for item in found
        ]
        echo_json({"release": release, "ready": len(ready), "problems": rows})
        return
    if found:
        print_table(
            ("task", "group", "certificate", "lacks"),
            [
                (
                    item.task_id,
                    item.group,
                    item.state,
                    "do_not_release: will be left out"
                    if item.do_not_release
                    else "; ".join(lack.message for lack in lacks[item.task_id]),
                )
                for item in found
            ],
        )
    manifest = read_manifest(corpus.manifests, release)
    was_cut = f"; {release} was cut (revision {manifest.latest.revision})" if manifest else ""
    click.echo(f"{len(found)} problems in the plan of {release}, {len(ready)} ready{was_cut}", err=True)
