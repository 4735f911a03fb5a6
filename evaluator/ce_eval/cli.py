"""``ce-eval``: the command line of the evaluator."""

from __future__ import annotations

import click

from ce_schema.cli import LazyGroup, examples, run_main
from ce_schema.version import __version__

_COMMANDS = {
    "run": ("ce_eval.commands.run:command", "Grade solution packs."),
    "inspect": ("ce_eval.commands.inspect:command", "Show what a pack or a graded file holds."),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "ce-eval run 2026-2-gpt-5-solutions.tar.gz --release 2026-2 --mode sandbox --k 1,3",
        "ce-eval run solutions/ --problems 2026-2-problems.tar.gz --mode sandbox",
        "ce-eval inspect 2026-2-problems.tar.gz",
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="ce-eval")
def cli() -> None:
    """Build, run and grade model-written CUDA solutions against hidden tests.

    Solutions are untrusted code: a mode must be chosen for every run.
    """


def main() -> None:
    """Entry point of ``ce-eval``."""
    run_main(cli, "ce-eval")
