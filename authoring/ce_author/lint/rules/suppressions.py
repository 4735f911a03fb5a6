"""Rules about the comments that ask for findings to be ignored; the engine makes their findings."""

from __future__ import annotations

from ce_author.lint.registry import Rule, declare
from ce_author.lint.suppress import BAD_RULE, NO_REASON, UNUSED
from ce_schema.diagnostics import Severity

declare(
    __name__,
    Rule(
        NO_REASON,
        Severity.WARNING,
        "a ce-lint comment says why it is there",
        "An exception whose reason nobody knows is never taken back.",
    ),
    Rule(
        BAD_RULE,
        Severity.WARNING,
        "a ce-lint comment names rules that can be ignored",
        "A misspelled name ignores nothing, and nobody notices.",
    ),
    Rule(
        UNUSED,
        Severity.WARNING,
        "a ce-lint comment ignores something",
        "Left standing, it hides the next finding there, which nobody has judged.",
    ),
)
