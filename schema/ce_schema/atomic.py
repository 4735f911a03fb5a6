"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ce_schema.errors import InputError


def write_text(path: Path, text: str) -> None:
    """Write ``text`` to ``path``, and the folders above it where they are missing.

    Raises:
        InputError: the place cannot be written; what stood there is untouched.
    """
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path, overwrite=True) as file:
            file.write(text.encode())


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turns what goes wrong while ``path`` is written into an InputError."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError(what, where=str(path), fix="check space and permissions") from None


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that appears under ``path`` complete and on disk, or not at all.

    Raises:
        InputError: ``path`` exists and ``overwrite`` is false.
        OSError: it cannot be written, for want of space or permission.
    """
    exists = InputError("exists already", where=str(path), fix="choose another name or ask to overwrite")
    if not overwrite and os.path.lexists(path):
        raise exists
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            part.replace(path)
        else:
            _link(part, path, exists)
    finally:
        with suppress(FileNotFoundError):
            part.unlink()
    _sync_folder(path.parent)


def _link(part: Path, path: Path, exists: InputError) -> None:
    """Give ``part`` its name; unlike a rename, a link never replaces a file that came up meanwhile."""
    try:
        path.hardlink_to(part)
    except FileExistsError:
        raise exists from None
    except OSError:  # a file system without links
        if os.path.lexists(path):
            raise exists from None
        part.replace(path)


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot sync folders; the file itself is safe by then.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
