"""``ce-release export``: write the part of a pack that the public evaluator reads."""

from __future__ import annotations

from pathlib import Path

import click

from ce_schema.cli import echo_json, examples, visible
from ce_schema.errors import FindingsError


@click.command(
    "export",
    short_help="Write the part of a pack that the public evaluator reads.",
    epilog=examples(
        "ce-release export dist/2026-2-problems.tar.gz --output public/2026-2-problems.tar.gz",
        "ce-release export dist/2026-3-problems.tar.gz --as-release internal --output internal.tar.gz",
    ),
)
@click.argument("pack", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", required=True, type=click.Path(path_type=Path), metavar="FILE", help="Where to write."
)
@click.option("--as-release", metavar="NAME", help="The release name to give it; one the evaluator knows.")
@click.option("--overwrite", is_flag=True, help="Replace the output file if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(pack: Path, output: Path, as_release: str | None, overwrite: bool, as_json: bool) -> None:
    """Write the problems of PACK that the public evaluator can read, and say what was left out and why.

    Leaves out problems of extension groups, and drops names of releases that the evaluator does not
    know from the lines. All else stays, to the byte where nothing had to change.
    """
    from ce_release.export import export_records, public_release
    from ce_schema.datapack import open_problem_pack, write_problem_pack

    with open_problem_pack(pack) as opened:
        metadata = opened.metadata
        release = public_release(metadata.release, as_release)
        exported = export_records(opened)
    by_reason: dict[str, list[str]] = {}
    for task, reason in exported.left_out.items():
        by_reason.setdefault(reason, []).append(task)
    if not exported.lines:
        whys = "; ".join(f"{reason}: {', '.join(tasks)}" for reason, tasks in by_reason.items())
        raise FindingsError(
            f"holds no problem that the public evaluator can read{f' ({whys})' if whys else ''}",
            where=str(pack),
        )
    written = write_problem_pack(
        output,
        exported.lines,
        release=release,
        # A pack without a date gets one that does not depend on the clock.
        created_at=metadata.created_at or "1980-01-01T00:00:00+00:00",
        description=metadata.description,
        overwrite=overwrite,
    )
    if as_json:
        echo_json(
            {
                "pack": str(written.path),
                "sha256": written.sha256,
                "release": release,
                "problems": len(exported.lines),
                "left_out": exported.left_out,
                "release_names_dropped": exported.renamed,
            }
        )
        return
    click.echo(str(written.path))
    for reason, tasks in by_reason.items():
        click.echo(f"left out {len(tasks)} ({reason}): {visible(', '.join(tasks))}", err=True)
    if exported.renamed:
        click.echo(f"dropped names of other releases from {exported.renamed} problems", err=True)
    click.echo(f"{len(exported.lines)} problems as release {release}", err=True)
