"""``ce-eval inspect``: what a pack or a graded file holds."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import click

from ce_schema.cli import echo_json, examples, print_table
from ce_schema.errors import InputError


@click.command(
    "inspect",
    epilog=examples(
        "ce-eval inspect 2026-2-problems.tar.gz",
        "ce-eval inspect my-solutions.tar.gz --json",
        "ce-eval inspect my-graded-solutions.jsonl",
        "ce-eval inspect 2026-2-problems.tar.gz --task cub/1   # one problem, whole",
    ),
)
@click.argument("path", type=click.Path(path_type=Path))
@click.option("--task", metavar="TASK", help="Print the lines of one task instead, as JSON.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(path: Path, task: str | None, as_json: bool) -> None:
    """Show what PATH holds: a problems pack, a solutions pack, or a graded-solutions file."""
    if path.name.endswith(".jsonl"):
        _graded(path, task, as_json)
    else:
        _pack(path, task, as_json)


def _pack(path: Path, task: str | None, as_json: bool) -> None:
    from ce_schema.datapack import open_pack

    counts: Counter[str] = Counter()
    groups: Counter[str] = Counter()
    found: list[Any] = []
    with open_pack(path) as pack:
        for record in pack:
            counts[record.item.task_id] += 1
            groups[getattr(record.item, "group", "")] += 1
            if record.item.task_id == task:
                found.append(json.loads(record.raw))
        metadata, kind = pack.metadata.model_dump(), pack.kind
    if task is not None:
        _print_task(found, task, counts, path)
        return
    hashes = metadata.pop("task_id_hashes", None)
    if as_json:
        summary = {"kind": kind, "metadata": metadata, "tasks": counts, "hashes_verified": hashes is not None}
        echo_json(summary | ({"groups": groups} if kind == "problems" else {}))
        return
    facts = [(key, value) for key, value in metadata.items() if value is not None]
    checked = "yes" if hashes else "the pack lists none"
    facts += [("tasks", len(counts)), ("lines", counts.total()), ("hashes verified", checked)]
    print_table([f"{kind} pack", str(path)], [(key, _brief(value)) for key, value in facts])
    if kind == "problems":
        click.echo()
        print_table(["group", "problems"], sorted(groups.items()))


def _graded(path: Path, task: str | None, as_json: bool) -> None:
    outcomes: Counter[str] = Counter()
    by_task: dict[str, Counter[str]] = {}
    found: list[Any] = []
    try:
        with path.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                try:
                    grade = json.loads(line)
                    name = grade["task_id"]
                    outcome = grade.get("outcome") or ("passed" if grade["passed"] else "failed")
                except (ValueError, KeyError, TypeError):
                    raise InputError("is no grade", where=f"{path}:{number}:1") from None
                outcomes[outcome] += 1
                by_task.setdefault(name, Counter())[outcome] += 1
                if name == task:
                    found.append(grade)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", where=str(path)) from None
    if task is not None:
        _print_task(found, task, Counter(by_task), path)
    elif as_json:
        echo_json({"kind": "grades", "outcomes": outcomes, "tasks": by_task})
    else:
        rows = [(name, ", ".join(f"{n} {what}" for what, n in c.items())) for name, c in by_task.items()]
        print_table(["task", "outcomes"], rows)
        click.echo()
        print_table(["outcome", "solutions"], outcomes.most_common())


def _print_task(found: list[Any], task: str, known: Counter[str] | Any, path: Path) -> None:
    from ce_schema.errors import did_you_mean

    if not found:
        raise InputError(f"holds no task '{task}'.{did_you_mean(task, list(known))}", where=str(path))
    echo_json(found[0] if len(found) == 1 else found)


def _brief(value: object) -> str:
    if isinstance(value, list):
        shown = ", ".join(str(item) for item in value[:8])
        return f"{shown}, … ({len(value)})" if len(value) > 8 else shown
    return str(value)
