from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ce_corpus.history import (
    CorpusRepository,
    next_task_number,
    open_repository,
    require_repository,
)
from ce_corpus.root import Corpus, find_corpus
from ce_schema.errors import InputError, MachineLacksError
from ce_schema.paths import task_id_of

WHEN = "2026-03-04T05:06:07+02:00"


def git(folder: Path, *arguments: str) -> None:
    name = ["-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "core.excludesFile=/dev/null"]
    environment = {"PATH": "/usr/bin:/bin", "GIT_COMMITTER_DATE": WHEN, "GIT_AUTHOR_DATE": WHEN, "HOME": "/"}
    subprocess.run(
        ["git", *name, *arguments], cwd=folder, check=True, env=environment, stdout=subprocess.DEVNULL
    )


def problem(corpus: Corpus, name: str, text: str = "task\n") -> Path:
    folder = corpus.problems / name.rpartition("-")[0] / name
    (folder / "test").mkdir(parents=True, exist_ok=True)
    (folder / "problem-spec.yaml").write_text(text)
    (folder / "test" / "main.cu").write_text(f"// {name} {text}")
    return folder


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    """A corpus below the top of a repository, with one commit."""
    top = tmp_path / "top [x]"
    (top / "corpus").mkdir(parents=True)
    (top / "corpus" / "corpus.yaml").write_text("name: synthetic\nmanifests: ../manifests\n")
    corpus = find_corpus(top / "corpus")
    problem(corpus, "cub-1")
    problem(corpus, "cub-2")
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "start")
    return corpus


@pytest.fixture
def repository(corpus: Corpus) -> CorpusRepository:
    return require_repository(corpus)


def test_head_is_the_commit_and_its_time_in_utc(repository: CorpusRepository) -> None:
    head = repository.head()
    assert len(head.commit) == 40
    assert head.created_at == "2026-03-04T03:06:07+00:00"


def test_a_fresh_commit_is_clean(repository: CorpusRepository) -> None:
    assert repository.uncommitted() == []
    assert repository.changed_folders() == []


def test_what_a_cut_reads_counts_and_nothing_else(corpus: Corpus, repository: CorpusRepository) -> None:
    problem(corpus, "cub-1", "edited\n")
    (corpus.problems / "cub" / "cub-2" / "test" / "main.cu").unlink()
    problem(corpus, "cub-3")
    corpus.certificates.mkdir()
    (corpus.certificates / "cub-1.json").write_text("{}")
    corpus.manifests.mkdir()
    (corpus.manifests / "2026-1.json").write_text("{}")
    (corpus.manifests / "2026-1-problems.tar.gz").write_text("a pack is no manifest")
    (corpus.root / "notes.txt").write_text("not read by a cut")
    found = {item.path.removeprefix("corpus/"): item.how for item in repository.uncommitted()}
    assert found == {
        "problems/cub/cub-1/problem-spec.yaml": "changed",
        "problems/cub/cub-1/test/main.cu": "changed",
        "problems/cub/cub-2/test/main.cu": "deleted",
        "problems/cub/cub-3/problem-spec.yaml": "not committed",
        "problems/cub/cub-3/test/main.cu": "not committed",
        "certificates/cub-1.json": "not committed",
        "manifests/2026-1.json": "not committed",
    }


def test_ignored_files_count_where_a_problem_would_pack_them(
    corpus: Corpus, repository: CorpusRepository
) -> None:
    (repository.top / ".git" / "info" / "exclude").write_text("*.out\n*.pyc\n__pycache__\nbuild/\n")
    folder = corpus.problems / "cub" / "cub-1"
    (folder / "test" / "main.out").write_text("x")
    (folder / "test" / "left.pyc").write_text("x")
    (folder / "test" / "__pycache__").mkdir()
    (folder / "test" / "__pycache__" / "x.out").write_text("x")
    (folder / "context" / "build").mkdir(parents=True)
    (folder / "context" / "build" / "k.h").write_text("x")
    assert [(item.path.rpartition("cub-1/")[2], item.how) for item in repository.uncommitted()] == [
        ("context/build/", "ignored by git, but part of a problem"),
        ("test/main.out", "ignored by git, but part of a problem"),
    ]


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edits_hidden_from_git_count(corpus: Corpus, repository: CorpusRepository, flag: str) -> None:
    git(repository.top, "update-index", flag, "corpus/problems/cub/cub-1/test/main.cu")
    (corpus.problems / "cub" / "cub-1" / "test" / "main.cu").write_text("quiet edit")
    assert ["hidden from git" in item.how for item in repository.uncommitted()] == [True]


def test_changed_folders_are_those_on_disk(corpus: Corpus, repository: CorpusRepository) -> None:
    (corpus.problems / "cub" / "cub-1" / "test" / "main.cu").write_text("edited")
    (corpus.problems / "cub" / "cub-2" / "problem-spec.yaml").unlink()
    (corpus.problems / "cub" / "README").write_text("belongs to no problem")
    third = problem(corpus, "cub-3")
    changed = [folder.name for folder in repository.changed_folders()]
    assert changed == ["cub-1", "cub-3"]
    assert third.resolve() in repository.changed_folders()


def test_ids_of_deleted_and_renamed_folders_and_of_other_branches_stay_used(
    corpus: Corpus, repository: CorpusRepository
) -> None:
    top = repository.top
    git(top, "checkout", "-qb", "side")
    problem(corpus, "cub-30")
    git(top, "add", "-A")
    git(top, "commit", "-qm", "side")
    git(top, "checkout", "-q", "-")
    git(top, "mv", "corpus/problems/cub/cub-2", "corpus/problems/cub/cub-20")
    git(top, "commit", "-qm", "rename")
    git(top, "rm", "-rq", "corpus/problems/cub/cub-20")
    git(top, "commit", "-qm", "delete")
    assert repository.used_task_ids() == {"cub/1", "cub/2", "cub/20", "cub/30"}
    assert next_task_number(corpus, "cub") == 31
    assert next_task_number(corpus, "thrust") == 1


def test_a_file_that_was_ever_committed_is_known(corpus: Corpus, repository: CorpusRepository) -> None:
    place = corpus.manifests / "2026-1.json"
    assert repository.last_commit_with(place) is None
    corpus.manifests.mkdir()
    place.write_text("{}")
    assert repository.last_commit_with(place) is None
    git(repository.top, "add", "-A")
    git(repository.top, "commit", "-qm", "cut")
    written = repository.last_commit_with(place)
    assert written == repository.head().commit
    git(repository.top, "rm", "-rq", "manifests")
    git(repository.top, "commit", "-qm", "gone")
    assert repository.last_commit_with(place) == repository.head().commit


def test_numbers_come_from_disk_and_manifests_without_git(tmp_path: Path) -> None:
    (tmp_path / "corpus.yaml").write_text("name: synthetic\n")
    corpus = find_corpus(tmp_path)
    problem(corpus, "cub-4")
    problem(corpus, "cub-libs-9")
    assert open_repository(corpus) is None
    assert next_task_number(corpus, "cub") == 5
    assert next_task_number(corpus, "cub-libs") == 10
    with pytest.raises(InputError, match="no git repository"):
        require_repository(corpus)


def test_a_repository_without_a_commit_says_so(tmp_path: Path) -> None:
    (tmp_path / "corpus.yaml").write_text("name: synthetic\n")
    git(tmp_path, "init", "-q")
    repository = require_repository(find_corpus(tmp_path))
    with pytest.raises(InputError, match="no commit yet"):
        repository.head()
    assert [item.path for item in repository.uncommitted()] == ["corpus.yaml"]


def test_what_git_says_of_a_broken_repository_is_passed_on(repository: CorpusRepository) -> None:
    (repository.top / ".git" / "index").write_text("no index")
    with pytest.raises(InputError, match=r"git status failed: .*index"):
        repository.uncommitted()
    shutil.rmtree(repository.top / ".git" / "objects")
    (repository.top / ".git" / "objects").mkdir()
    with pytest.raises(InputError, match="git log failed: "):
        repository.head()


def test_folders_outside_the_repository_are_named(corpus: Corpus, tmp_path: Path) -> None:
    path = corpus.root / "corpus.yaml"
    path.write_text("name: synthetic\nmanifests: ../../elsewhere\n")
    with pytest.raises(InputError, match="lies outside the repository"):
        require_repository(find_corpus(corpus.root)).uncommitted()


def test_gitpython_missing_names_the_extra(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "git", None)
    with pytest.raises(MachineLacksError, match="extra 'release'"):
        open_repository(corpus)


def test_folder_names_stand_for_ids() -> None:
    assert [task_id_of(name) for name in ("cub-1", "cuda-kernels-12", "CUDA", "x-y")] == [
        "cub/1",
        "cuda-kernels/12",
        "CUDA",
        "x-y",
    ]
