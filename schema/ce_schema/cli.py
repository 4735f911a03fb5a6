"""What the commands of the toolkit share: lazy groups, the shape of errors, tables and JSON.

A command line starts fast because a group knows its commands by name and help text only; the module
of a command is imported when that command runs.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from ce_schema.errors import CeError, ExitCode, InputError, did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# A process that dies of SIGPIPE is what `command | head` expects from any tool.
_BROKEN_PIPE_EXIT = 141

# Control characters but line ends and tabs, and the marks that change the direction of text.
_STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

# Which extra brings a package that a command imports.
_EXTRA_OF_PACKAGE = {
    "anthropic": "gen",
    "cookiecutter": "author",
    "cuda": "eval",
    "docker": "container",
    "git": "author",
    "harbor": "harbor",
    "huggingface_hub": "hub",
    "jsonschema": "author",
    "openai": "gen",
    "pynvml": "eval",
    "ray": "ray",
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they run.

    Args:
        lazy: command name → (``"module:attribute"``, one line of help), in the order of the listing.
    """

    def __init__(self, *args: Any, lazy: Mapping[str, tuple[str, str]] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = dict(lazy or {})

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of the commands, in the order in which a user meets them."""
        return [*self._lazy, *super().list_commands(ctx)]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now, or None."""
        if cmd_name not in self._lazy:
            return super().get_command(ctx, cmd_name)
        from importlib import import_module

        module, _, attribute = self._lazy[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command), f"{module}:{attribute} is no command"
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, with near names where there is no such command."""
        name = args[0]
        known = self.list_commands(ctx)
        if name not in known and not name.startswith("-") and not ctx.resilient_parsing:
            raise click.UsageError(f"there is no command '{name}'.{did_you_mean(name, known)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        rows = [(name, self._short_help(ctx, name)) for name in self.list_commands(ctx)]
        if rows:
            with formatter.section("Commands"):
                formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete command names without importing the commands."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self._short_help(ctx, name)) for name in names]
        return items + click.Command.shell_complete(self, ctx, incomplete)

    def _short_help(self, ctx: click.Context, name: str) -> str:
        if name in self._lazy:
            return self._lazy[name][1]
        command = super().get_command(ctx, name)
        return command.get_short_help_str(100) if command else ""


def run_main(group: click.Command, prog_name: str, args: Sequence[str] | None = None) -> NoReturn:
    """Run a command line and end the process with its exit code.

    Whatever the user can act on is printed to stderr as ``error: what``, ``at: where``, ``fix: how``.
    A command gives its exit code by returning an integer (`ExitCode`), by ``ctx.exit`` or by raising.
    """
    _steady_streams()
    if f"_{prog_name}_COMPLETE".replace("-", "_").upper() in os.environ:
        group.main(prog_name=prog_name)  # a shell asks for completions
    try:
        # Not through click's `main`: it would report errors in its own shape and exit codes.
        words = list(sys.argv[1:] if args is None else args)
        _refuse_empty(words)
        with group.make_context(prog_name, words, color=_colour()) as context:
            result = group.invoke(context)
        sys.stdout.flush()
        code = int(result) if isinstance(result, int) else int(ExitCode.OK)
    except click.exceptions.Exit as ended:
        code = ended.exit_code
    except CeError as error:
        print_error(error)
        code = error.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        code = ExitCode.USAGE
    except click.ClickException as error:
        print_error(_as_error(error))
        code = ExitCode.USAGE
    except (click.Abort, KeyboardInterrupt):
        with contextlib.suppress(OSError):
            click.echo("interrupted; run again to resume", err=True)
        code = ExitCode.INTERRUPTED
    except BrokenPipeError:
        code = _BROKEN_PIPE_EXIT
    except OSError as error:
        print_error(_refused(error))
        code = ExitCode.USAGE
    except ModuleNotFoundError as error:
        print_error(_missing_package(error))
        code = ExitCode.MACHINE_LACKS
    _give_up_on_unwritable()
    sys.exit(code)


def _refuse_empty(words: Sequence[str]) -> None:
    """An empty argument is a script's variable that was not set, and reads as "here" or "all of them"."""
    for word in words:
        name, _, value = word.partition("=")
        if not word:
            raise InputError("an argument is empty", fix="leave it out, or set the variable it comes from")
        if word.startswith("--") and "=" in word and not value:
            raise InputError(f"{name} is empty", fix="leave it out, or set the variable it comes from")


def _steady_streams() -> None:
    """Make the standard streams fit to write any text to, whoever started this process.

    A descriptor below 3 that came closed would be given to the next file that is opened, and everything
    that writes to "stdout", here or in a child, would write into that file. Text that a stream cannot encode
    (names of files that are not UTF-8, an ASCII locale) is escaped instead of raising.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            try:
                os.fstat(descriptor)
            except OSError:
                # The lowest free number is given out, so it is this one: those below are open by now.
                os.open(os.devnull, os.O_RDWR)
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _give_up_on_unwritable() -> None:
    """Send what is left for a reader that is gone, or a disk that is full, to nowhere.

    The flush at exit would complain about it a second time, and change the exit code.
    """
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _colour() -> bool | None:
    """False where the user wants no colour; None leaves it to whether the stream is a terminal."""
    return False if os.environ.get("NO_COLOR") else None


def visible(text: str) -> str:
    """``text`` with everything that could steer a terminal, or turn text around, spelt out."""
    return _STEERING.sub(lambda match: ascii(match[0])[1:-1], text)


def print_error(error: CeError) -> None:
    """Print what, where and how to fix, to stderr; where that cannot be written, the exit code has to do."""
    with contextlib.suppress(OSError):
        label = click.style("error:", fg="red", bold=True) + f" {visible(error.what)}"
        click.echo(label, err=True, color=_colour())
        if error.where:
            click.echo(f"  at: {visible(error.where)}", err=True)
        if error.fix:
            click.echo(f"  fix: {visible(error.fix)}", err=True)


def _refused(error: OSError) -> CeError:
    """What the system refused where no command has words of its own for it."""
    return InputError(
        f"the system refused: {error.strerror or error}",
        where=os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else None,
        fix="check free space, permissions and limits",
    )


def _as_error(error: click.ClickException) -> CeError:
    message = error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    fix = f"see {context.command_path} --help" if context else None
    return InputError(message, fix=fix)


def _missing_package(error: ModuleNotFoundError) -> CeError:
    from ce_schema.errors import missing_extra

    package = (error.name or "").partition(".")[0]
    if package not in _EXTRA_OF_PACKAGE:
        raise error
    return missing_extra(_EXTRA_OF_PACKAGE[package], f"this command (it imports {package})")


def echo_json(value: object) -> None:
    """Print ``value`` to stdout as indented JSON; pydantic models and dataclasses become objects."""
    import json

    # Escapes are the stream's to make where it lacks a character, and only JSON's own are JSON.
    escaped = (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"
    click.echo(json.dumps(value, indent=2, ensure_ascii=escaped, default=_plain))


def _plain(value: Any) -> Any:
    from dataclasses import asdict, is_dataclass

    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    return str(value)


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str | None = None
) -> None:
    """Print a table to stdout: drawn on a terminal, else in aligned plain columns that never wrap.

    Cells are shown with ``str``; None is an empty cell. ``title`` is for terminals only.
    """
    cells = [["" if cell is None else visible(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty():
        _print_plain_table(columns, cells)
        return
    from rich import box
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in cells:
        table.add_row(*(escape(cell) for cell in row))
    Console().print(table)


def _print_plain_table(columns: Sequence[str], cells: list[list[str]]) -> None:
    lines = [list(columns), *cells]
    widths = [max(len(line[index]) for line in lines) for index in range(len(columns))]
    for line in lines:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def examples(*lines: str) -> str:
    """An epilog that lists example calls, one a line; ``#`` starts a remark."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def split_commas(
    _context: click.Context, _parameter: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Callback of a repeatable option: ``--x a,b --x c`` as one tuple; None where it was not given."""
    parts = tuple(part.strip() for text in values for part in text.split(",") if part.strip())
    if values and not parts:
        raise click.BadParameter(f"{', '.join(values)!r} names nothing")
    return parts or None


def corpus_option[F: Callable[..., Any]](command: F) -> F:
    """The ``--corpus`` option, passed on as ``corpus: Path | None``."""
    option = click.option(
        "--corpus",
        type=click.Path(path_type=Path),
        metavar="FOLDER",
        help="The corpus to work on; the nearest corpus.yaml upward, or ./corpus, where not given.",
    )
    return option(command)
