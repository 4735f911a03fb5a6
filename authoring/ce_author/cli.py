"""``ce-author``: the command line of problem authors."""

from __future__ import annotations

import click

from ce_schema.cli import LazyGroup, examples, run_main
from ce_schema.version import __version__

# In the order of the work: a corpus, a problem in it, is it sound, is it proved.
_COMMANDS = {
    "init": ("ce_author.commands.init:command", "Start a corpus."),
    "new": ("ce_author.commands.new:command", "Scaffold a problem that builds, runs and tests."),
    "show": ("ce_author.commands.show:command", "List the problems, or show one."),
    "fmt": ("ce_author.commands.fmt:command", "Write specs in their canonical form."),
    "lint": ("ce_author.commands.lint:command", "Check problems without building or running them."),
    "validate": ("ce_author.commands.validate:command", "Build and run problems; write their certificates."),
    "doctor": ("ce_author.commands.doctor:command", "Say what this machine can do, and what it lacks."),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "ce-author new --group cuda-kernels    # scaffold a problem",
        "ce-author lint                        # the problem around this folder, else all",
        "ce-author validate cub/1              # prove it on this machine",
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="ce-author")
def cli() -> None:
    """Write problems, and find out whether they are any good."""


def main() -> None:
    """Entry point of ``ce-author``."""
    run_main(cli, "ce-author")
