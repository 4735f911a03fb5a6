"""Findings about text: where, how bad, what, and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from ce_schema.errors import CeError, InputError


class Severity(StrEnum):
    """How bad a finding is. Only errors fail a command by default."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


@dataclass(frozen=True, slots=True, order=True)
class Location:
    """A place in a file; ``line`` and ``column`` count from 1, 0 means the file as a whole."""

    path: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.path
        return f"{self.path}:{self.line}:{self.column or 1}"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding of one rule."""

    rule: str
    severity: Severity
    message: str
    location: Location
    fix: str | None = None

    def __str__(self) -> str:
        remedy = f"\n    fix: {self.fix}" if self.fix else ""
        return f"{self.location}: {self.severity}[{self.rule}] {self.message}{remedy}"

    def as_error(self, kind: type[CeError] = InputError) -> CeError:
        """The finding as an exception, for a command that cannot go on."""
        return kind(self.message, where=str(self.location), fix=self.fix)

    def as_dict(self) -> dict[str, object]:
        """The finding as plain data, for ``--json``."""
        return {
            "rule": self.rule,
            "severity": str(self.severity),
            "message": self.message,
            "path": self.location.path,
            "line": self.location.line,
            "column": self.location.column,
            "fix": self.fix,
        }


@dataclass(slots=True)
class Diagnostics:
    """Collects findings; checks get it handed in and only ever add to it."""

    items: list[Diagnostic] = field(default_factory=list)

    def error(self, rule: str, message: str, location: Location, fix: str | None = None) -> None:
        """Add an error."""
        self.items.append(Diagnostic(rule, Severity.ERROR, message, location, fix))

    def warning(self, rule: str, message: str, location: Location, fix: str | None = None) -> None:
        """Add a warning."""
        self.items.append(Diagnostic(rule, Severity.WARNING, message, location, fix))

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that are errors."""
        return [item for item in self.items if item.severity is Severity.ERROR]
