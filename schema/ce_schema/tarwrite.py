"""Writes archives that are the same to the byte on any machine.

Reproducible: member order, times, owners and modes are fixed, and the gzip header names no file, time or
system. Only the compressed bytes depend on the machine, through its version of zlib.
"""

from __future__ import annotations

import hashlib
import io
import os
import struct
import tarfile
import zlib
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, Self

from ce_schema.atomic import new_file, writing
from ce_schema.errors import InputError

# On problem lines level 6, zlib's own choice, gains five per cent and takes more than twice as long.
_LEVEL = 4
# Magic, deflate, no flags, no time, no hint on the effort, unknown system (RFC 1952).
_GZIP_HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_COPY_BYTES = 256 << 10
# Compressed at once, and how far back a compressor can look.
_DEFLATE_BYTES = 1 << 20
_WINDOW_BYTES = 32 << 10


class Digests(NamedTuple):
    """SHA-256, in hex, of an archive and of the tar inside, which no version of zlib can vary."""

    archive: str
    tar: str


def write_archive(
    path: Path, members: Sequence[tuple[str, int, IO[bytes]]], *, mtime: int, overwrite: bool
) -> Digests:
    """Write ``members`` (name, size in bytes, content) as a ``.tar.gz``; its digests.

    Args:
        path: where to.
        members: in the order in which they are to stand.
        mtime: seconds since 1970 that every member carries.
        overwrite: whether ``path`` may exist.

    Raises:
        InputError: ``path`` exists or cannot be written, or a member is too big for the format (8 GiB).
    """
    with writing(path), new_file(path, overwrite=overwrite) as file, _GzipSink(file) as sink:
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
    """Writes a gzip stream whose blocks are compressed side by side.

    The size of a block, never the number of cores, decides where the blocks begin, so the bytes are the
    same everywhere. Each block may refer back into the one before, as in one long stream.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._workers = len(os.sched_getaffinity(0))
        self._pool: ThreadPoolExecutor | None = None
        self._under_way: deque[Future[bytes]] = deque()
        self._block = bytearray()
        self._window = b""
        self._crc = 0
        self._size = 0
        self._sha256 = hashlib.sha256()
        self._content_sha256 = hashlib.sha256()
        self._put(_GZIP_HEADER)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)

    def write(self, data: bytes) -> None:
        self._crc = zlib.crc32(data, self._crc)
        self._size += len(data)
        self._content_sha256.update(data)
        self._block += data
        while len(self._block) > _DEFLATE_BYTES:
            self._start(bytes(self._block[:_DEFLATE_BYTES]))
            del self._block[:_DEFLATE_BYTES]

    def finish(self) -> Digests:
        """Write the end of the stream; the digests of all that was written."""
        last = _deflate(bytes(self._block), self._window, zlib.Z_FINISH)
        while self._under_way:
            self._put(self._under_way.popleft().result())
        self._put(last)
        self._put(struct.pack("<II", self._crc, self._size & 0xFFFFFFFF))
        return Digests(self._sha256.hexdigest(), self._content_sha256.hexdigest())

    def _start(self, block: bytes) -> None:
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self._workers)
        self._under_way.append(self._pool.submit(_deflate, block, self._window, zlib.Z_SYNC_FLUSH))
        self._window = block[-_WINDOW_BYTES:]
        if len(self._under_way) > 2 * self._workers:
            self._put(self._under_way.popleft().result())

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._sha256.update(data)


def _deflate(block: bytes, window: bytes, flush: int) -> bytes:
    """A block as whole deflate blocks; ``window`` is the end of what came before it."""
    deflate = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=window)
    return deflate.compress(block) + deflate.flush(flush)


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


def memory_member(name: str, content: bytes) -> tuple[str, int, IO[bytes]]:
    """A member of :func:`write_archive` whose content is at hand."""
    return name, len(content), io.BytesIO(content)
