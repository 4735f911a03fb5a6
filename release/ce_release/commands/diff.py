"""``ce-release diff``: which problems differ between two releases, and how."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table
from ce_schema.errors import ExitCode

if TYPE_CHECKING:
    from ce_corpus.root import Corpus
    from ce_release.diff import FieldChange, ReleaseDiff, TaskChange
    from ce_release.sides import Side


@click.command(
    "diff",
    short_help="Say which problems differ between two releases, and how.",
    epilog=examples(
        "ce-release diff 2026-2 2026-3",
        "ce-release diff 2026-2@1 2026-2@2 --text        # what a revision corrected",
        "ce-release diff 2026-2 new-problems.tar.gz --packs dist",
        "ce-release diff a.tar.gz b.tar.gz --json | jq '.changed[] | select(.kind == \"behaviour\").task'",
    ),
)
@click.argument("before", metavar="A")
@click.argument("after", metavar="B")
@click.option("--text", is_flag=True, help="Show prompts and files as unified diffs.")
@click.option(
    "--packs",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Where the packs of releases lie. Default: the working folder.",
)
@click.option("--exit-code", is_flag=True, help="Exit 1 when anything differs.")
@click.option("--json", "as_json", is_flag=True, help="Print the difference as JSON.")
@corpus_option
def command(
    before: str, after: str, text: bool, packs: Path, exit_code: bool, as_json: bool, corpus: Path | None
) -> int:
    """Compare A with B; each is a pack, a release (2026-2: its newest revision) or a revision (2026-2@1).

    A change is either in behaviour (it can change a grade, and made the certificate stale) or inert
    (membership, tags, difficulty, order of files). A release without its pack at hand is compared by the
    hashes in its manifest: which problems differ and in which of the two ways, but not in which fields.
    """
    from ce_corpus.root import find_corpus
    from ce_release.diff import diff_sides
    from ce_release.sides import resolve_side

    def open_corpus() -> Corpus:
        return find_corpus(corpus)

    sides = [resolve_side(name, open_corpus, packs) for name in (before, after)]
    for side in sides:
        if side.pack is None:
            click.echo(
                f"{side.name}: pack not found in {packs}, comparing by the hashes of its manifest", err=True
            )
    difference = diff_sides(sides[0].tasks, sides[1].tasks)
    if as_json:
        echo_json(_as_data(difference, sides, text))
    else:
        _print(difference, text)
        click.echo(_summary(difference, sides), err=True)
    return ExitCode.FINDINGS if exit_code and difference else ExitCode.OK


def _print(difference: ReleaseDiff, text: bool) -> None:
    from ce_release.names import shown

    rows = [("added", task, "") for task in difference.added]
    rows += [("removed", task, "") for task in difference.removed]
    rows += [(str(change.kind), change.task_id, _fields(change)) for change in difference.changed]
    if rows:
        print_table(
            ("change", "task", "fields"), [(kind, shown(task), fields) for kind, task, fields in rows]
        )
    if text:
        for change in difference.changed:
            for field in change.fields:
                _print_field(change.task_id, field)


def _fields(change: TaskChange) -> str:
    """The changed fields in a line, those that decide a grade first."""
    if not change.fields:
        return "(no pack at hand)"
    return ", ".join(_named(field) for field in change.fields)


def _named(field: FieldChange) -> str:
    from ce_release.names import shown

    if field.before is None and field.after is not None:
        return f"+{shown(field.name)}"
    return f"-{shown(field.name)}" if field.after is None and field.before is not None else shown(field.name)


def _print_field(task_id: str, field: FieldChange) -> None:
    from ce_release.names import shown

    click.echo(f"\n{shown(task_id)}: {shown(field.name)}")
    if field.is_text:
        click.echo(_safe(field.unified()), nl=False)
    else:
        click.echo(f"- {_value(field.before)}\n+ {_value(field.after)}")


def _safe(text: str) -> str:
    """Text of a pack for a terminal: control characters beside tab and newline are spelt out."""
    return "".join(char if char.isprintable() or char in "\t\n" else ascii(char)[1:-1] for char in text)


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)


def _summary(difference: ReleaseDiff, sides: list[Side]) -> str:
    kinds = [str(change.kind) for change in difference.changed]
    counts = f"{len(difference.added)} added, {len(difference.removed)} removed"
    changes = f"{kinds.count('behaviour')} changed in behaviour, {kinds.count('inert')} inertly"
    return f"{sides[0].name} → {sides[1].name}: {counts}, {changes}, {difference.same} the same"


def _as_data(difference: ReleaseDiff, sides: list[Side], text: bool) -> dict[str, Any]:
    return {
        "before": sides[0].name,
        "after": sides[1].name,
        "added": difference.added,
        "removed": difference.removed,
        "changed": [
            {
                "task": change.task_id,
                "kind": str(change.kind),
                "fields": [_field_data(field, text) for field in change.fields],
            }
            for change in difference.changed
        ],
        "same": difference.same,
    }


def _field_data(field: FieldChange, text: bool) -> dict[str, Any]:
    data: dict[str, Any] = {"name": field.name, "kind": str(field.kind)}
    if field.is_text:
        return {**data, "diff": field.unified()} if text else data
    return {**data, "before": field.before, "after": field.after}
