"""What all command lines share: errors in one shape, exit codes, lazy commands, tables."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from ce_schema.cli import LazyGroup, corpus_option, echo_json, examples, print_table, run_main, split_commas
from ce_schema.errors import CeError, ExitCode, FindingsError, InputError, MachineLacksError

LAZY = {"lint": ("no_such_module:command", "Check problems."), "show": ("json:loads", "List problems.")}


def _group() -> click.Group:
    @click.group(cls=LazyGroup, lazy=LAZY, epilog=examples("x lint  # all"))
    def group() -> None:
        """Does things."""

    return group


def _ends_with(body: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    group = _group()
    group.command("go")(body)
    with pytest.raises(SystemExit) as ended:
        run_main(group, "x", ["go"])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


def _raiser(error: BaseException) -> Callable[[], None]:
    def body() -> None:
        raise error

    return body


@pytest.mark.parametrize(
    ("error", "code"),
    [(InputError("bad"), 2), (FindingsError("bad"), 1), (MachineLacksError("bad"), 3), (CeError("bad"), 2)],
)
def test_errors_have_one_shape(error: CeError, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    error.where, error.fix = "a.yaml:1:2", "do it"
    assert _ends_with(_raiser(error), capsys) == (code, "", "error: bad\n  at: a.yaml:1:2\n  fix: do it\n")


def test_exit_codes_of_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert _ends_with(lambda: None, capsys)[0] == 0
    assert _ends_with(lambda: ExitCode.FINDINGS, capsys)[0] == 1
    assert _ends_with(lambda: click.get_current_context().exit(7), capsys)[0] == 7


def test_interrupts_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _ends_with(_raiser(KeyboardInterrupt()), capsys)
    assert code == 130
    assert "interrupted; run again to resume" in err


def test_a_missing_extra_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _ends_with(_raiser(ModuleNotFoundError("x", name="docker.models")), capsys)
    assert code == 3
    assert "fix: pip install 'compute-eval-sdk[container]'" in err


def test_other_missing_modules_are_bugs(capsys: pytest.CaptureFixture[str]) -> None:
    group = _group()
    group.command("go")(_raiser(ModuleNotFoundError("x", name="ce_typo")))
    with pytest.raises(ModuleNotFoundError):
        run_main(group, "x", ["go"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["lnt"], "error: there is no command 'lnt'. Did you mean lint?"),
        (["--hlep"], "error: No such option"),
        (["go", "--corpsu", "a"], "error: No such option"),
    ],
)
def test_usage_errors(arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    group = _group()

    @group.command("go")
    @corpus_option
    def go(corpus: Path | None) -> None:
        """Go."""

    with pytest.raises(SystemExit) as ended:
        run_main(group, "x", arguments)
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert err.startswith(says)
    assert "--help" in err


def test_help_lists_commands_in_order_without_importing_them(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(_group(), "x", ["--help"])
    out = capsys.readouterr().out
    assert ended.value.code == 0
    assert out.index("Check problems.") < out.index("List problems.")
    assert "  x lint  # all" in out


def test_no_arguments_show_the_help_as_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run_main(_group(), "x", [])
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "Check problems." in err


def test_completion_imports_no_command() -> None:
    group = _group()
    items = group.shell_complete(click.Context(group), "l")
    assert [(item.value, item.help) for item in items] == [("lint", "Check problems.")]


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_a_closed_pipe_ends_quietly() -> None:
    code = (
        "import click, os; from ce_schema.cli import run_main\n"
        "@click.command()\ndef go():\n  for _ in range(100000): click.echo('x' * 100)\n"
        "run_main(go, 'go', [])"
    )
    pipe = subprocess.Popen(
        f'{sys.executable} -c "$CODE" | head -1; exit ${{PIPESTATUS[0]}}',
        shell=True,
        executable="/bin/bash",
        env={**os.environ, "CODE": code},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, err = pipe.communicate()
    assert (pipe.returncode, err) == (141, "")


def test_help_is_quick_because_it_imports_little() -> None:
    code = (
        "import sys; sys.argv = ['x', '--help']\n"
        "from ce_author.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'pydantic', 'ruamel', 'rich', 'jsonschema', 'git', 'tree_sitter'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    result = _python(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize(("value", "coloured"), [("", True), ("1", False)])
def test_a_terminal_gets_colour_unless_it_is_not_wanted(value: str, coloured: bool) -> None:
    code = (
        "from ce_schema.cli import print_error; from ce_schema.errors import CeError\n"
        "print_error(CeError('bad'))"
    )
    ours, theirs = os.openpty()
    environment = {**os.environ, "NO_COLOR": value, "TERM": "xterm"}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, env=environment, check=True)
    os.close(theirs)
    written = os.read(ours, 1000).decode()
    os.close(ours)
    assert "bad" in written
    assert ("\x1b[" in written) is coloured


def test_tables_are_plain_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["task", "n"], [["cub/1", 3], ["a", None]], title="t")
    assert capsys.readouterr().out == "task   n\ncub/1  3\na\n"


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    echo_json({"path": Path("a"), "set": {2, 1}, "words": "é", "none": None})
    assert json.loads(capsys.readouterr().out) == {"path": "a", "set": [1, 2], "words": "é", "none": None}


# A command of its own in a process of its own, whose standard streams are what the shell makes of them.
PRINTER = """
import click, os, sys
from ce_schema.cli import echo_json, print_table, run_main
@click.command()
def go():
    print_table(["a"], [["x"]])
    echo_json({"name": os.fsdecode(b"\\xff"), "emoji": "\\U0001f389"})
    click.echo(os.fsdecode(b"\\xff") + "\\U0001f389", err=True)
    with open("made", "w") as stream:
        os.write(1, b"for stdout")
run_main(go, "go", [])
"""


def _printer(tmp_path: Path, redirect: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        f'"{sys.executable}" -c "$CODE" {redirect}',
        shell=True,
        cwd=tmp_path,
        capture_output=True,
        env={**os.environ, "CODE": PRINTER, **environment},
        check=False,
    )


@pytest.mark.parametrize("redirect", [">&-", "2>&-", "<&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_failure_and_no_other_file_takes_their_place(
    tmp_path: Path, redirect: str
) -> None:
    done = _printer(tmp_path, redirect)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "made").read_bytes() == b""


@pytest.mark.parametrize("redirect", ["> /dev/full", "> /dev/full 2> /dev/full", "> /dev/full 2>&-"])
def test_output_that_cannot_be_written_is_an_error(tmp_path: Path, redirect: str) -> None:
    done = _printer(tmp_path, redirect)
    assert done.returncode == 2
    assert b"Traceback" not in done.stderr
    assert b"Exception ignored" not in done.stderr
    if "2>" not in redirect:
        assert b"error: the system refused: No space left on device\n" in done.stderr
        assert b"fix: " in done.stderr


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_text_that_a_stream_cannot_encode_is_escaped(tmp_path: Path, encoding: str) -> None:
    done = _printer(tmp_path, "", PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr
    printed = done.stdout.decode(encoding).partition("{")[2].rpartition("}")[0]
    assert json.loads("{" + printed + "}") == {"name": "\udcff", "emoji": "\U0001f389"}


def test_what_the_system_refuses_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = _ends_with(_raiser(PermissionError(13, "Permission denied", "/a/b")), capsys)
    assert code == 2
    assert err.startswith("error: the system refused: Permission denied\n  at: /a/b\n  fix: check ")


@pytest.mark.parametrize("arguments", [[""], ["go", ""], ["go", "--corpus", ""], ["go", "--corpus="]])
def test_an_empty_argument_is_not_taken_for_here_or_for_all(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    group = _group()

    @group.command("go")
    @click.argument("names", nargs=-1)
    @corpus_option
    def go(names: tuple[str, ...], corpus: Path | None) -> None:
        """Go."""

    with pytest.raises(SystemExit) as ended:
        run_main(group, "x", arguments)
    out, err = capsys.readouterr()
    assert (ended.value.code, out) == (2, "")
    assert "empty" in err
    assert "fix: leave it out" in err


@pytest.mark.parametrize("text", [",", " , "])
def test_a_list_of_nothing_is_not_taken_for_all(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    group = _group()

    @group.command("go")
    @click.option("--only", multiple=True, callback=split_commas)
    def go(only: tuple[str, ...] | None) -> None:
        """Go."""

    with pytest.raises(SystemExit) as ended:
        run_main(group, "x", ["go", "--only", text])
    assert ended.value.code == 2
    assert "names nothing" in capsys.readouterr().err


def test_names_from_strangers_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    hostile = "a\x1b[2J\x07\x9b1m\u202eb"
    _, _, err = _ends_with(_raiser(InputError(hostile, where=hostile, fix=hostile)), capsys)
    print_table(["name"], [[hostile]])
    for printed in (err, capsys.readouterr().out):
        assert printed.replace("\n", "").isprintable()
        assert r"a\x1b[2J\x07\x9b1m\u202eb" in printed
