from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, table

from ce_author.lint.rules.prompt import SAMPLE_MARK

TEXT = "Implement `scale` with cudaMemcpyAsync."
LINE = "Declared in include/scale.h."


@table(
    Case("prompt.empty", spec={f"|\n  {TEXT}\n\n  {LINE}": '" \\n "'}, at="problem-spec.yaml:5:9"),
    Case("prompt.empty"),
    Case(
        "prompt.template",
        spec={LINE: "See {{ cookiecutter.name }}."},
        at="problem-spec.yaml:8:7",
        says="{{ cookiecutter",
    ),
    Case("prompt.template", spec={LINE: "a {% if x %}"}, at="problem-spec.yaml:8:5"),
    Case("prompt.template", spec={LINE: "Lorem ipsum dolor"}, at="problem-spec.yaml:8:3"),
    Case("prompt.template", spec={LINE: "Return {{1, 2}, {3, 4}}; x%y, {%d}."}),
    Case("prompt.placeholder", spec={LINE: "TODO: describe"}, at="problem-spec.yaml:8:3"),
    Case("prompt.placeholder", spec={LINE: "a XXX b"}, at="problem-spec.yaml:8:5"),
    Case("prompt.placeholder", spec={LINE: "call {{ name }} now"}, at="problem-spec.yaml:8:8"),
    Case("prompt.placeholder", spec={f"|\n  {TEXT}\n\n  {LINE}": '"is TODO"'}, at="problem-spec.yaml:5:13"),
    Case("prompt.placeholder", spec={LINE: "A todo list, autodoc, XXXL, {{0}}."}),
    Case("prompt.sample", spec={LINE: SAMPLE_MARK}, at="problem-spec.yaml:8:3"),
    Case("prompt.sample"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_the_mark_is_that_of_the_templates() -> None:
    templates = Path(__file__).parents[3] / "templates"
    specs = list(templates.rglob("problem-spec.yaml"))
    assert specs
    assert all(SAMPLE_MARK in spec.read_text() for spec in specs)
