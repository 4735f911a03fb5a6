"""Writes archives that are the same to the byte on any machine, and files that are whole or not there.

Reproducible: member order, times, owners and modes are fixed, and the gzip header names no file, time or
system. Only the compressed bytes depend on the machine, through its version of zlib.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
import struct
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from ce_schema.errors import InputError

# Level 9 gains about one per cent on problem lines and takes twice the time.
_LEVEL = 6
# Magic, deflate, no flags, no time, no hint on the effort, unknown system (RFC 1952).
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_COPY_BYTES = 256 << 10


@contextmanager
def new_file(path: Path, *, overwrite: bool) -> Iterator[BinaryIO]:
    """A file that appears under ``path`` complete and on disk, or not at all.

    Raises:
        InputError: ``path`` exists and ``overwrite`` is false, or its folder cannot be written to.
    """
    exists = InputError("exists already", where=str(path), fix="choose another name or ask to overwrite")
    if not overwrite and os.path.lexists(path):
        raise exists
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", where=str(path)) from None
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


def write_archive(
    path: Path, members: Sequence[tuple[str, int, IO[bytes]]], *, mtime: int, overwrite: bool
) -> str:
    """Write ``members`` (name, size in bytes, content) as a ``.tar.gz``; its SHA-256 in hex.

    Args:
        path: where to.
        members: in the order in which they are to stand.
        mtime: seconds since 1970 that every member carries.
        overwrite: whether ``path`` may exist.

    Raises:
        InputError: as :func:`new_file`, or a member too big for the format (8 GiB).
    """
    with new_file(path, overwrite=overwrite) as file:
        sink = _GzipSink(file)
        written = 0
        for name, size, content in members:
            sink.write(_header(name, size, mtime, path))
            _copy(content, size, sink)
            padding = -size % tarfile.BLOCKSIZE
            sink.write(bytes(padding))
            written += tarfile.BLOCKSIZE + size + padding
        end = 2 * tarfile.BLOCKSIZE
        sink.write(bytes(end + -(written + end) % tarfile.RECORDSIZE))
        return sink.finish()


class _GzipSink:
    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._crc = 0
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._put(_GZIP_HEADER)

    def write(self, data: bytes) -> None:
        self._crc = zlib.crc32(data, self._crc)
        self._size += len(data)
        self._put(self._deflate.compress(data))

    def finish(self) -> str:
        """Write the end of the stream; the SHA-256, in hex, of all that was written."""
        self._put(self._deflate.flush())
        self._put(struct.pack("<II", self._crc, self._size & 0xFFFFFFFF))
        return self._sha256.hexdigest()

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._sha256.update(data)


def _header(name: str, size: int, mtime: int, path: Path) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mtime, info.mode = size, mtime, 0o644
    try:
        return info.tobuf(tarfile.USTAR_FORMAT)
    except ValueError as error:
        what = f"{name} ({size} bytes, time {mtime}) does not fit: {error}"
        raise InputError(what, where=str(path)) from None


def _copy(content: IO[bytes], size: int, sink: _GzipSink) -> None:
    while size:
        block = content.read(min(size, _COPY_BYTES))
        if not block:
            raise EOFError("a member is shorter than it was said to be")
        sink.write(block)
        size -= len(block)


def _sync_folder(folder: Path) -> None:
    # Some file systems cannot sync folders; the file itself is safe by then.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def memory_member(name: str, content: bytes) -> tuple[str, int, IO[bytes]]:
    """A member of :func:`write_archive` whose content is at hand."""
    return name, len(content), io.BytesIO(content)
