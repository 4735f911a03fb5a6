"""``ce-author fmt``: specs in their canonical form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, examples
from ce_schema.errors import CeError, ExitCode

if TYPE_CHECKING:
    from ce_corpus.folder import ProblemFolder


@click.command(
    "fmt",
    epilog=examples(
        "ce-author fmt                # the problem around this folder, else the whole corpus",
        "ce-author fmt cub/1 --diff   # show what would change",
        "ce-author fmt --check        # exit 1 when something would change",
    ),
)
@click.argument("tasks", nargs=-1, metavar="[TASK|GROUP|PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every problem of the corpus.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when a spec is not in canonical form.")
@click.option("--diff", is_flag=True, help="Write nothing; print what would change. Exit code as --check.")
@corpus_option
def command(
    tasks: tuple[str, ...], everything: bool, check: bool, diff: bool, corpus: Path | None
) -> ExitCode:
    """Write specs in their canonical form: order of keys, quotes, blocks, one newline at the end.

    Values and comments stay, and so does what certificates are bound to. A spec that lint finds
    unreadable is left alone.
    """
    from ce_author.targets import chosen_folders, corpus_or_none
    from ce_corpus.index import load_folders

    changed: list[str] = []
    refused: list[CeError] = []
    folders = chosen_folders(tasks, everything, corpus_or_none(corpus))
    for folder in load_folders(folders):
        try:
            if _format(folder, write=not (check or diff), show=diff):
                changed.append(folder.spec_label)
        except CeError as error:
            refused.append(error)
    _report(changed, refused, len(folders), writing=not (check or diff), listing=not diff)
    return ExitCode.FINDINGS if refused or (changed and (check or diff)) else ExitCode.OK


def _format(folder: ProblemFolder, *, write: bool, show: bool) -> bool:
    """Format one spec; returns whether its form was another one."""
    from ce_author.specformat import formatted
    from ce_schema.atomic import write_text

    _refuse_defects(folder)
    assert folder.document is not None, "a spec without findings has a document"
    text = folder.document.text
    written = formatted(text, folder.spec_label)
    if written == text:
        return False
    if show:
        click.echo(_difference(text, written, folder.spec_label), nl=False)
    if write:
        write_text(folder.path / "problem-spec.yaml", written)
    return True


def _refuse_defects(folder: ProblemFolder) -> None:
    from ce_schema.errors import FindingsError

    own = [defect for defect in folder.defects if defect.location.path == folder.spec_label]
    if findings := [*own, *folder.spec_findings]:
        first = findings[0]
        raise FindingsError(
            f"not formatted: {first.message}",
            where=str(first.location),
            fix=first.fix or "see ce-author lint",
        )


def _difference(before: str, after: str, label: str) -> str:
    import difflib

    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), label, f"{label} (formatted)"
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines
    )


def _report(changed: list[str], refused: list[CeError], total: int, *, writing: bool, listing: bool) -> None:
    from ce_schema.cli import print_error

    for label in changed if listing else ():
        click.echo(label)
    for error in refused:
        print_error(error)
    done = "formatted" if writing else "to be formatted"
    left = total - len(changed) - len(refused)
    click.echo(f"{len(changed)} {done}, {left} in canonical form, {len(refused)} refused", err=True)
