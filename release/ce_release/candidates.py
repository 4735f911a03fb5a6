"""The problems of a corpus as a cut sees them: their line for one release, and what is wrong with them.

Reading is the slow part of a cut, so it is shared between processes; what comes back is plain data.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from ce_corpus.certificates import CertificateState, certificate_state, read_certificate
from ce_corpus.folder import ProblemFolder, load_folder
from ce_corpus.index import problem_folders, short_label
from ce_corpus.manifests import natural_key
from ce_corpus.root import Corpus, ReleasePolicy
from ce_corpus.yamledit import release_key
from ce_release.policy import Lack, certificate_lacks
from ce_schema.certificate import Certificate
from ce_schema.errors import CeError, MachineLacksError
from ce_schema.groups import groups
from ce_schema.lines import encode_line
from ce_schema.paths import folder_name

# Below this, starting processes costs more than it saves.
_WORTH_SHARING = 96
_CHUNK = 16


@dataclass(frozen=True, slots=True)
class Candidate:
    """A problem that names the release. ``line`` and the hash are None when its folder has defects."""

    task_id: str
    label: str
    group: str
    do_not_release: bool
    base_image: str | None
    line: bytes | None
    behaviour_sha256: str | None
    state: CertificateState
    certificate: Certificate | None
    defects: tuple[Lack, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """Sort key of lines in a pack: groups as ``groups.yaml`` has them, then task ids by number."""
        known = list(groups())
        place = known.index(self.group) if self.group in known else len(known)
        return place, self.group, natural_key(self.task_id), self.task_id


def proof_lacks(candidate: Candidate, policy: ReleasePolicy) -> list[Lack]:
    """What keeps a problem from being released: defects, else what its certificate fails to prove."""
    lacks = list(candidate.defects)
    if not any(lack.rule == "defect" for lack in lacks):
        lacks += certificate_lacks(candidate.task_id, candidate.state, candidate.certificate, policy)
    return lacks


def releases_up_to(releases: list[str], release: str) -> list[str]:
    """The releases that a line of ``release`` lists: sorted by age, later ones left out."""
    kept = {name for name in releases if release_key(name) <= release_key(release)}
    return sorted(kept, key=lambda name: (release_key(name), name))


def read_candidate(path: Path, label: str, certificates: Path, release: str) -> Candidate | None:
    """The problem in a folder if it is in ``release``, or if that cannot be told; else None."""
    folder = load_folder(path, label)
    written = _written_metadata(folder)
    releases = written.get("releases")
    elsewhere = releases is None or (isinstance(releases, list) and release not in releases)
    if folder.document is not None and elsewhere:
        return None
    defects = _defects(folder, label)
    task_id = _task_id(folder, path)
    held = bool(written.get("do_not_release"))
    if defects or folder.spec is None:
        return Candidate(
            task_id, label, "", held, None, None, None, CertificateState.MISSING, None, tuple(defects)
        )
    certificate, lacks = _certificate(certificates, task_id)
    if folder.reference is None:
        lacks.append(Lack(task_id, "reference", "has no reference solution", f"add {label}/solution/"))
    problem = folder.packed
    listed = releases_up_to(problem.metadata.releases, release)
    metadata = problem.metadata.model_copy(update={"releases": listed})
    return Candidate(
        task_id=task_id,
        label=label,
        group=folder.spec.group,
        do_not_release=held,
        base_image=folder.spec.base_image,
        line=encode_line(problem.model_copy(update={"metadata": metadata})),
        behaviour_sha256=folder.behaviour_sha256,
        state=certificate_state(folder, certificate),
        certificate=certificate,
        defects=tuple(lacks),
    )


def _written_metadata(folder: ProblemFolder) -> dict[str, object]:
    written = folder.document.data.get("metadata") if folder.document else None
    return written if isinstance(written, dict) else {}


def _task_id(folder: ProblemFolder, path: Path) -> str:
    written = folder.document.data.get("task_id") if folder.document else None
    return written if isinstance(written, str) and written else path.name


def _defects(folder: ProblemFolder, label: str) -> list[Lack]:
    task = _task_id(folder, folder.path)
    found = [
        Lack(task, "defect", f"{item.location}: {item.message}", item.fix)
        for item in (*folder.defects, *folder.spec_findings)
    ]
    if found or folder.spec is None:
        return found
    if folder_name(folder.spec.task_id) != folder.path.name:
        fix = f"rename the folder to {folder_name(folder.spec.task_id)}"
        found.append(Lack(task, "defect", f"{label}: the folder is not named after the task", fix))
    if folder.spec.group not in groups():
        place = folder.where("group")
        found.append(Lack(task, "defect", f"{place}: there is no group '{folder.spec.group}'"))
    return found


def _certificate(certificates: Path, task_id: str) -> tuple[Certificate | None, list[Lack]]:
    try:
        return read_certificate(certificates, task_id), []
    except CeError as error:
        place = f"{error.where}: " if error.where else ""
        return None, [Lack(task_id, "defect", f"{place}{error.what}", error.fix)]


@contextmanager
def reading(corpus: Corpus, release: str) -> Iterator[Callable[[], list[Candidate]]]:
    """Start to read the corpus; the function handed over waits for the candidates, in a pack's order.

    In between the caller can do something else that takes time.
    """
    root, top = str(corpus.problems), short_label(corpus.problems)
    jobs = [
        (path, top + str(path).removeprefix(root), corpus.certificates, release)
        for path in problem_folders(corpus.problems)
    ]
    workers = min(len(os.sched_getaffinity(0)), len(jobs) // (_WORTH_SHARING // 2))
    if workers < 2:
        yield lambda: _in_order([read_candidate(*job) for job in jobs])
        return
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool

    # Forked, so that the children start with everything imported. Nothing here has threads before.
    pool = ProcessPoolExecutor(workers, get_context("fork"), initializer=_leave_interrupts_to_the_parent)
    try:
        found = pool.map(_read_job, jobs, chunksize=_CHUNK)
        yield lambda: _in_order(list(found))
    except BrokenProcessPool:
        raise MachineLacksError(
            "a process that read problems was killed", fix="make sure that memory suffices"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


def _read_job(job: tuple[Path, str, Path, str]) -> Candidate | None:
    return read_candidate(*job)


def _leave_interrupts_to_the_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _in_order(found: list[Candidate | None]) -> list[Candidate]:
    return sorted((item for item in found if item is not None), key=lambda item: item.order)
