"""The registry of lint rules: what each is called, how bad its findings are, and what runs it.

One rule is one function, decorated where it stands::

    @rule("files.missing-solution", Severity.ERROR, "there is a reference solution", why="…")
    def missing_solution(folder: ProblemFolder, report: Report) -> None:
        if not folder.solution:
            report("has no reference solution", Location(folder.label), "write solution/…")

A rule that needs to see all problems at once is decorated with ``corpus_rule`` and gets them all. Its
module must stand in ``RULE_MODULES``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module

from ce_corpus.folder import ProblemFolder
from ce_schema.diagnostics import Diagnostic, Location, Severity
from ce_schema.errors import InputError, did_you_mean

RULE_MODULES = (
    "ce_author.lint.rules.loading",
    "ce_author.lint.rules.schema",
    "ce_author.lint.rules.identity",
    "ce_author.lint.rules.files",
    "ce_author.lint.rules.prompt",
    "ce_author.lint.rules.commands",
    "ce_author.lint.rules.references",
    "ce_author.lint.rules.timing",
    "ce_author.lint.rules.limits",
    "ce_author.lint.rules.membership",
    "ce_author.lint.rules.harness",
    "ce_author.lint.rules.suppressions",
)


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule as users meet it.

    ``id`` is ``area.name``; ``summary`` says what holds where the rule finds nothing; ``why`` what
    goes wrong otherwise. A finding that keeps the problem from being read cannot be ignored.
    """

    id: str
    severity: Severity
    summary: str
    why: str
    can_be_ignored: bool = True


@dataclass(slots=True)
class Report:
    """Takes the findings of the rules that one function runs; call it with each."""

    rules: tuple[Rule, ...]
    items: list[Diagnostic] = field(default_factory=list)

    def __call__(
        self, message: str, location: Location, fix: str | None = None, *, rule: str | None = None
    ) -> None:
        """Add a finding of ``rule``, which only functions with several rules need to name."""
        found = self.rules[0] if rule is None else next(item for item in self.rules if item.id == rule)
        self.items.append(Diagnostic(found.id, found.severity, message, location, fix))


type FolderCheck = Callable[[ProblemFolder, Report], None]
type CorpusCheck = Callable[[Sequence[ProblemFolder], Report], None]


@dataclass(frozen=True, slots=True)
class Check:
    """A function, the rules whose findings it reports, and the module it stands in.

    At most one of the two functions is there.
    """

    rules: tuple[Rule, ...]
    module: str
    folder: FolderCheck | None = None
    corpus: CorpusCheck | None = None


_CHECKS: list[Check] = []


def rule(rule_id: str, severity: Severity, summary: str, *, why: str) -> Callable[[FolderCheck], FolderCheck]:
    """Register a function that checks one problem."""
    return rules(Rule(rule_id, severity, summary, why))


def rules(*together: Rule) -> Callable[[FolderCheck], FolderCheck]:
    """Register a function that checks several rules in one pass, each named in its reports."""

    def register(function: FolderCheck) -> FolderCheck:
        _CHECKS.append(Check(together, function.__module__, folder=function))
        return function

    return register


def corpus_rule(
    rule_id: str, severity: Severity, summary: str, *, why: str
) -> Callable[[CorpusCheck], CorpusCheck]:
    """Register a function that checks all problems together."""

    def register(function: CorpusCheck) -> CorpusCheck:
        _CHECKS.append(Check((Rule(rule_id, severity, summary, why),), function.__module__, corpus=function))
        return function

    return register


def declare(module: str, *declared: Rule) -> None:
    """Register rules of ``module`` whose findings are made elsewhere (by the engine)."""
    _CHECKS.append(Check(declared, module))


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, in the order of ``RULE_MODULES``, whichever of them was imported first."""
    for module in RULE_MODULES:
        import_module(module)
    return tuple(sorted(_CHECKS, key=lambda check: RULE_MODULES.index(check.module)))


@cache
def all_rules() -> dict[str, Rule]:
    """Every rule by id, in the order of the modules."""
    return {item.id: item for check in all_checks() for item in check.rules}


def find_rule(name: str) -> Rule:
    """The rule with that id.

    Raises:
        InputError: there is none; near names are suggested.
    """
    known = all_rules()
    if name not in known:
        raise InputError(
            f"no rule is called '{name}'.{did_you_mean(name, [*known])}",
            fix="ce-author lint --list-rules shows all",
        )
    return known[name]


def chosen_rules(select: Iterable[str] | None, ignore: Iterable[str] | None) -> frozenset[str]:
    """Ids of the rules to run; each name is a rule or an area (the part before the dot).

    Raises:
        InputError: a name is neither; near names are suggested.
    """
    chosen = _named(select) if select else frozenset(all_rules())
    return chosen - _named(ignore or ())


def _named(names: Iterable[str]) -> frozenset[str]:
    areas: dict[str, set[str]] = {}
    for rule_id in all_rules():
        areas.setdefault(rule_id.partition(".")[0], set()).add(rule_id)
    found: set[str] = set()
    for name in names:
        if name in areas:
            found |= areas[name]
        else:
            known = [*all_rules(), *areas]
            if name not in known:
                raise InputError(
                    f"'{name}' is neither a rule nor an area of rules.{did_you_mean(name, known)}",
                    fix="ce-author lint --list-rules shows all",
                )
            found.add(name)
    return frozenset(found)
