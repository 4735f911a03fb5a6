"""Rules about the names a solution must use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ce_author.lint.facts import source_files, text_at, value_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import PATCH_SUFFIXES, ProblemFolder
from ce_corpus.yamltext import KeyPath
from ce_schema.diagnostics import Severity
from ce_schema.errors import CeError
from ce_schema.solution import SourceFile

_KEY = "source_references"


def _named(folder: ProblemFolder) -> Iterator[tuple[str, KeyPath, list[tuple[KeyPath, str]]]]:
    """Each list of names as (kind, its place, the names with theirs); kind is ``all`` or ``any``."""
    written = value_at(folder, _KEY)
    if isinstance(written, str):
        yield "all", (_KEY,), [((_KEY,), written)]
    elif isinstance(written, list):
        yield "all", (_KEY,), _texts(written, (_KEY,))
    elif isinstance(written, dict):
        for kind in ("all", "any"):
            if isinstance(names := written.get(kind), list):
                yield kind, (_KEY, kind), _texts(names, (_KEY, kind))


def _texts(names: list[object], path: KeyPath) -> list[tuple[KeyPath, str]]:
    return [((*path, index), name) for index, name in enumerate(names) if isinstance(name, str)]


@rule(
    "references.empty",
    Severity.ERROR,
    "source_references name something",
    why="An empty list asks for nothing to this evaluator, and for the impossible to others.",
)
def name_something(folder: ProblemFolder, report: Report) -> None:
    """Look for empty lists and blank names."""
    for _, path, names in _named(folder):
        if not names:
            report(f"{'.'.join(map(str, path))} lists no name", folder.where(*path), "write names, or null")
        for place, name in names:
            if not name.strip():
                report("a source reference is blank", folder.where(*place), "write a name, or remove it")


@rule(
    "references.unmentioned",
    Severity.WARNING,
    "what a solution must use is asked for in what the model sees",
    why="A model cannot know a requirement that prompt, context and build command do not mention; right "
    "solutions then fail for a name.",
)
def are_asked_for(folder: ProblemFolder, report: Report) -> None:
    """Look each name up in prompt, context files and build command; of ``any``, one suffices."""
    shown = "\n".join(
        [
            text_at(folder, "prompt") or "",
            text_at(folder, "build_command") or "",
            *(file.content for _, file in source_files(folder, "context")),
        ]
    )
    for kind, path, names in _named(folder):
        unseen = [(place, name) for place, name in names if name.strip() and not _mentions(shown, name)]
        if kind == "any" and unseen and len(unseen) == len(names):
            listed = ", ".join(name for _, name in names)
            report(
                f"none of {listed} is mentioned to the model", folder.where(*path), "ask for it in the prompt"
            )
        for place, name in unseen if kind == "all" else ():
            report(
                f"{name} is never mentioned to the model", folder.where(*place), "ask for it in the prompt"
            )


def _mentions(text: str, name: str) -> bool:
    """Whether the name, or the last part of a qualified one, stands in the text as a word."""
    last = re.split(r"::|\.", name.strip())[-1]
    return name in text or re.search(rf"(?<!\w){re.escape(last)}(?!\w)", text) is not None


@rule(
    "references.unsatisfied",
    Severity.ERROR,
    "the reference solution uses what solutions must use",
    why="The author's own solution would be graded as failed.",
)
def reference_satisfies(folder: ProblemFolder, report: Report) -> None:
    """Hold the reference against the references, as the evaluator does before it builds."""
    spec = folder.spec
    if spec is None or spec.source_references is None or folder.defects or not folder.solution:
        return
    from ce_eval.source_refs import check_source_references

    files = _candidate_files(folder)
    if files is None:
        return
    found = check_source_references(files, spec.source_references, spec.problem_type)
    if not found.ok:
        report(
            f"the reference solution fails: {found.message}",
            folder.where(_KEY),
            "use the names, or ask for others",
        )


def _candidate_files(folder: ProblemFolder) -> list[SourceFile] | None:
    """What the reference writes into the workspace; None for a patch that cannot be applied."""
    files = list(folder.solution)
    if not any(file.path.endswith(PATCH_SUFFIXES) for file in files):
        return files
    from ce_corpus.patches import apply_patch

    before = {file.path: file.content for file in folder.context}
    try:
        after = apply_patch(list(folder.context), files[0].content)
    except CeError:
        return None
    return [file for file in after if before.get(file.path) != file.content]
