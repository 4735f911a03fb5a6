"""``ce-author new``: scaffold a problem."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, echo_json, examples
from ce_schema.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from ce_author.scaffold import Scaffold
    from ce_schema.groups import Group

_DIFFICULTIES = ("easy", "medium", "hard")


class _NewCommand(click.Command):
    """Lists the groups in its help, which are read only then."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups and their topics, then the examples."""
        from ce_author.scaffold import groups_with_template

        with formatter.section("Groups (and their topics)"):
            rows = [(_listed(group), group.covers) for group in groups_with_template()]
            formatter.write_dl(rows, col_max=44)
        super().format_epilog(ctx, formatter)


def _complete_group(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    return [CompletionItem(name) for name in _names() if name.startswith(incomplete)]


@click.command(
    "new",
    cls=_NewCommand,
    epilog=examples(
        "ce-author new                                  # asks",
        "ce-author new --group cub --difficulty hard    # a topic stands for its group, too",
        "ce-author new --group cuda-kernels --prompt-file idea.md",
    ),
)
@click.option(
    "--group", metavar="GROUP", shell_complete=_complete_group, help="Group, or topic of a group; see below."
)
@click.option("--topic", metavar="TOPIC", help="Topic inside the group, where it has topics.")
@click.option("--difficulty", type=click.Choice(_DIFFICULTIES), help="How hard it is. Default: medium.")
@click.option(
    "--prompt-file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="The prompt, instead of the sample's.",
)
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@corpus_option
def command(
    group: str | None,
    topic: str | None,
    difficulty: str | None,
    prompt_file: Path | None,
    as_json: bool,
    corpus: Path | None,
) -> None:
    """Scaffold a complete small problem, to be turned into one of your own.

    It gets a task id that was never used, a spec, a header, a hidden test, a reference and a stub;
    lint, build and test pass from the start. On a terminal, what is not given is asked.
    """
    from ce_author.scaffold import Request, scaffold
    from ce_corpus.root import find_corpus

    opened = find_corpus(corpus)
    chosen, its_topic = _choose(group, topic)
    request = Request(
        chosen,
        its_topic,
        difficulty or _ask("Difficulty", _DIFFICULTIES, "medium"),
        _read_prompt(prompt_file) if prompt_file else None,
    )
    _report(scaffold(opened, request), as_json)


def _choose(name: str | None, topic: str | None) -> tuple[Group, str | None]:
    """The group and topic meant, asked for where they are missing.

    Raises:
        InputError: a name is unknown, or missing and nobody can be asked.
    """
    from ce_schema.groups import resolve

    group, own_topic = resolve(name or _ask("Group", _names()))
    if topic is not None and topic not in group.topics:
        has = f"one of: {', '.join(group.topics)}" if group.topics else "leave --topic out"
        raise InputError(
            f"{group.name} has no topic '{topic}'.{did_you_mean(topic, list(group.topics))}", fix=has
        )
    if own_topic and topic and topic != own_topic:
        raise InputError(f"--group {own_topic} and --topic {topic} exclude one another")
    topic = topic or own_topic
    if topic is None and group.topics:
        topic = _ask("Topic", group.topics)
    return group, topic


def _ask(what: str, choices: Sequence[str], default: str | None = None) -> str:
    """What the user answers on a terminal; elsewhere the default."""
    if sys.stdin.isatty():
        return str(click.prompt(what, type=click.Choice(choices), default=default, err=True))
    if default is None:
        raise InputError(f"--{what.lower()} is missing", fix=f"one of: {', '.join(choices)}")
    return default


def _read_prompt(path: Path) -> str:
    """The text of the file, with a newline at its end.

    Raises:
        InputError: it is no text (placed), or blank.
    """
    from ce_corpus.textfile import require_text

    text = require_text(path)
    if not text.strip():
        raise InputError(
            "holds no prompt", where=str(path), fix="describe the task as the model shall read it"
        )
    return text.rstrip("\n") + "\n"


def _names() -> list[str]:
    """What can be scaffolded: topics where templates go by topic, else groups."""
    from ce_author.scaffold import groups_with_template

    return [name for group in groups_with_template() for name in group.topics or (group.name,)]


def _listed(group: Group) -> str:
    return f"{group.name} ({', '.join(group.topics)})" if group.topics else group.name


def _report(made: Scaffold, as_json: bool) -> None:
    from ce_corpus.index import short_label

    folder = short_label(made.folder)
    if as_json:
        echo_json({"task_id": made.task_id, "folder": folder, "files": made.files})
        return
    click.echo("\n".join(f"{folder}/{file}" for file in made.files))
    click.echo(
        f"next: turn the sample into your problem, starting with the prompt in {folder}/problem-spec.yaml\n"
        f"      ce-author lint {made.task_id}\n"
        f"      ce-author validate {made.task_id}",
        err=True,
    )
