"""What is wrong with a pack: in itself, by its name, and against the manifest that froze it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ce_corpus.manifests import Manifest, Revision, natural_sorted
from ce_release.names import parse_pack_file, shown
from ce_release.packs import file_sha256, line_behaviour, line_reference, tar_sha256
from ce_schema.datapack import ProblemPack, open_pack, verify_pack
from ce_schema.diagnostics import Diagnostic, Diagnostics, Location, Severity
from ce_schema.groups import groups
from ce_schema.lines import line_md5
from ce_schema.packlines import LINES_FILE, ProblemPackMetadata, Record
from ce_schema.paths import path_defect
from ce_schema.problem import Problem
from ce_schema.solution import FileSolution
from ce_schema.soundness import path_clashes, setting_defects

# A pack of strangers may have a finding on each of its lines.
MAX_FINDINGS = 1000


def verify_release_pack(path: Path, manifest: Manifest | None) -> list[Diagnostic]:
    """Every finding about a pack; without a manifest, those that need none.

    Findings of the archive and its lines have rules ``pack…`` (see `ce_schema.datapack.verify_pack`);
    then ``release-name``, ``draft``, ``membership``, ``group``, ``settings``, ``files``, and ``manifest``.
    """
    findings = verify_pack(path)
    if any(item.rule == "pack" for item in findings):
        return findings  # the archive itself is damaged: nothing further can be read with trust
    diag = Diagnostics(findings)
    with open_pack(path, verify=False) as pack:
        if isinstance(pack, ProblemPack):
            _check_name(path, pack.metadata, diag)
            frozen: dict[str, tuple[str, str]] = {}
            for record in pack.records(lambda _: None, None):
                if len(diag.items) >= MAX_FINDINGS:
                    break
                place = Location(f"{path}!{LINES_FILE['problems']}", record.line_number)
                _check_problem(record.item, pack.metadata.release, place, diag)
                frozen[record.item.task_id] = _identity(record)
            if manifest is not None:
                check_manifest(path, pack.metadata, frozen, manifest, diag)
    return diag.items[:MAX_FINDINGS]


def revision_of(metadata: ProblemPackMetadata, manifest: Manifest) -> Revision | None:
    """The revision that a pack claims to be: by its metadata, else by the hashes of its lines."""
    number = (metadata.model_extra or {}).get("revision")
    if isinstance(number, int):
        return next((item for item in manifest.revisions if item.revision == number), None)
    hashes = metadata.task_id_hashes or {}
    for revision in reversed(manifest.revisions):
        if {task_id: record.md5 for task_id, record in revision.tasks.items()} == hashes:
            return revision
    return manifest.latest


def check_manifest(
    path: Path,
    metadata: ProblemPackMetadata,
    frozen: dict[str, tuple[str, str]],
    manifest: Manifest,
    diag: Diagnostics,
) -> None:
    """Compare a pack with the revision it claims to be; ``frozen`` has MD5 and behaviour hash by task."""
    place = Location(str(path))
    if manifest.release != metadata.release:
        message = f"the manifest is of release {manifest.release}, the pack of {metadata.release}"
        diag.error("manifest", message, place)
        return
    revision = revision_of(metadata, manifest)
    if revision is None:
        diag.error("manifest", "claims to be a revision that the manifest does not know", place)
        return
    for task_id, difference in _differences(revision, frozen):
        diag.error(
            "manifest", f"task {shown(task_id)} {difference}", place, "get the pack anew, or cut a revision"
        )
    if revision is not manifest.latest:
        newest = manifest.latest.revision
        message = (
            f"is revision {revision.revision}; the newest is {newest} (ce-release diff says what it corrects)"
        )
        diag.items.append(Diagnostic("manifest", Severity.INFO, message, place))
    if file_sha256(path) == revision.pack.sha256:
        return
    if tar_sha256(path) == revision.pack.tar_sha256:
        message = "was compressed anew: the archive's hash differs from the manifest's, its content does not"
        diag.items.append(Diagnostic("manifest", Severity.INFO, message, place))
    else:
        diag.error("manifest", f"is not the archive that was frozen as revision {revision.revision}", place)


def _differences(revision: Revision, frozen: dict[str, tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for task_id in natural_sorted(revision.tasks.keys() | frozen.keys()):
        record, found = revision.tasks.get(task_id), frozen.get(task_id)
        if found is None:
            yield task_id, f"is missing; revision {revision.revision} holds it"
        elif record is None:
            yield task_id, f"was added; revision {revision.revision} does not hold it"
        elif found != (record.md5, record.behaviour_sha256):
            what = (
                "only in what no grade depends on" if found[1] == record.behaviour_sha256 else "in behaviour"
            )
            yield task_id, f"differs from revision {revision.revision}, {what}"


def _identity(record: Record[Problem]) -> tuple[str, str]:
    return line_md5(record.raw), line_behaviour(record.item)


def _check_name(path: Path, metadata: ProblemPackMetadata, diag: Diagnostics) -> None:
    place = Location(str(path))
    extra = metadata.model_extra or {}
    draft = bool(extra.get("draft"))
    named = parse_pack_file(path.name)
    if draft:
        diag.warning("draft", "is a draft: nothing proves its problems, and it is no release", place)
    if named is None:
        diag.warning("release-name", "the file is not called RELEASE-problems.tar.gz", place)
        return
    if named.release != metadata.release:
        message = f"the file is named after {named.release}, but holds release {metadata.release}"
        diag.error("release-name", message, place)
    elif named.draft != draft:
        diag.error("release-name", f"the file is {'not ' if draft else ''}named as a draft", place)
    elif isinstance(number := extra.get("revision"), int) and number != named.revision:
        message = f"the file is named after revision {named.revision}, but holds revision {number}"
        diag.error("release-name", message, place)


def _check_problem(problem: Problem, release: str, place: Location, diag: Diagnostics) -> None:
    task = f"task {shown(problem.task_id)}"
    if release not in problem.metadata.releases:
        diag.warning("membership", f"{task} does not list release {release}", place)
    if problem.metadata.do_not_release:
        diag.error("membership", f"{task} is do_not_release", place)
    if problem.group not in groups():
        diag.warning("group", f"{task}: there is no group {shown(problem.group)}", place)
    context = [file.path for file in problem.context_files]
    tests = [file.path for file in problem.test_files]
    for fault in setting_defects(problem):
        diag.error("settings", f"{task}: {fault}", place)
    # Twins and bad paths are found with the pack's own checks.
    for clash in path_clashes([*context, *tests]):
        diag.error("files", f"{task}: {clash}", place)
    for name, solution in _solutions(problem):
        paths = [file.path for file in solution.files]
        for file in paths:
            if defect := path_defect(file):
                diag.error("files", f"{task}: {name}: the path {ascii(file)[:200]} {defect}", place)
        for file in sorted(set(paths) & set(tests)):
            diag.error("files", f"{task}: {name} replaces the test file {ascii(file)[:200]}", place)


def _solutions(problem: Problem) -> Iterator[tuple[str, FileSolution]]:
    """The solutions given as files that travel with a problem, and under which key."""
    baseline, reference = problem.baseline_solution, line_reference(problem)
    if isinstance(baseline, FileSolution):
        yield "baseline_solution", baseline
    if isinstance(reference, FileSolution) and reference is not baseline:
        yield "metadata.reference_solution", reference
