"""Comments that ask for findings to be ignored, where they stand::

    date: "2031-01-01"  # ce-lint: ignore=identity.date-future announced for then
    // ce-lint: ignore=references.unmentioned the name stands in the linked guide
    # ce-lint: ignore-file=timing the benchmark is still being written

``ignore`` is for its own line, or for the next line with code when it stands alone; ``ignore-file``
for the whole file, and in the spec also for findings about the folder. A reason must follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ce_author.lint.facts import source_files
from ce_author.lint.registry import Rule, all_rules
from ce_corpus.folder import ProblemFolder
from ce_corpus.textfile import text_place
from ce_schema.diagnostics import Diagnostic, Location
from ce_schema.errors import did_you_mean

_MARK = "ce-lint:"
_COMMENT = re.compile(r"(?P<lead>[#]|//|/\*)[ \t]*ce-lint:[ \t]*(?P<rest>[^\n]*)")
_FORM = re.compile(r"(?P<kind>ignore|ignore-file)=(?P<names>[\w.,-]+)(?:[ \t]+(?P<reason>.*))?\Z")


@dataclass(frozen=True, slots=True)
class Suppression:
    """One comment; ``line`` is the line it covers, 0 the whole file."""

    location: Location
    line: int
    names: tuple[str, ...]
    reason: str
    malformed: bool = False

    def covers(self, finding: Diagnostic, spec_label: str, folder_label: str) -> bool:
        """Whether the comment asks to ignore ``finding``."""
        if not any(_means(name, finding.rule) for name in self.names):
            return False
        if self.line:
            return finding.location.path == self.location.path and finding.location.line == self.line
        about_folder = self.location.path == spec_label and finding.location.path == folder_label
        return finding.location.path == self.location.path or about_folder


def suppressions(folder: ProblemFolder) -> list[Suppression]:
    """Every such comment in the spec and the sources of a problem."""
    return [
        suppression
        for label, text in _texts(folder)
        if _MARK in text
        for suppression in _in_text(text, label)
    ]


def _texts(folder: ProblemFolder) -> Iterator[tuple[str, str]]:
    if folder.document is not None:
        yield folder.spec_label, folder.document.text
    for label, file in source_files(folder):
        yield label, file.content


def _in_text(text: str, label: str) -> Iterator[Suppression]:
    for match in _COMMENT.finditer(text):
        place = text_place(text, match.start(), label)
        form = _FORM.match(match["rest"].removesuffix("*/").strip())
        if form is None:
            yield Suppression(place, 0, (), "", malformed=True)
            continue
        names = tuple(name for name in form["names"].split(",") if name)
        line = 0 if form["kind"] == "ignore-file" else _covered_line(text, match.start(), place.line)
        yield Suppression(place, line, names, (form["reason"] or "").strip())


def _covered_line(text: str, offset: int, line: int) -> int:
    """The comment's own line, or the next one that is more than a comment when it stands alone."""
    start = text.rfind("\n", 0, offset) + 1
    if text[start:offset].strip():
        return line
    for number, content in enumerate(text.split("\n")[line:], line + 1):
        if not content.lstrip().startswith(("#", "//", "/*")):
            return number
    return line


# What the engine finds about the comments themselves.
NO_REASON, BAD_RULE, UNUSED = "suppress.no-reason", "suppress.bad-rule", "suppress.unused"


def apply(
    folder: ProblemFolder, found: list[Suppression], findings: Iterable[Diagnostic], ran: frozenset[str]
) -> list[Diagnostic]:
    """``findings`` without the ignored ones, and with what is wrong with the comments themselves."""
    rules = all_rules()
    kept: list[Diagnostic] = []
    used: set[Suppression] = set()
    for finding in findings:
        covering = [item for item in found if item.covers(finding, folder.spec_label, folder.label)]
        if covering and rules[finding.rule].can_be_ignored:
            used.update(covering)
        else:
            kept.append(finding)
    for item in found:
        kept += _about(item, item in used, rules, ran)
    return kept


def _about(item: Suppression, used: bool, rules: dict[str, Rule], ran: frozenset[str]) -> list[Diagnostic]:
    found: list[Diagnostic] = []

    def report(rule_id: str, message: str, fix: str) -> None:
        if rule_id in ran:
            found.append(Diagnostic(rule_id, rules[rule_id].severity, message, item.location, fix))

    if item.malformed:
        report(BAD_RULE, "is no ce-lint comment that means anything", "write ce-lint: ignore=RULE REASON")
        return found
    if not item.reason:
        report(NO_REASON, "gives no reason for ignoring a finding", "say why, after the rule's name")
    areas = {rule_id.partition(".")[0] for rule_id in rules}
    for name in item.names:
        if name not in rules and name not in areas:
            near = did_you_mean(name, [*rules, *areas])
            report(
                BAD_RULE, f"names no rule: '{name}'.{near}", "ce-author lint --list-rules shows their names"
            )
        elif name in rules and not rules[name].can_be_ignored:
            report(BAD_RULE, f"{name} cannot be ignored: the problem cannot be read", "mend what it found")
    named = {rule_id for rule_id in rules for name in item.names if _means(name, rule_id)}
    if not used and named and named <= ran:
        report(UNUSED, f"ignores {', '.join(item.names)}, and nothing is found there", "take the comment out")
    return found


def _means(name: str, rule_id: str) -> bool:
    return rule_id == name or rule_id.startswith(f"{name}.")
