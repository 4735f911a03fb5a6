"""Runs the rules over problems, in several processes where there are many."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ce_author.lint.registry import Report, all_checks, chosen_rules
from ce_author.lint.suppress import Suppression, apply, suppressions
from ce_corpus.folder import ProblemFolder, load_folder
from ce_schema.diagnostics import Diagnostic

# Below this, starting processes costs more than it saves.
_WORTH_A_POOL = 50
_CHUNK = 8


@dataclass(frozen=True, slots=True)
class Checked:
    """One problem after its own rules ran: what they found, and what its comments ignore."""

    folder: ProblemFolder
    findings: list[Diagnostic]
    suppressions: list[Suppression]


def lint_folders(
    folders: Iterable[ProblemFolder],
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
) -> list[Diagnostic]:
    """The findings of the chosen rules in loaded problems, sorted by place.

    Args:
        folders: the problems; rules about several problems see exactly these.
        select: rules or areas of rules to run; all where None or empty.
        ignore: rules or areas not to run.

    Raises:
        InputError: a name in ``select`` or ``ignore`` is no rule.
    """
    ran = chosen_rules(select, ignore)
    return _conclude([check_folder(folder, ran) for folder in folders], ran)


def lint_paths(
    paths: Sequence[tuple[Path, str]],
    select: Sequence[str] | None = None,
    ignore: Sequence[str] | None = None,
    *,
    processes: int | None = None,
) -> list[Diagnostic]:
    """Load problem folders, given with the labels that name them in messages, and lint them.

    ``processes`` is the number of CPUs of this process where None. The rest is as in `lint_folders`.
    """
    ran = chosen_rules(select, ignore)
    processes = processes or max(2, len(os.sched_getaffinity(0)))
    if len(paths) <= _WORTH_A_POOL or processes == 1:
        return _conclude([_check_path(path, label, ran) for path, label in paths], ran)
    return _conclude(_check_in_pool(paths, ran, processes), ran)


def check_folder(folder: ProblemFolder, ran: frozenset[str]) -> Checked:
    """Run the rules about single problems."""
    findings: list[Diagnostic] = []
    for check in all_checks():
        if check.folder and any(rule.id in ran for rule in check.rules):
            report = Report(check.rules)
            check.folder(folder, report)
            findings += report.items
    return Checked(folder, [item for item in findings if item.rule in ran], suppressions(folder))


def _conclude(checked: Sequence[Checked], ran: frozenset[str]) -> list[Diagnostic]:
    """Add what only all problems together show, and take away what comments ignore."""
    shared = _check_corpus([item.folder for item in checked], ran)
    found: list[Diagnostic] = []
    for item in checked:
        label = item.folder.label
        own = [*item.findings, *(other for other in shared if _lies_in(other.location.path, label))]
        found += apply(item.folder, item.suppressions, own, ran)
    return sorted(set(found), key=lambda finding: (finding.location, finding.rule, finding.message))


def _lies_in(path: str, label: str) -> bool:
    return path == label or path.startswith(f"{label}/")


def _check_corpus(folders: Sequence[ProblemFolder], ran: frozenset[str]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for check in all_checks():
        if check.corpus and any(rule.id in ran for rule in check.rules):
            report = Report(check.rules)
            check.corpus(folders, report)
            found += report.items
    return found


def _check_path(path: Path, label: str, ran: frozenset[str]) -> Checked:
    return check_folder(load_folder(path, label), ran)


def _check_in_pool(paths: Sequence[tuple[Path, str]], ran: frozenset[str], processes: int) -> list[Checked]:
    from multiprocessing import get_context

    # The first problem here: forked workers then find every module and validator loaded.
    (path, label), *others = paths
    first = _check_path(path, label, ran)
    with get_context("fork").Pool(processes) as pool:
        return [first, *pool.starmap(_check_for_parent, [(*other, ran) for other in others], _CHUNK)]


def _check_for_parent(path: Path, label: str, ran: frozenset[str]) -> Checked:
    checked = _check_path(path, label, ran)
    # What the folder has worked out on the way is dear to send and not asked for again.
    return replace(checked, folder=replace(checked.folder))
