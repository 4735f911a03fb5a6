"""The public benchmark's own evaluation command, on this evaluator.

``compute_eval evaluate_functional_correctness --solutions_datapack=… --mode=… --k='(1, 3)'``: flags
with underscores or dashes, values as Python literals, the same defaults.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Any

import click

from ce_schema.cli import run_main
from ce_schema.errors import ExitCode, InputError, did_you_mean
from ce_schema.version import __version__

COMMAND = "evaluate_functional_correctness"
PUBLIC_DEFAULTS: dict[str, Any] = {"release": "2026-2", "k": (1,), "workers": 4, "strict_k": False}

# Flag → what it does. The public names; `problems_source` and the like are translated by the config.
FLAGS = {
    "release": "Release to evaluate against. Default: 2026-2.",
    "solutions_datapack": "A *-solutions.tar.gz, or a folder of them. Required.",
    "problems_source": "A problems pack or a folder of problems. Default: the hub.",
    "mode": "sandbox or local; must be given.",
    "profile_mode": "cupti or ncu; not available yet.",
    "sanitizer_mode": "none, all, or tools; not available yet.",
    "k": "k of pass@k: 1 or '(1, 3)'. Default: 1.",
    "n_workers": "Solutions in flight. Default: 4.",
    "check_source_references": "Demand the names that problems require. Default: True.",
    "skip_missing": "Leave out problems without a solution. Default: False.",
    "include": 'Groups or topics to grade, as \'["thrust", "cub"]\'.',
    "exclude": "Groups or topics to leave out.",
    "output_dir": "Where graded files go. Default: here.",
    "config_file": "YAML with these names; flags win.",
}
_SWITCHES = frozenset({"check_source_references", "skip_missing"})


def parse_flags(arguments: list[str]) -> dict[str, Any]:
    """Flags as the public command takes them: ``--a=x``, ``--a x``, ``--switch``, ``--noswitch``.

    Raises:
        InputError: an unknown flag, or a flag without its value.
    """
    flags: dict[str, Any] = {}
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            raise InputError(f"unexpected argument '{word}'", fix="pass flags as --name=value")
        name, has_value, value = word.lstrip("-").partition("=")
        name = name.replace("-", "_")
        if name.removeprefix("no") in _SWITCHES and name not in FLAGS and not has_value:
            flags[name.removeprefix("no")] = False
            continue
        if name not in FLAGS:
            raise InputError(f"unknown flag '--{name}'.{did_you_mean(name, list(FLAGS))}")
        if not has_value:
            if rest and not rest[0].startswith("--"):
                value = rest.pop(0)
            elif name in _SWITCHES:
                flags[name] = True
                continue
            else:
                raise InputError(f"the flag --{name} needs a value")
        flags[name] = _literal(value)
    return flags


def _literal(text: str) -> Any:
    """A Python literal where the text is one (numbers, tuples, lists, True), else the text itself."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        inner = text.strip()
        if inner.startswith("[") and inner.endswith("]"):
            return [part.strip() for part in inner[1:-1].split(",") if part.strip()]
        return text
    return list(value) if isinstance(value, tuple) else value


def _evaluate(arguments: list[str]) -> ExitCode:
    from ce_eval.commands.run import grade_and_report
    from ce_eval.config import build_config

    flags = parse_flags(arguments)
    for name in ("release", "problems_source", "mode", "solutions_datapack", "output_dir"):
        if name in flags:
            flags[name] = str(flags[name])
    config_file = flags.pop("config_file", None)
    config = build_config(flags, Path(str(config_file)) if config_file else None, defaults=PUBLIC_DEFAULTS)
    return grade_and_report(config)


def _help() -> str:
    rows = "\n".join(f"  --{name:<24} {text}" for name, text in FLAGS.items())
    return (
        f"Usage: compute_eval {COMMAND} --solutions_datapack=PACK --mode=MODE [FLAGS]\n\n"
        "The public benchmark's command, run by ce-eval. Flags take underscores or dashes.\n\n"
        f"Flags:\n{rows}\n"
    )


@click.command(
    context_settings={"ignore_unknown_options": True, "help_option_names": []}, add_help_option=False
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def _cli(arguments: tuple[str, ...]) -> ExitCode:
    words = list(arguments)
    if not words or {"--help", "-h"} & set(words):
        click.echo(_help())
        return ExitCode.OK if words else ExitCode.USAGE
    if words[0] in {"--version", "-V"}:
        click.echo(f"compute_eval, version {__version__}")
        return ExitCode.OK
    if words[0] != COMMAND:
        raise InputError(
            f"there is no command '{words[0]}'.{did_you_mean(words[0], [COMMAND])}",
            fix=f"compute_eval {COMMAND} is the only one",
        )
    return _evaluate(words[1:])


def main() -> None:
    """Entry point of ``compute_eval``."""
    run_main(_cli, "compute_eval", sys.argv[1:])
