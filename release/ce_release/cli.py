"""The ``ce-release`` command: its subcommands by name; their modules are imported when they run."""

from __future__ import annotations

from typing import NoReturn

import click

from ce_schema.cli import LazyGroup, examples, run_main
from ce_schema.version import __version__

_COMMANDS = {
    "plan": (
        "ce_release.commands.plan:command",
        "Choose the problems of a release, or show what it still lacks.",
    ),
    "cut": (
        "ce_release.commands.cut:command",
        "Freeze a release, or a revision of one, into a pack and a manifest.",
    ),
    "verify": (
        "ce_release.commands.verify:command",
        "Prove a pack sound and equal to what its manifest froze.",
    ),
    "diff": ("ce_release.commands.diff:command", "Say which problems differ between two releases, and how."),
    "show": ("ce_release.commands.show:command", "List the releases, or what is in one of them."),
    "export": (
        "ce_release.commands.export:command",
        "Write the part of a pack that the public evaluator reads.",
    ),
}


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "ce-release plan 2026-3 cub thrust/4     # choose problems",
        "ce-release plan 2026-3                  # what is chosen, what it lacks",
        "ce-release cut 2026-3 --output-dir dist",
        "ce-release verify dist/2026-3-problems.tar.gz",
        "ce-release diff 2026-2 2026-3",
    ),
)
@click.version_option(__version__, "-V", "--version", prog_name="ce-release")
def cli() -> None:
    """Keep the releases of a benchmark: planned in the open, frozen with proof, corrected with a reason."""


def main() -> NoReturn:
    """Run the command line and end the process."""
    run_main(cli, "ce-release")
