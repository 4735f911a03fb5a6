"""Freezing a release: decide what it holds, write its pack, then the manifest that seals it.

The pack comes first and the manifest last, each whole or not at all, so an interruption at any moment
leaves either nothing or a pack without a manifest; cutting again completes that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from ce_corpus.history import CorpusRepository, Head, Uncommitted, open_repository, require_repository
from ce_corpus.manifests import (
    Manifest,
    PackRecord,
    Revision,
    TaskRecord,
    manifest_path,
    read_manifest,
    released,
    write_manifest,
)
from ce_corpus.root import Corpus, ReleasePolicy
from ce_release.candidates import Candidate, proof_lacks, reading
from ce_release.certified import certified_on
from ce_release.names import pack_file
from ce_release.packing import write_pack
from ce_release.packs import PackedTask, load_pack, tar_sha256
from ce_release.policy import Lack
from ce_release.revise import membership_lacks, reason_lacks, revised_lines
from ce_schema.errors import FindingsError, InputError
from ce_schema.groups import groups
from ce_schema.version import __version__

# So many paths of a dirty tree are named one by one.
_MOST_PATHS = 50


@dataclass(frozen=True, slots=True)
class Order:
    """What to cut and where to; ``previous`` is the pack of the last revision, for a revision."""

    release: str
    output_dir: Path
    description: str | None = None
    draft: bool = False
    revision: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    previous: Path | None = None


@dataclass(frozen=True, slots=True)
class CutResult:
    """What was cut, or what forbids it: with ``lacks`` nothing was written.

    ``left_out`` are the tasks of the release that are ``do_not_release``; ``newer`` is a release that was
    cut before though its name is a later one.
    """

    release: str
    revision: int = 1
    draft: bool = False
    lacks: Sequence[Lack] = ()
    pack: Path | None = None
    sha256: str | None = None
    tar_sha256: str | None = None
    manifest: Path | None = None
    groups: Mapping[str, int] = field(default_factory=dict)
    changed: Sequence[str] = ()
    left_out: Sequence[str] = ()
    newer: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """The lines of a release in order, which of them a revision changes, and what forbids to cut it."""

    lines: dict[str, bytes]
    changed: list[str]
    lacks: list[Lack]


def cut_release(corpus: Corpus, order: Order) -> CutResult:
    """Cut a release or, with ``order.revision``, a revision of one.

    Raises:
        FindingsError: the release exists, has no problems, or the revision would change nothing.
        InputError: a file that is needed is not there, or one cannot be written.
    """
    before = _manifest_before(corpus, order)
    previous = _previous_pack(before, order) if before else None
    with reading(corpus, order.release) as candidates:
        repository = require_repository(corpus)
        head, uncommitted = repository.head(), repository.uncommitted()
        if before is None:
            _refuse_lost_manifest(repository, corpus, order.release)
        found = candidates()
    chosen, left_out = _chosen(order.release, found)
    if before is None or previous is None:
        decision = decide_release(chosen, corpus.config.policy)
    else:
        decision = decide_revision(chosen, left_out, before, previous, order.reasons, corpus.config.policy)
    result = CutResult(
        order.release,
        revision=before.latest.revision + 1 if before else 1,
        lacks=[*_dirty_lacks(uncommitted), *_twin_lacks(found), *decision.lacks],
        changed=decision.changed,
        left_out=left_out,
    )
    if result.lacks:
        return result
    if before and not decision.changed:
        raise FindingsError(
            f"nothing changed since revision {before.latest.revision} of {order.release}",
            fix="a revision corrects at least one problem",
        )
    return _freeze(corpus, order, before, head, chosen, decision, result)


def cut_draft(corpus: Corpus, order: Order) -> CutResult:
    """Write the pack that a release would be as the tree stands now: no proof, no manifest.

    Raises:
        FindingsError: no problem is in the release.
        InputError: the pack cannot be written.
    """
    with reading(corpus, order.release) as candidates:
        created_at, state = _draft_origin(open_repository(corpus))
        found = candidates()
    chosen, left_out = _chosen(order.release, found)
    broken = [lack for item in chosen.values() if item.line is None for lack in item.defects]
    result = CutResult(order.release, draft=True, lacks=[*_twin_lacks(found), *broken], left_out=left_out)
    if result.lacks:
        return result
    mark = f"DRAFT of {order.release}, not a release: {state}, certificates not checked."
    path = order.output_dir / pack_file(order.release, draft=True)
    pack = write_pack(
        path,
        [item.line for item in chosen.values() if item.line is not None],
        release=order.release,
        created_at=created_at,
        description=f"{mark} {order.description}" if order.description else mark,
        extra={"draft": True},
        overwrite=True,
    )
    return replace(
        result,
        pack=path,
        sha256=pack.sha256,
        tar_sha256=pack.tar_sha256,
        groups=_group_counts(chosen.values()),
    )


def decide_release(chosen: Mapping[str, Candidate], policy: ReleasePolicy) -> Decision:
    """What a new release holds, and what its problems lack."""
    lines = {task_id: item.line for task_id, item in chosen.items() if item.line is not None}
    lacks = [lack for item in chosen.values() for lack in proof_lacks(item, policy)]
    return Decision(lines, [], lacks)


def decide_revision(
    chosen: Mapping[str, Candidate],
    left_out: Sequence[str],
    before: Manifest,
    previous: Mapping[str, PackedTask],
    reasons: Mapping[str, str],
    policy: ReleasePolicy,
) -> Decision:
    """What a revision holds, and what forbids it.

    A changed problem has to prove what ``policy`` asks; an unchanged one what was asked when its line was
    released, so that a policy that grew stricter does not stand in the way of a correction.
    """
    revised = revised_lines(previous, chosen)
    lacks = membership_lacks(previous, chosen, left_out)
    lacks += reason_lacks(revised.changed, reasons)
    for task_id, item in chosen.items():
        kept = task_id in previous and task_id not in revised.changed
        asked = ReleasePolicy.model_validate(before.origin(task_id).policy) if kept else policy
        lacks += proof_lacks(item, asked)
    return Decision(revised.lines, revised.changed, lacks)


def _manifest_before(corpus: Corpus, order: Order) -> Manifest | None:
    manifest = read_manifest(corpus.manifests, order.release)
    if manifest is not None and not order.revision:
        raise FindingsError(
            f"release {order.release} exists (revision {manifest.latest.revision},"
            f" {len(manifest.latest.tasks)} problems)",
            where=str(corpus.manifests / f"{order.release}.json"),
            fix="correct defects with --revision --reason TASK=TEXT; new problems go into the next release",
        )
    if manifest is None and order.revision:
        raise InputError(
            f"release {order.release} was never cut, so there is nothing to revise",
            fix="leave --revision out",
        )
    return manifest


def _refuse_lost_manifest(repository: CorpusRepository, corpus: Corpus, release: str) -> None:
    """A release stays cut though its manifest was deleted, or lies on another branch only."""
    path = manifest_path(corpus.manifests, release)
    if commit := repository.last_commit_with(path):
        raise FindingsError(
            f"release {release} was cut before: commit {commit[:12]} knows its manifest",
            where=str(path),
            fix="bring the manifest back from git",
        )


def _previous_pack(before: Manifest, order: Order) -> dict[str, PackedTask]:
    latest = before.latest
    path = order.previous or order.output_dir / latest.pack.file
    if not path.is_file():
        raise InputError(
            f"the pack of revision {latest.revision} is not there, and unchanged problems keep its bytes",
            where=str(path),
            fix=f"pass it with --previous PACK; it was written as {latest.pack.file}",
        )
    if tar_sha256(path) != latest.pack.tar_sha256:
        raise InputError(
            f"is not the pack that the manifest froze as revision {latest.revision} of {before.release}",
            where=str(path),
            fix=f"find the archive whose SHA-256 is {latest.pack.sha256}",
        )
    return load_pack(path).tasks


def _chosen(release: str, found: Sequence[Candidate]) -> tuple[dict[str, Candidate], list[str]]:
    """The candidates that are released, by task, and the ids of those that are not."""
    chosen = {item.task_id: item for item in found if not item.do_not_release}
    left_out = [item.task_id for item in found if item.do_not_release]
    if not chosen:
        held = f" (do_not_release: {', '.join(left_out)})" if left_out else ""
        raise FindingsError(
            f"no problem is in release {release}{held}",
            fix=f"choose some: ce-release plan {release} TASK|GROUP...",
        )
    return chosen, left_out


def _dirty_lacks(uncommitted: Sequence[Uncommitted]) -> list[Lack]:
    lacks = [
        Lack("", "dirty-tree", f"{item.path}: {item.how}", "commit it, or take it back")
        for item in uncommitted[:_MOST_PATHS]
    ]
    if more := len(uncommitted) - len(lacks):
        lacks.append(Lack("", "dirty-tree", f"and {more} more paths", "see git status"))
    return lacks


def _twin_lacks(found: Sequence[Candidate]) -> list[Lack]:
    count = Counter(item.task_id for item in found)
    return [
        Lack(item.task_id, "duplicate", f"{item.label}: another folder holds this task too", "keep one")
        for item in found
        if count[item.task_id] > 1
    ]


def _draft_origin(repository: CorpusRepository | None) -> tuple[str, str]:
    """When the draft's content was made, and what it is: a commit where the tree is one, else now."""
    if repository is not None and not repository.uncommitted():
        head = repository.head()
        return head.created_at, f"commit {head.commit[:12]}"
    return datetime.now(UTC).replace(microsecond=0).isoformat(), "uncommitted work"


def _freeze(
    corpus: Corpus,
    order: Order,
    before: Manifest | None,
    head: Head,
    chosen: Mapping[str, Candidate],
    decision: Decision,
    result: CutResult,
) -> CutResult:
    path = order.output_dir / pack_file(order.release, result.revision)
    pack = write_pack(
        path,
        list(decision.lines.values()),
        release=order.release,
        created_at=head.created_at,
        description=order.description,
        extra={"revision": result.revision, "commit": head.commit},
    )
    revision = Revision(
        revision=result.revision,
        created_at=head.created_at,
        commit=head.commit,
        toolkit_version=__version__,
        description=order.description,
        pack=PackRecord(file=path.name, sha256=pack.sha256, tar_sha256=pack.tar_sha256),
        policy=corpus.config.policy.model_dump(mode="json"),
        certified_on=certified_on(chosen.values()),
        groups=_group_counts(chosen.values()),
        tasks={task_id: _record(chosen[task_id], pack.md5[task_id]) for task_id in decision.lines},
        reasons={task_id: order.reasons[task_id] for task_id in decision.changed},
    )
    revisions = (*(before.revisions if before else ()), revision)
    manifest = write_manifest(corpus.manifests, Manifest(release=order.release, revisions=revisions))
    newest = released(corpus.manifests)[-1]
    return replace(
        result,
        pack=path,
        sha256=pack.sha256,
        tar_sha256=pack.tar_sha256,
        manifest=manifest,
        groups=revision.groups,
        newer=newest if before is None and newest != order.release else None,
    )


def _record(candidate: Candidate, md5: str) -> TaskRecord:
    assert candidate.behaviour_sha256 is not None, "a problem without a line is a defect"
    return TaskRecord(md5=md5, behaviour_sha256=candidate.behaviour_sha256)


def _group_counts(chosen: Iterable[Candidate]) -> dict[str, int]:
    count = Counter(item.group for item in chosen)
    return {name: count[name] for name in groups() if name in count}
