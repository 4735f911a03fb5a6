"""``ce-release cut``: freeze a release, a revision of one, or write a draft."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table
from ce_schema.errors import ExitCode, InputError

if TYPE_CHECKING:
    from ce_release.cut import CutResult


@click.command(
    "cut",
    short_help="Freeze a release, or a revision of one.",
    epilog=examples(
        "ce-release cut 2026-3 --output-dir dist",
        "ce-release cut 2026-3 --draft                 # try it out: no certificates needed",
        "ce-release cut 2026-3 --revision --output-dir dist \\",
        '    --reason thrust/4="the test compared with the wrong tolerance"',
        "ce-release cut 2026-3 --revision --reasons reasons.yaml --previous old/2026-3-problems.tar.gz",
    ),
)
@click.argument("release")
@click.option("--draft", is_flag=True, help="Write a marked pack without proof and without a manifest.")
@click.option("--revision", is_flag=True, help="Correct problems of a release that was cut before.")
@click.option(
    "--reason", "written", multiple=True, metavar="TASK=TEXT", help="Why a problem changed; once per problem."
)
@click.option(
    "--reasons",
    "reasons_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The same as a YAML file that maps tasks to texts.",
)
@click.option(
    "--previous",
    type=click.Path(path_type=Path),
    metavar="PACK",
    help="The pack of the last revision, where it is not in the output folder.",
)
@click.option(
    "--output-dir",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="Where the pack goes. Default: the working folder.",
)
@click.option("--description", metavar="TEXT", help="A sentence for the pack's metadata and the manifest.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@corpus_option
def command(
    release: str,
    draft: bool,
    revision: bool,
    written: tuple[str, ...],
    reasons_file: Path | None,
    previous: Path | None,
    output_dir: Path,
    description: str | None,
    as_json: bool,
    corpus: Path | None,
) -> int:
    """Freeze RELEASE: the problems whose metadata.releases name it, as one pack and one manifest.

    Takes committed work only, and only problems with a current certificate that satisfies the policy in
    corpus.yaml. The same commit gives the same bytes on any machine. Prints the path of the pack; commit
    the manifest afterwards.

    A release that exists is never cut again. With --revision its problems can be corrected: no task may
    be added, removed or renamed, each changed problem needs a reason, and all others keep their very
    bytes. Every revision gets a file of its own (RELEASE-r2-problems.tar.gz).

    Exits 1, and writes nothing, when a problem or the tree is not ready; everything that is missing is
    listed at once.
    """
    from ce_corpus.root import find_corpus
    from ce_release.cut import Order, cut_draft, cut_release
    from ce_release.names import parse_release

    if draft and revision:
        raise InputError("a draft is no revision", fix="pass --draft or --revision")
    if not revision and (written or reasons_file or previous):
        raise InputError(
            "--reason, --reasons and --previous are for revisions", fix="pass --revision, or leave them out"
        )
    order = Order(
        release=parse_release(release),
        output_dir=output_dir,
        description=description,
        draft=draft,
        revision=revision,
        reasons=read_reasons(written, reasons_file),
        previous=previous,
    )
    opened = find_corpus(corpus)
    result = cut_draft(opened, order) if draft else cut_release(opened, order)
    _report(result, as_json)
    return ExitCode.FINDINGS if result.lacks else ExitCode.OK


def read_reasons(written: tuple[str, ...], file: Path | None) -> dict[str, str]:
    """The reasons by task, from the command line and from a YAML file.

    Raises:
        InputError: one has not the form, is empty, or is given twice.
    """
    pairs = [_pair(text) for text in written]
    if file is not None:
        pairs += _read_yaml(file)
    reasons: dict[str, str] = {}
    for task, text in pairs:
        if task in reasons:
            raise InputError(f"two reasons are given for {task}", fix="join them into one")
        reasons[task] = text
    return reasons


def _pair(written: str) -> tuple[str, str]:
    task, _, text = written.partition("=")
    if not task.strip() or not text.strip():
        raise InputError(
            f"--reason {written!r} has not the form", fix='write --reason thrust/4="what was wrong"'
        )
    return task.strip(), text.strip()


def _read_yaml(file: Path) -> list[tuple[str, str]]:
    from ce_corpus.textfile import require_text
    from ce_corpus.yamltext import require_yaml

    document = require_yaml(require_text(file), str(file))
    form = "write one line a task: thrust/4: what was wrong"
    if not isinstance(document.data, dict):
        raise InputError("holds no mapping of tasks to reasons", where=str(document.where()), fix=form)
    for task, reason in document.data.items():
        if not isinstance(reason, str) or not reason.strip():
            raise InputError(f"the reason for {task} is no text", where=str(document.where(task)), fix=form)
    return [(task, reason.strip()) for task, reason in document.data.items()]


def _report(result: CutResult, as_json: bool) -> None:
    _remark(result)
    if as_json:
        echo_json(_as_data(result))
    elif result.lacks:
        print_table(
            ("task", "rule", "what", "fix"),
            [(lack.task or "-", lack.rule, lack.message, lack.fix) for lack in result.lacks],
        )
    else:
        click.echo(str(result.pack))


def _remark(result: CutResult) -> None:
    """What a person should know, on stderr."""
    if result.left_out:
        click.echo(f"left out, being do_not_release: {', '.join(result.left_out)}", err=True)
    if result.lacks:
        tasks = {lack.task for lack in result.lacks}
        tree = " and the tree" if "" in tasks else ""
        where = f"{len(tasks - {''})} problems{tree}"
        click.echo(
            f"{result.release} is not cut, nothing was written: {len(result.lacks)} findings in {where}",
            err=True,
        )
        return
    count = sum(result.groups.values())
    if result.draft:
        click.echo(f"a DRAFT of {count} problems, proved by nothing: not for publication", err=True)
        return
    name = result.release if result.revision == 1 else f"{result.release} revision {result.revision}"
    changed = f", changed: {', '.join(result.changed)}" if result.changed else ""
    click.echo(f"{name}: {count} problems{changed}; now commit {result.manifest}", err=True)
    if result.newer:
        click.echo(f"warning: the later release {result.newer} was cut before this one", err=True)


def _as_data(result: CutResult) -> Mapping[str, Any]:
    if result.lacks:
        return {
            "release": result.release,
            "cut": False,
            "findings": [lack.as_dict() for lack in result.lacks],
            "left_out": list(result.left_out),
        }
    return {
        "release": result.release,
        "cut": True,
        "draft": result.draft,
        "revision": None if result.draft else result.revision,
        "pack": str(result.pack),
        "sha256": result.sha256,
        "tar_sha256": result.tar_sha256,
        "manifest": None if result.manifest is None else str(result.manifest),
        "problems": sum(result.groups.values()),
        "groups": dict(result.groups),
        "changed": list(result.changed),
        "left_out": list(result.left_out),
        "newer_release": result.newer,
    }
