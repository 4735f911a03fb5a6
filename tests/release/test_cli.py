from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from release_support import run

from ce_release.cli import cli

COMMANDS = ["plan", "cut", "verify", "diff", "show", "export"]


def test_lists_its_commands() -> None:
    text = run("--help").out
    assert all(f"\n  {name} " in text for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_explains_itself_with_examples(name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0
    assert f"Usage: ce-release {name}" in result.out
    assert f"\n    ce-release {name} " in result.out.partition("Examples:")[2]
    assert "--json" in result.out


def test_unknown_commands_get_a_hint() -> None:
    result = run("verfy")
    assert result.code == 2
    assert "Did you mean verify" in result.err


def test_help_needs_click_and_nothing_heavy() -> None:
    code = (
        "import sys; before = set(sys.modules); import ce_release.cli\n"
        "heavy = {'pydantic', 'ruamel', 'git', 'rich', 'multiprocessing'}\n"
        "print(sorted(heavy & (set(sys.modules) - before)))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_every_command_is_there() -> None:
    import click

    with click.Context(cli) as context:
        assert [name for name in cli.list_commands(context) if cli.get_command(context, name)] == COMMANDS


def test_a_pipe_that_closes_is_no_error(tmp_path: Path) -> None:
    command = f"{sys.executable} -c 'from ce_release.cli import main; main()' --help | true"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
