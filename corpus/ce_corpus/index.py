"""Which problems a folder tree holds, and which one a name means."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ce_corpus.folder import ProblemFolder, load_folder
from ce_schema.errors import InputError, did_you_mean
from ce_schema.paths import folder_name, task_id_of
from ce_schema.spec import SPEC_FILE


def problem_folders(tree: Path) -> list[Path]:
    """Every folder below ``tree`` (itself included) that holds a problem, sorted by path.

    A spec makes a folder one, whatever stands in the spec's place; so do the folders of a problem without
    one, lest a problem whose spec is lost be passed over in silence. A link to a problem is among them, to be
    refused when it is read; no other link is followed.

    Raises:
        InputError: a folder cannot be listed.
    """
    return sorted(_find(tree))


def _find(folder: Path) -> Iterator[Path]:
    try:
        with os.scandir(folder) as listed:
            entries = {entry.name: entry for entry in listed}
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise InputError(
            f"cannot be listed: {error.strerror}", where=str(folder), fix="see to its permissions"
        ) from None
    folders = {name for name, entry in entries.items() if entry.is_dir(follow_symlinks=False)}
    if SPEC_FILE in entries or ("test" in folders and not folders.isdisjoint({"context", "solution"})):
        yield folder
        return
    for name, entry in entries.items():
        if name.startswith("."):
            continue
        if name in folders:
            yield from _find(folder / name)
        elif entry.is_symlink() and (folder / name / SPEC_FILE).exists():
            yield folder / name


def short_label(path: Path) -> str:
    """``path`` relative to the working folder where it lies below it, else as it is."""
    try:
        return str(path.absolute().relative_to(Path.cwd()))
    except ValueError:
        return str(path)


def load_folders(paths: Sequence[Path]) -> Iterator[ProblemFolder]:
    """Load each folder, labelled the way a user would type it."""
    for path in paths:
        yield load_folder(path, short_label(path))


def choose_folders(tree: Path, names: Sequence[str]) -> list[Path]:
    """The folders that ``names`` mean: task ids, folder names, paths, or groups (all of its problems).

    Raises:
        InputError: a name means nothing here; near names are suggested.
    """
    folders = problem_folders(tree)
    by_name: dict[str, list[Path]] = {}
    for folder in folders:
        by_name.setdefault(folder.name, []).append(folder)
        by_name.setdefault(folder.parent.name, []).append(folder)
        # `thrust` means thrust-1, thrust-2, ...: the topic of the folder's name.
        topic, slash, _ = task_id_of(folder.name).rpartition("/")
        if slash and topic != folder.parent.name:
            by_name.setdefault(topic, []).append(folder)
    chosen: dict[Path, None] = {}
    for name in names:
        matches = by_name.get(folder_name(name), [])
        if not matches and (Path(name) / SPEC_FILE).is_file():
            matches = [Path(name).absolute()]
        if not matches and Path(name).is_dir():
            matches = problem_folders(Path(name).absolute())
        if not matches:
            known = sorted({*by_name, *(task_id_of(folder.name) for folder in folders)})
            raise InputError(
                f"'{name}' is neither a task nor a group here.{did_you_mean(name, known)}",
                fix="ce-author show lists the tasks",
            )
        chosen.update(dict.fromkeys(matches))
    return list(chosen)


def enclosing_folder(place: Path) -> Path | None:
    """The problem folder that ``place`` is or lies in, or None."""
    for folder in (place.absolute(), *place.absolute().parents):
        if (folder / SPEC_FILE).is_file():
            return folder
    return None
