"""Rules about the releases a problem is in."""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

from ce_author.lint.facts import texts_at, value_at
from ce_author.lint.registry import Report, rule
from ce_corpus.folder import ProblemFolder
from ce_corpus.root import find_corpus
from ce_corpus.yamledit import release_key
from ce_schema.diagnostics import Severity
from ce_schema.errors import InputError


@rule(
    "membership.duplicate",
    Severity.ERROR,
    "no release is listed twice",
    why="Adding and removing a release would each do half of the work.",
)
def releases_are_listed_once(folder: ProblemFolder, report: Report) -> None:
    """Look for repeated names."""
    seen: set[str] = set()
    for index, release in texts_at(folder, "metadata", "releases"):
        if release in seen:
            place = folder.where("metadata", "releases", index)
            report(f"{release} is listed twice", place, "remove one of the two")
        seen.add(release)


@rule(
    "membership.order",
    Severity.WARNING,
    "releases are listed in their order",
    why="The list goes into the pack as it stands, and a line that only changed order has another hash.",
)
def releases_are_in_order(folder: ProblemFolder, report: Report) -> None:
    """Compare neighbours."""
    listed = texts_at(folder, "metadata", "releases")
    for (_, earlier), (index, later) in pairwise(listed):
        if release_key(later) < release_key(earlier):
            place = folder.where("metadata", "releases", index)
            report(f"{later} comes after {earlier}", place, "list the oldest first")


@rule(
    "membership.withheld",
    Severity.WARNING,
    "a problem that is withheld is in no release",
    why="do_not_release wins when a release is cut, so the listed one would lack the problem.",
)
def withheld_means_no_release(folder: ProblemFolder, report: Report) -> None:
    """Look for both keys; ``internal`` is no public release."""
    public = [name for _, name in texts_at(folder, "metadata", "releases") if name != "internal"]
    if value_at(folder, "metadata", "do_not_release") is True and public:
        place = folder.where("metadata", "do_not_release")
        report(f"is withheld, and listed in {', '.join(public)}", place, "remove the one that is not meant")


@rule(
    "membership.canary",
    Severity.WARNING,
    "the problem carries the canary of its corpus",
    why="A canary string lets those who train models find and leave out what must stay unseen.",
)
def carries_canary(folder: ProblemFolder, report: Report) -> None:
    """Compare metadata.canary with that of corpus.yaml, where the corpus has one."""
    canary = _canary_of_corpus(folder.path.absolute().parent)
    if canary is None or folder.document is None:
        return
    written = value_at(folder, "metadata", "canary")
    if written is None:
        place = folder.document.where_key("metadata")
        report("metadata has no canary", place, f'write canary: "{canary}" there')
    elif written != canary:
        place = folder.where("metadata", "canary")
        report("the canary is not that of corpus.yaml", place, f'write "{canary}"')


@cache
def _canary_of_corpus(parent: Path) -> str | None:
    try:
        corpus = find_corpus(start=parent)
    except InputError:
        return None
    # A corpus beside a folder that is outside of it has no say there.
    return corpus.config.canary if parent.is_relative_to(corpus.root) else None
