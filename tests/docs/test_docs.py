"""Documents say only what is so: links lead somewhere, and each command they show exists with its flags."""

from __future__ import annotations

import re
import shlex
from importlib import import_module
from pathlib import Path

import click
import pytest
from support import make_problem

from ce_schema.datapack import open_solution_pack, write_problem_pack

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
_CLI = {"ce-author": "ce_author.cli", "ce-release": "ce_release.cli", "ce-eval": "ce_eval.cli"}


def commands() -> list[tuple[str, str]]:
    found = []
    for page in PAGES:
        for block in _BLOCK.findall(page.read_text()):
            for line in block.splitlines():
                words = line.removeprefix("$ ")
                if line.startswith("$ ") and words.split()[0] in _CLI:
                    found.append((page.name, words))
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in _LINK.findall(page.read_text()):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize(("page", "line"), commands(), ids=lambda value: value[:60])
def test_shown_commands_exist_with_their_flags(page, line):
    program, *words = shlex.split(line, comments=True)
    command: click.Command = import_module(_CLI[program]).cli
    context = click.Context(command, info_name=program)
    while isinstance(command, click.Group):
        name = words.pop(0)
        found = command.get_command(context, name)
        assert found is not None, f"{page}: {program} has no command {name}"
        command = found
    parser = command.make_parser(click.Context(command))
    parser.parse_args([word for word in words if word not in {">", "summary.json"}])


def test_the_python_of_the_formats_page_runs(tmp_path, monkeypatch, capsys):
    reading, writing = _PYTHON.findall((ROOT / "docs" / "formats.md").read_text())
    monkeypatch.chdir(tmp_path)
    problem = make_problem("cub/1", group="cccl")
    write_problem_pack(
        "2026-2-problems.tar.gz", [problem], release="2026-2", created_at="2026-12-01T00:00:00+00:00"
    )
    exec(reading, {})
    assert capsys.readouterr().out.startswith("cub/1 cccl ")
    (tmp_path / "solution.cu").write_text("// an answer\n")
    exec(writing, {})
    with open_solution_pack("my-model-solutions.tar.gz") as pack:
        assert [record.item.task_id for record in pack] == ["cub/1"]


def test_every_page_of_docs_is_reachable_from_the_readme():
    linked = set()
    for page in PAGES:
        linked.update(Path(target).name for target in _LINK.findall(page.read_text()))
    assert {page.name for page in PAGES if page.parent.name == "docs"} <= linked


def test_the_lint_page_lists_the_rules_as_they_are():
    from ce_author.lint.registry import all_rules

    page = (ROOT / "docs" / "lint.md").read_text()
    listed = re.findall(r"^\| `([a-z0-9.-]+)` \| (\w+) \| (.*) \|$", page, re.MULTILINE)
    assert listed == [(rule.id, str(rule.severity), rule.summary) for rule in all_rules().values()]
