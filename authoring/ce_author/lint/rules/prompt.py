"""Rules about the prompt: the text a model gets must be there, and must be meant."""

from __future__ import annotations

import re

from ce_author.lint.facts import place_in_value, text_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Severity

# The first words of the prompts that templates come with.
SAMPLE_MARK = "(Sample problem: replace this text.)"

# C++ writes `{{` too, so a bare pair of braces proves nothing.
_TEMPLATE = re.compile(r"\{\{-?\s*cookiecutter\b|\{%-?\s*\w[^%\n]*-?%\}|\blorem ipsum\b", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\b(?:TODO|FIXME|XXX|TBD)\b|\{\{ [a-z_][a-z0-9_.]* \}\}")


@rule(
    "prompt.empty",
    Severity.ERROR,
    "the prompt says something",
    why="A model is asked nothing, and every answer is graded all the same.",
)
def says_something(folder: ProblemFolder, report: Report) -> None:
    """Look for a visible character; a prompt of no characters at all is refused by the schema."""
    prompt = text_at(folder, "prompt")
    if prompt and not prompt.strip():
        report("the prompt is blank", folder.where("prompt"), "describe the task as the model shall read it")


@rule(
    "prompt.template",
    Severity.ERROR,
    "the prompt holds no text of a template",
    why="The model would read what a scaffolding tool left behind.",
)
def holds_no_template(folder: ProblemFolder, report: Report) -> None:
    """Look for what only template languages and dummy texts write."""
    _find(folder, _TEMPLATE, "is left over from a template", "write what was meant to stand there", report)


@rule(
    "prompt.placeholder",
    Severity.WARNING,
    "the prompt is finished",
    why="TODO and its like mark what the author wanted to come back to. (Text that asks to fill a TODO in "
    "a context file may stay: ignore the finding, with that as the reason.)",
)
def is_finished(folder: ProblemFolder, report: Report) -> None:
    """Look for the usual marks of unfinished text."""
    _find(folder, _PLACEHOLDER, "marks unfinished text", "write what was meant to stand there", report)


@rule(
    "prompt.sample",
    Severity.WARNING,
    "the prompt is not that of the template's sample",
    why="Every corpus that scaffolds from the template has that problem already.",
)
def is_no_sample(folder: ProblemFolder, report: Report) -> None:
    """Look for the mark of sample prompts."""
    _find(
        folder,
        re.compile(re.escape(SAMPLE_MARK)),
        "is the template's sample problem",
        "write your own problem, and remove the mark",
        report,
    )


def _find(folder: ProblemFolder, pattern: re.Pattern[str], what: str, fix: str, report: Report) -> None:
    for match in pattern.finditer(text_at(folder, "prompt") or ""):
        report(f"'{match.group()}' {what}", place_in_value(folder, ("prompt",), match.start()), fix)
