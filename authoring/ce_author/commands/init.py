"""``ce-author init``: start a corpus."""

from __future__ import annotations

from pathlib import Path

import click

from ce_schema.cli import echo_json, examples


@click.command(
    "init",
    epilog=examples(
        "ce-author init                        # this folder becomes a corpus",
        "ce-author init corpus --name kernels",
    ),
)
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False), default=".")
@click.option("--name", help="The name of the corpus. Default: that of the folder.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(folder: Path, name: str | None, as_json: bool) -> None:
    """Start a corpus in FOLDER: its configuration, its folders, and the schema that editors use.

    Nothing that exists is overwritten.
    """
    from ce_author.start import create_corpus
    from ce_corpus.index import short_label

    made = create_corpus(folder, name if name is not None else folder.resolve().name)
    labels = [short_label(path) for path in made]
    if as_json:
        echo_json({"corpus": str(folder.resolve()), "files": labels})
        return
    click.echo("\n".join(labels))
    where = "" if folder.resolve() == Path.cwd() else f"cd {folder}, then "
    click.echo(f"next: {where}ce-author new", err=True)
