"""``ce-eval run``: grade solution packs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ce_eval.render import LiveProgress, show_results, summary_json
from ce_schema.cli import echo_json, examples, split_commas
from ce_schema.errors import ExitCode

if TYPE_CHECKING:
    from ce_eval.config import EvaluateConfig

_LIST_HELP = "repeatable, or separated by commas"


def split_numbers(context: click.Context, parameter: click.Parameter, value: tuple[str, ...]) -> Any:
    """As `split_commas`, for whole numbers."""
    parts = split_commas(context, parameter, value)
    try:
        return tuple(int(part) for part in parts) if parts else None
    except ValueError:
        raise click.BadParameter(f"{', '.join(value)} is no list of whole numbers such as 1,3") from None


@click.command(
    "run",
    epilog=examples(
        "ce-eval run my-solutions.tar.gz --release 2026-2 --mode sandbox",
        "ce-eval run packs/ --problems corpus/ --mode sandbox --k 1,5 --include cub,thrust",
        "ce-eval run my-solutions.tar.gz --config eval.yaml --workers 8",
    ),
)
@click.argument("solutions", type=click.Path(path_type=Path), required=False)
@click.option("--mode", metavar="MODE", help="sandbox (isolated) or local (not isolated); required.")
@click.option("--problems", metavar="SOURCE", help="Pack, folder or .jsonl of problems; default: the hub.")
@click.option("--release", metavar="YYYY-N", help="Release to fetch, or to take from a folder of problems.")
@click.option("--k", multiple=True, callback=split_numbers, help=f"k of pass@k; {_LIST_HELP}. Default 1.")
@click.option("--workers", type=int, metavar="N", help="Solutions in flight. Default: the cores, at least 4.")
@click.option("--include", multiple=True, callback=split_commas, help=f"Groups or topics; {_LIST_HELP}.")
@click.option("--exclude", multiple=True, callback=split_commas, help=f"Groups or topics; {_LIST_HELP}.")
@click.option(
    "--check-source-references/--no-check-source-references",
    default=None,
    help="Demand the names a problem requires in the source. Default: yes.",
)
@click.option(
    "--skip-missing/--fail-missing",
    default=None,
    help="Leave out problems without a solution instead of failing them.",
)
@click.option("--output-dir", type=click.Path(path_type=Path), help="Where graded files go. Default: here.")
@click.option("--resume/--no-resume", default=None, help="Reuse finished grades. Default: yes.")
@click.option("--seed", type=int, help="Seed of the hidden tests' random data; default: drawn and recorded.")
@click.option("--fail-under", type=float, metavar="PERCENT", help="Exit 1 when pass@1 is lower.")
@click.option(
    "--config", "config_file", type=click.Path(path_type=Path), help="YAML with these names; flags win."
)
def command(config_file: Path | None, **flags: Any) -> ExitCode:
    """Grade the packs that SOLUTIONS, a *-solutions.tar.gz or a folder of them, means.

    Each pack gets a NAME-graded-solutions.jsonl, one grade a line. The summary goes to stdout as
    JSON. An interrupted run goes on where it stopped when it is repeated.
    """
    from ce_eval.config import build_config

    return grade_and_report(build_config(flags, config_file))


def grade_and_report(config: EvaluateConfig) -> ExitCode:
    """Grade, print the summary to stdout and the rest to stderr, and say how it went."""
    from ce_eval.run import evaluate

    with LiveProgress() as live:
        results = evaluate(config, live)
    show_results(results)
    echo_json(summary_json(results))
    if any(result.summary.infrastructure_errors for result in results):
        return ExitCode.FINDINGS
    if config.fail_under is not None and any(
        100 * result.summary.pass_at_1 < config.fail_under for result in results
    ):
        return ExitCode.FINDINGS
    return ExitCode.OK
