"""``ce-author lint``: everything that can be told about a problem without building or running it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table, split_commas
from ce_schema.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ce_schema.diagnostics import Diagnostic


@click.command(
    "lint",
    epilog=examples(
        "ce-author lint                        # the problem around this folder, else the whole corpus",
        "ce-author lint cub/1 cuda-kernels     # a task, a whole group",
        "ce-author lint --all --strict         # warnings fail, too",
        "ce-author lint --select schema,yaml --format json",
        "ce-author lint --explain timing.region",
    ),
)
@click.argument("tasks", nargs=-1, metavar="[TASK|GROUP|PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every problem of the corpus.")
@click.option(
    "--format",
    "style",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How findings are printed.",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option(
    "--select", multiple=True, callback=split_commas, metavar="RULES", help="Only these rules or areas."
)
@click.option(
    "--ignore", multiple=True, callback=split_commas, metavar="RULES", help="Not these rules or areas."
)
@click.option("--strict", is_flag=True, help="Exit 1 on warnings, too.")
@click.option("--statistics", is_flag=True, help="Number of findings per rule instead of findings.")
@click.option("--list-rules", is_flag=True, help="List all rules.")
@click.option("--explain", metavar="RULE", help="Say what a rule is about.")
@corpus_option
def command(
    tasks: tuple[str, ...],
    everything: bool,
    style: str,
    as_json: bool,
    select: tuple[str, ...] | None,
    ignore: tuple[str, ...] | None,
    strict: bool,
    statistics: bool,
    list_rules: bool,
    explain: str | None,
    corpus: Path | None,
) -> ExitCode:
    """Check problems without building or running them.

    \b
    Exit 0: no errors. Exit 1: errors (with --strict, warnings). Exit 2: usage.
    \b
    A finding is ignored by a comment on its line or the line above, with a reason:
      # ce-lint: ignore=RULE[,RULE] REASON      (in C++: // ce-lint: ...)
      # ce-lint: ignore-file=RULE REASON
    """
    style = "json" if as_json else style
    if list_rules:
        return _list_rules(style)
    if explain is not None:
        return _explain(explain)
    from ce_author.lint import lint_paths
    from ce_author.targets import chosen_folders, corpus_or_none
    from ce_corpus.index import short_label
    from ce_schema.diagnostics import Severity

    folders = chosen_folders(tasks, everything, corpus_or_none(corpus))
    findings = lint_paths([(path, short_label(path)) for path in folders], select, ignore)
    _print(findings, len(folders), style, statistics)
    failing = {Severity.ERROR, Severity.WARNING} if strict else {Severity.ERROR}
    return ExitCode.FINDINGS if any(item.severity in failing for item in findings) else ExitCode.OK


def _print(findings: Sequence[Diagnostic], problems: int, style: str, statistics: bool) -> None:
    from ce_author.lint import output

    if statistics:
        rows = output.statistics(findings)
        if style == "json":
            echo_json(
                [{"rule": rule, "severity": severity, "count": count} for rule, severity, count in rows]
            )
        else:
            print_table(["rule", "severity", "findings"], rows)
            click.echo(output.summary(findings, problems), err=True)
    elif style == "json":
        echo_json(output.as_data(findings, problems))
    elif style == "sarif":
        echo_json(output.as_sarif(findings))
    else:
        click.echo(output.as_text(findings, problems))


def _list_rules(style: str) -> ExitCode:
    from dataclasses import asdict

    from ce_author.lint.registry import all_rules

    if style == "json":
        echo_json([asdict(rule) for rule in all_rules().values()])
    else:
        rows = [(rule.id, rule.severity, rule.summary) for rule in all_rules().values()]
        print_table(["rule", "severity", "what holds"], rows)
    return ExitCode.OK


def _explain(name: str) -> ExitCode:
    from ce_author.lint.registry import find_rule

    rule = find_rule(name)
    how = (
        f"Ignore one finding: # ce-lint: ignore={rule.id} REASON"
        if rule.can_be_ignored
        else ("Cannot be ignored by a comment: the problem cannot be read.")
    )
    click.echo(f"{rule.id} ({rule.severity})\n\n  {rule.summary}\n\nWhy: {rule.why}\n\n{how}")
    return ExitCode.OK
