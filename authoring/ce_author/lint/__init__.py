"""Lint: what can be told about problems from their text alone."""

from __future__ import annotations

from ce_author.lint.engine import lint_folders, lint_paths
from ce_author.lint.registry import Report, Rule, all_rules, corpus_rule, rule

__all__ = ["Report", "Rule", "all_rules", "corpus_rule", "lint_folders", "lint_paths", "rule"]
