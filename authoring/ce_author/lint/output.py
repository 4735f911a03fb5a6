"""Findings as text for people, as JSON, and as SARIF 2.1.0 for code-review tools."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from ce_author.lint.registry import Rule, all_rules
from ce_schema.diagnostics import Diagnostic, Severity
from ce_schema.version import __version__

_COLOURS = {Severity.ERROR: "red", Severity.WARNING: "yellow", Severity.INFO: "cyan"}
_SARIF_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_WIDTH = 100


def as_text(findings: Sequence[Diagnostic], problems: int) -> str:
    """Findings grouped by file, each with its line and a caret below it, and a line that sums up."""
    parts: list[str] = []
    for path, group in groupby(findings, key=lambda finding: finding.location.path):
        parts.append(click.style(path, bold=True))
        parts += [_entry(finding) for finding in group]
        parts.append("")
    parts.append(summary(findings, problems))
    return "\n".join(parts)


def summary(findings: Sequence[Diagnostic], problems: int) -> str:
    """``N problems, E errors, W warnings``, and notes where there are any."""
    counts = Counter(finding.severity for finding in findings)
    words = [
        _plural(problems, "problem"),
        _plural(counts[Severity.ERROR], "error"),
        _plural(counts[Severity.WARNING], "warning"),
    ]
    if counts[Severity.INFO]:
        words.append(_plural(counts[Severity.INFO], "note"))
    return ", ".join(words)


def statistics(findings: Sequence[Diagnostic]) -> list[tuple[str, str, int]]:
    """Rule, severity and number of findings, the most frequent first."""
    counts = Counter((finding.rule, str(finding.severity)) for finding in findings)
    return [(rule, severity, number) for (rule, severity), number in counts.most_common()]


def _plural(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _entry(finding: Diagnostic) -> str:
    place = finding.location
    spot = f"{place.line}:{place.column or 1}  " if place.line else ""
    severity = click.style(str(finding.severity), fg=_COLOURS[finding.severity])
    lines = [f"  {spot}{severity}  {finding.message}  [{finding.rule}]"]
    if place.line and (shown := _shown_line(place.path, place.line, place.column or 1)):
        lines += [f"      {line}" for line in shown]
    if finding.fix:
        lines.append(f"      fix: {finding.fix}")
    return "\n".join(lines)


def _shown_line(path: str, line: int, column: int) -> list[str]:
    """The line and its caret, cut to a window around the column and safe for a terminal."""
    lines = _lines(path)
    if not 0 < line <= len(lines):
        return []
    text = "".join(char if char.isprintable() else " " if char == "\t" else "�" for char in lines[line - 1])
    if not text.strip():
        return []
    start = max(0, column - 1 - _WIDTH // 2) if len(text) > _WIDTH else 0
    window = text[start : start + _WIDTH]
    lead = "…" if start else ""
    tail = "…" if start + _WIDTH < len(text) else ""
    return [f"{lead}{window}{tail}", f"{' ' * (len(lead) + column - 1 - start)}^"]


@lru_cache(maxsize=8)
def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_bytes().decode(errors="replace").split("\n")
    except OSError:
        return []


def as_data(findings: Sequence[Diagnostic], problems: int) -> dict[str, Any]:
    """The findings and their numbers as plain data."""
    counts = Counter(finding.severity for finding in findings)
    return {
        "problems": problems,
        "errors": counts[Severity.ERROR],
        "warnings": counts[Severity.WARNING],
        "notes": counts[Severity.INFO],
        "findings": [finding.as_dict() for finding in findings],
    }


def as_sarif(findings: Sequence[Diagnostic]) -> dict[str, Any]:
    """A SARIF 2.1.0 log; paths are relative to the working folder."""
    rules = list(all_rules().values())
    index = {rule.id: number for number, rule in enumerate(rules)}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "ce-author lint",
                        "semanticVersion": __version__,
                        "rules": [_sarif_rule(rule) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_sarif_result(finding, index[finding.rule]) for finding in findings],
            }
        ],
    }


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": _SARIF_LEVELS[rule.severity]},
    }


def _sarif_result(finding: Diagnostic, rule_index: int) -> dict[str, Any]:
    place = finding.location
    physical: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.path)}}
    if place.line:
        physical["region"] = {"startLine": place.line, "startColumn": place.column or 1}
    remedy = f" Fix: {finding.fix}." if finding.fix else ""
    return {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": f"{finding.message}{remedy}"},
        "locations": [{"physicalLocation": physical}],
    }


def _uri(path: str) -> str:
    return Path(path).as_uri() if path.startswith("/") else quote(path)
