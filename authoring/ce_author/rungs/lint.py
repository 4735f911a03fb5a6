"""Rung lint: is the spec well formed, and do its parts agree?"""

from __future__ import annotations

from ce_author.rungs.base import Climb, failed, passed
from ce_schema.certificate import Rung, RungResult
from ce_schema.diagnostics import Severity


def climb_lint(climb: Climb) -> RungResult:
    """Passed when no rule finds an error; warnings are counted."""
    from ce_author.lint import lint_folders

    findings = lint_folders([climb.folder])
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    warnings = sum(finding.severity is Severity.WARNING for finding in findings)
    if errors:
        listed = "\n".join(str(finding) for finding in errors)
        return failed(Rung.LINT, listed, errors=len(errors), warnings=warnings)
    return passed(Rung.LINT, errors=0, warnings=warnings)
