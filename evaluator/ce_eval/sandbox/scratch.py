"""Folders that last as long as the process that made them, even when that is killed."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
import weakref
from pathlib import Path

from ce_eval.sandbox.removal import remove_tree

# A folder younger than this may be about to be locked by its maker.
_GRACE_SECONDS = 60.0


class ScratchFolder:
    """A new folder, removed by `close`, with the object, or at exit.

    A killed process removes nothing. Its folders are told by their lock, which ended with it, and the next
    process that makes a folder with the same prefix in the same place removes them.

    Attributes:
        path: the folder.
    """

    def __init__(self, prefix: str, parent: Path | None = None) -> None:
        parent = parent or Path(tempfile.gettempdir())
        _remove_abandoned(prefix, parent)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        lock = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_SH)
        self._finalizer = weakref.finalize(self, _remove, self.path, lock)

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        self._finalizer()


def _remove(path: Path, lock: int) -> None:
    remove_tree(path)
    os.close(lock)


def _remove_abandoned(prefix: str, parent: Path) -> None:
    """Remove this user's folders of that name which no process holds any more."""
    for path in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                found = os.fstat(descriptor)
                if found.st_uid == os.geteuid() and time.time() - found.st_mtime > _GRACE_SECONDS:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    remove_tree(path)
            finally:
                os.close(descriptor)
