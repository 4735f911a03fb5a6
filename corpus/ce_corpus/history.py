"""The git history of a corpus: what is committed, what is not, and which task ids were ever used."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ce_corpus.folder import JUNK_NAMES, JUNK_SUFFIXES
from ce_corpus.index import problem_folders
from ce_corpus.manifests import read_manifests
from ce_corpus.root import CORPUS_FILE, Corpus
from ce_schema.errors import InputError, MachineLacksError, missing_extra
from ce_schema.paths import folder_name, task_id_of
from ce_schema.spec import SPEC_FILE

if TYPE_CHECKING:
    from git import Repo


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that the working tree stands on. ``created_at`` is its time, ISO 8601 in UTC."""

    commit: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """A path (relative to the repository) that differs from the commit, and in which way."""

    path: str
    how: str


class CorpusRepository:
    """The git repository around a corpus."""

    def __init__(self, repo: Repo, corpus: Corpus) -> None:
        self._repo = repo
        self._corpus = corpus
        self.top = Path(str(repo.working_tree_dir)).resolve()

    def head(self) -> Head:
        """The commit that is checked out.

        Raises:
            InputError: nothing has been committed yet.
        """
        try:
            commit, seconds = self._git("log", "-1", "--no-show-signature", "--format=%H %ct").split()
        except InputError as error:
            if "does not have any commits" not in error.what:
                raise
            raise InputError(
                "the repository has no commit yet", where=str(self.top), fix="commit the corpus first"
            ) from None
        return Head(commit, datetime.fromtimestamp(int(seconds), tz=UTC).isoformat())

    def uncommitted(self) -> list[Uncommitted]:
        """Where problems, certificates, manifests or ``corpus.yaml`` differ from the commit.

        Counts whatever a cut would read and the commit does not hold: edits, untracked files, files
        that git ignores but a problem folder holds, and edits hidden by ``--assume-unchanged``.
        """
        corpus = self._corpus
        folders = [corpus.problems, corpus.certificates]
        places = [self._spec(place) for place in (*folders, corpus.manifests, corpus.root / CORPUS_FILE)]
        found = []
        for code, path in self._status(places, "--ignored=matching"):
            if code != "!!" or self._reaches_a_pack(path):
                found.append(Uncommitted(path, _HOW.get(code, "changed")))
        listed = self._git("ls-files", "-v", "-z", "--", *places)
        for entry in filter(None, listed.split("\0")):
            tag, _, path = entry.partition(" ")
            if tag != "H":
                found.append(Uncommitted(path, "hidden from git (assume-unchanged or skip-worktree)"))
        # Packs and notes may lie beside the manifests without being part of any.
        beside = f"{self._spec(corpus.manifests)}/"
        kept = [item for item in found if not item.path.startswith(beside) or item.path.endswith(".json")]
        return sorted(set(kept), key=lambda item: item.path)

    def changed_folders(self) -> list[Path]:
        """The problem folders on disk that differ from the last commit, sorted."""
        root = self._corpus.problems
        found: set[Path] = set()
        for _, path in self._status([self._spec(root)]):
            for folder in (self.top / path, *(self.top / path).parents):
                if (folder / SPEC_FILE).is_file():
                    found.add(folder)
                if folder == root.resolve():
                    break
        return sorted(found)

    def last_commit_with(self, path: Path) -> str | None:
        """The newest commit of any branch that wrote or removed ``path``, or None when there was none."""
        return (
            self._git("log", "--all", "-1", "--no-show-signature", "--format=%H", "--", self._spec(path))
            or None
        )

    def used_task_ids(self) -> set[str]:
        """Every task id that any commit of any branch ever held, read off the folders' names."""
        fixed = ("log", "--all", "--format=", "--name-only", "-z", "--diff-filter=AR")
        listed = self._git(*fixed, "--", f"**/{SPEC_FILE}", globs=True)
        return {task_id_of(Path(path).parent.name) for path in listed.split("\0") if path}

    def _reaches_a_pack(self, ignored: str) -> bool:
        """Whether a path that git ignores would be read as part of a problem."""
        path = self.top / ignored
        parts = Path(ignored).parts
        if JUNK_NAMES.intersection(parts) or ignored.rstrip("/").endswith(JUNK_SUFFIXES):
            return False
        below = path.is_relative_to(self._corpus.problems.resolve())
        return below and (not path.is_dir() or any(item.is_file() for item in path.rglob("*")))

    def _status(self, places: list[str], *options: str) -> list[tuple[str, str]]:
        fixed = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all")
        text = self._git(*fixed, *options, "--", *places)
        return [(entry[:2], entry[3:]) for entry in text.split("\0") if entry]

    def _spec(self, path: Path) -> str:
        """``path`` as git names it from the top of the working tree."""
        try:
            return str(path.resolve().relative_to(self.top))
        except ValueError:
            raise InputError(
                f"lies outside the repository {self.top}",
                where=str(path),
                fix="keep problems, certificates and manifests in one repository",
            ) from None

    def _git(self, *arguments: str, globs: bool = False) -> str:
        from git.exc import GitCommandError

        try:
            # Looking must not take locks: others may be committing, or the disk may be read-only.
            with self._repo.git.custom_environment(GIT_OPTIONAL_LOCKS="0", LC_ALL="C"):
                how = "--glob-pathspecs" if globs else "--literal-pathspecs"
                output: Any = self._repo.git.execute(["git", how, *arguments])
        except GitCommandError as error:
            reason, _, advice = (
                str(error.stderr).strip().removeprefix("stderr: ").strip("' \n").partition("\n")
            )
            raise InputError(
                f"git {arguments[0]} failed: {reason}",
                where=str(self.top),
                fix=" ".join(advice.split()) or None,
            ) from None
        return str(output)


_HOW = {
    "??": "not committed",
    "!!": "ignored by git, but part of a problem",
    " D": "deleted",
    "D ": "deleted",
}


def open_repository(corpus: Corpus) -> CorpusRepository | None:
    """The git repository that holds the corpus, or None when there is none.

    Raises:
        MachineLacksError: GitPython or git itself is not installed.
    """
    try:
        import git
    except ImportError as error:
        if error.name == "git":
            raise missing_extra("release", "reading the git history of a corpus") from None
        raise MachineLacksError("git is not installed", fix="install git") from None
    try:
        repo = git.Repo(corpus.root, search_parent_directories=True)
    except (git.InvalidGitRepositoryError, git.NoSuchPathError):
        return None
    return None if repo.bare else CorpusRepository(repo, corpus)


def require_repository(corpus: Corpus) -> CorpusRepository:
    """The git repository that holds the corpus.

    Raises:
        InputError: the corpus lies in none.
        MachineLacksError: GitPython or git itself is not installed.
    """
    repository = open_repository(corpus)
    if repository is None:
        raise InputError(
            "the corpus lies in no git repository",
            where=str(corpus.root),
            fix="git init, then commit the corpus",
        )
    return repository


def next_task_number(corpus: Corpus, prefix: str) -> int:
    """The lowest number above all that ``<prefix>/<n>`` ever had: on disk, in manifests, in history.

    Starts at 1. Where there is no git repository, history is left out.
    """
    used = {folder_name(task) for task in _known_task_ids(corpus)}
    pattern = re.compile(re.escape(folder_name(prefix)) + r"-([0-9]+)\Z")
    numbers = [int(match[1]) for name in used if (match := pattern.match(name))]
    return max(numbers, default=0) + 1


def _known_task_ids(corpus: Corpus) -> set[str]:
    known = {folder.name for folder in problem_folders(corpus.problems)}
    for manifest in read_manifests(corpus.manifests).values():
        known |= manifest.latest.tasks.keys()
    if repository := open_repository(corpus):
        known |= repository.used_task_ids()
    return known
