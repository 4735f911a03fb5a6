"""Problems from wherever they are: a folder tree, a pack, a JSON-lines file, or a release on the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ce_corpus.index import load_folders, problem_folders
from ce_schema.errors import InputError
from ce_schema.problem import Problem


def load_problems(source: str | Path | None, release: str | None) -> list[Problem]:
    """The problems of ``source``, in its order.

    Args:
        source: a folder tree of problem folders, a ``.tar.gz`` pack, a ``.jsonl`` file, or None for
            the hub.
        release: what to fetch from the hub, and which problems of a folder tree to take (None: all).

    Raises:
        InputError: the source does not exist, is defective, or holds no such problem.
    """
    problems = list(_open(source, release))
    if not problems:
        of_release = f" of release {release}" if release else ""
        raise InputError(f"holds no problem{of_release}", where=str(source) if source else "the hub")
    return problems


def _open(source: str | Path | None, release: str | None) -> Iterator[Problem]:
    if source is None:
        from ce_corpus.hub import fetch_release

        if release is None:
            raise InputError("neither problems nor a release is given", fix="pass --problems or --release")
        return _read_jsonl(fetch_release(release))
    path = Path(source)
    if path.is_dir():
        return _read_tree(path, release)
    if not path.is_file():
        raise InputError(
            "does not exist", where=str(path), fix="pass a pack, a folder of problems or a .jsonl"
        )
    for suffix, reader in _READERS.items():
        if path.name.endswith(suffix):
            return reader(path)
    raise InputError(
        "is no source of problems",
        where=str(path),
        fix=f"pass a folder or a file ending in {' or '.join(_READERS)}",
    )


def _read_tree(path: Path, release: str | None) -> Iterator[Problem]:
    folders = problem_folders(path)
    if not folders:
        raise InputError("holds no problem folder", where=str(path))
    seen: set[str] = set()
    for folder in load_folders(folders):
        problem = folder.packed
        if release is None or release in problem.metadata.releases:
            if problem.task_id in seen:
                raise InputError(f"holds the task {problem.task_id} twice", where=str(path))
            seen.add(problem.task_id)
            yield problem


def _read_pack(path: Path) -> Iterator[Problem]:
    from ce_schema.datapack import open_problem_pack

    with open_problem_pack(path) as pack:
        for record in pack:
            yield record.item


def _read_jsonl(path: Path) -> Iterator[Problem]:
    from ce_schema.datapack import read_jsonl

    for record in read_jsonl(path, "problems"):
        yield record.item


_READERS: dict[str, Callable[[Path], Iterator[Problem]]] = {
    ".tar.gz": _read_pack,
    ".jsonl": _read_jsonl,
}
