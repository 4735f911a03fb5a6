"""Removing what untrusted commands left: any depth, any permissions, and no link is followed."""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: Path) -> None:
    """Remove a folder and all below it, or whatever stands in its place. Never raises.

    `shutil.rmtree` recurses and holds a descriptor for each level, so that a few thousand nested folders end
    the evaluator, or leave it without descriptors for other runs; and it leaves folders that their owner may
    not write. Here folders are made writable and moved up to the top one before they are emptied: however
    deep the tree is, two descriptors and no recursion suffice.
    """
    with contextlib.suppress(OSError):
        if not stat.S_ISDIR(path.lstat().st_mode):
            path.unlink()
            return
        _open_up(str(path), None)
        top = os.open(path, _FOLDER)
        try:
            _empty(top)
        finally:
            os.close(top)
        path.rmdir()


def _empty(top: int) -> None:
    # Names that a command could not foresee, and so not occupy.
    token = secrets.token_hex(8)
    names = (f".{token}.{number}" for number in itertools.count())
    pending = _clear(top, top, names)
    while pending:
        name = pending.pop()
        with contextlib.suppress(OSError):
            folder = os.open(name, _FOLDER, dir_fd=top)
            try:
                pending += _clear(folder, top, names)
            finally:
                os.close(folder)
            os.rmdir(name, dir_fd=top)


def _clear(folder: int, top: int, names: Iterator[str]) -> list[str]:
    """Remove the files of a folder and move its folders to ``top``; their names there."""
    with os.scandir(folder) as entries:
        found = list(entries)
    moved: list[str] = []
    for entry in found:
        with contextlib.suppress(OSError):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.name, dir_fd=folder)
                continue
            # To move a folder is to write its "..".
            _open_up(entry.name, folder)
            name = entry.name
            if folder != top:
                name = next(names)
                os.rename(entry.name, name, src_dir_fd=folder, dst_dir_fd=top)
            moved.append(name)
    return moved


def _open_up(name: str, parent: int | None) -> None:
    """Give the owner of a folder all rights on it; a link in its place is refused, not followed."""
    mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
    if mode & stat.S_IRWXU == stat.S_IRWXU:
        return
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        # No call of Linux before 6.6 changes the mode of what a handle, and not a path, names.
        Path(f"/proc/self/fd/{handle}").chmod(0o700)
    finally:
        os.close(handle)
