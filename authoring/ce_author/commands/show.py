"""``ce-author show``: the problems of a corpus, or one of them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table
from ce_schema.errors import ExitCode

if TYPE_CHECKING:
    from ce_corpus.folder import ProblemFolder
    from ce_corpus.root import Corpus

_COLUMNS = ("task", "group", "topic", "difficulty", "releases", "certificate")


@click.command(
    "show",
    epilog=examples(
        "ce-author show              # a table of all tasks",
        "ce-author show cub/1        # one task: files, commands, certificate",
        "ce-author show cccl --json",
    ),
)
@click.argument("tasks", nargs=-1, metavar="[TASK|GROUP|PATH]...")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output, details included.")
@corpus_option
def command(tasks: tuple[str, ...], as_json: bool, corpus: Path | None) -> ExitCode:
    """List the problems, or show one.

    A certificate is current when it was earned by exactly this problem, stale when the problem has
    changed since.
    """
    from ce_author.targets import chosen_folders, corpus_or_none
    from ce_corpus.index import load_folders

    opened = corpus_or_none(corpus)
    folders = list(load_folders(chosen_folders(tasks, not tasks, opened)))
    facts = [_facts(folder, opened) for folder in folders]
    if as_json:
        echo_json(facts)
    elif tasks and len(facts) == 1:
        click.echo(_details(facts[0]))
    else:
        print_table(_COLUMNS, [_row(fact) for fact in facts])
    return ExitCode.OK


def _facts(folder: ProblemFolder, corpus: Corpus | None) -> dict[str, Any]:
    """Everything that is shown of a problem, as plain data; what cannot be read is null."""
    from ce_author.lint.facts import value_at
    from ce_corpus.folder import PARTS

    metadata = value_at(folder, "metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    keys = (
        "task_id group problem_type date timeout_seconds min_cuda_toolkit compute_capability base_image "
        "build_command test_command benchmark_command timing_mode source_references"
    )
    return {
        "path": folder.label,
        **{key: value_at(folder, key) for key in keys.split()},
        "metadata": metadata,
        "files": {
            part: [_file_facts(file.path, file.content) for file in getattr(folder, part)] for part in PARTS
        },
        "certificate": _certificate_facts(folder, corpus),
        "defects": [finding.as_dict() for finding in (*folder.defects, *folder.spec_findings)],
    }


def _file_facts(path: str, content: str) -> dict[str, Any]:
    return {"path": path, "bytes": len(content.encode()), "lines": content.count("\n")}


def _certificate_facts(folder: ProblemFolder, corpus: Corpus | None) -> dict[str, Any]:
    from ce_corpus.certificates import certificate_state, read_certificate

    if folder.spec is None or folder.defects:
        return {"state": "unreadable problem"}
    if corpus is None:
        return {"state": "no corpus"}
    certificate = read_certificate(corpus.certificates, folder.spec.task_id)
    facts: dict[str, Any] = {"state": str(certificate_state(folder, certificate))}
    if certificate is not None:
        facts |= certificate.model_dump(mode="json", include={"date", "machine", "rungs"})
    return facts


def _row(fact: dict[str, Any]) -> list[str]:
    metadata = fact["metadata"]
    releases = metadata.get("releases")
    return [
        str(fact["task_id"] or fact["path"]),
        str(fact["group"] or ""),
        str(metadata.get("topic") or ""),
        str(metadata.get("difficulty") or ""),
        _listed(releases) + (" (withheld)" if metadata.get("do_not_release") is True else ""),
        fact["certificate"]["state"],
    ]


def _listed(value: object) -> str:
    return ", ".join(str(item) for item in value) if isinstance(value, list) else ""


def _details(fact: dict[str, Any]) -> str:
    sections = [
        [f"{fact['task_id'] or '(no task_id)'}  {fact['path']}"],
        _pairs("", _properties(fact)),
        _pairs("commands", _commands(fact)),
        _pairs("files", _files(fact)),
        _certificate(fact["certificate"]),
        [f"  {item['message']}" for item in fact["defects"]],
    ]
    if sections[-1]:
        sections[-1].insert(0, "defects (see ce-author lint)")
    return "\n\n".join("\n".join(section) for section in sections if section)


def _pairs(title: str, pairs: list[tuple[str, str]]) -> list[str]:
    """Lines of names and values, aligned, those without a value left out."""
    shown = [(name, value) for name, value in pairs if value]
    width = max((len(name) for name, _ in shown), default=0)
    lines = [f"  {name.ljust(width)}  {value}" for name, value in shown]
    return [title, *lines] if title and lines else lines


def _properties(fact: dict[str, Any]) -> list[tuple[str, str]]:
    from ce_corpus.yamlwrite import flow

    known = ("topic", "difficulty", "tags", "releases", "do_not_release")
    metadata = fact["metadata"]
    return [
        ("group", str(fact["group"] or "")),
        *((key, _shown(metadata.get(key))) for key in known),
        ("language", str(fact["problem_type"] or "")),
        ("date", str(fact["date"] or "")),
        ("min_cuda_toolkit", str(fact["min_cuda_toolkit"] or "")),
        ("compute_capability", str(fact["compute_capability"] or "")),
        ("base_image", str(fact["base_image"] or "")),
        ("timeout_seconds", str(fact["timeout_seconds"] or "")),
        ("source_references", flow(fact["source_references"]) if fact["source_references"] else ""),
        *((key, _shown(value)) for key, value in metadata.items() if key not in known),
    ]


def _shown(value: object) -> str:
    from ce_corpus.yamlwrite import flow

    if isinstance(value, list):
        return _listed(value)
    return "" if value is None or value is False else value if isinstance(value, str) else flow(value)


def _commands(fact: dict[str, Any]) -> list[tuple[str, str]]:
    from ce_corpus.yamlwrite import flow

    timed = fact["timing_mode"]
    return [
        ("build", str(fact["build_command"] or "")),
        ("test", str(fact["test_command"] or "")),
        ("benchmark", str(fact["benchmark_command"] or "")),
        ("timed", flow(timed) if timed else ""),
    ]


def _files(fact: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (f"{part}/{file['path']}", f"{file['lines']} lines, {file['bytes'] / 1000:.1f} kB")
        for part, files in fact["files"].items()
        for file in files
    ]


def _certificate(facts: dict[str, Any]) -> list[str]:
    title = f"certificate  {facts['state']}"
    if "machine" not in facts:
        return [title]
    machine = facts["machine"]
    stack = [machine["gpu"] or "no GPU", machine["driver"], machine["cuda_toolkit"]]
    title += f", {facts['date']}, {', '.join(part for part in stack if part)}, mode {machine['mode']}"
    pairs = [
        (rung["rung"], f"{rung['status'].replace('_', ' ')}{': ' + rung['reason'] if rung['reason'] else ''}")
        for rung in facts["rungs"]
    ]
    return _pairs(title, pairs)
