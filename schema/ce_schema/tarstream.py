"""The archive layer of datapacks: a gzip stream and a tar walk that hostile bytes cannot exhaust.

Packs come from strangers. So nothing here trusts a declared size, keeps more than a block in memory,
or follows what the tar format can express beyond regular files under known names; and every defect,
whatever the bytes, is a :class:`PackError`. (``tarfile`` reads extended headers and padding into memory
without a limit, and needs the stream to be good to the end.)
"""

from __future__ import annotations

import os
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import FileIO

from ce_schema.diagnostics import Location
from ce_schema.errors import InputError

BLOCK = 512
# The most that a pack may unfold to, headers and padding included.
MAX_ARCHIVE_BYTES = 8 << 30
# Python's own tarfile writes one small extended header (a fractional mtime) a member.
MAX_EXTENDED_HEADER_BYTES = 1 << 20
# Writers pad archives to records of 10 KiB, GNU tar to its blocking factor at most.
MAX_PADDING_BYTES = 1 << 20

_READ_BYTES = 64 << 10
_INFLATE_BYTES = 256 << 10
_GZIP_MAGIC = b"\x1f\x8b"
# What an extended header may not say: these change where a member is or how long.
_MEMBER_KEYS = (b"path", b"linkpath", b"size", b"hdrcharset", b"GNU.sparse")


class PackError(InputError):
    """A datapack, or a file of its lines, that cannot be used; ``location.path`` is ``archive!member``."""

    def __init__(self, what: str, *, where: str | Location, fix: str | None = None) -> None:
        self.location = where if isinstance(where, Location) else Location(where)
        super().__init__(what, where=str(where), fix=fix)


class GzipStream:
    """The decompressed bytes of one gzip member that is the whole file, in order.

    Reads with an offset of its own, so that several streams can share a file.

    Args:
        file: an open regular file.
        name: what errors call the file.
        limit: the most bytes it may unfold to.
    """

    def __init__(self, file: FileIO, name: str, limit: int) -> None:
        self.name = name
        self.limit = limit
        self.consumed = 0
        self._produced = 0
        self._file = file
        self._offset = 0
        self._input = b""
        self._inflate = zlib.decompressobj(wbits=31)
        self._ended = False
        self._block = b""
        self._start = 0
        if self._pread(len(_GZIP_MAGIC)) != _GZIP_MAGIC:
            raise PackError("is not a gzip file", where=name, fix="a datapack is a .tar.gz archive")

    def read(self, size: int) -> bytes:
        """Up to ``size`` bytes, at least one unless the stream is at its end.

        Raises:
            PackError: the data are truncated, corrupt, followed by more, or over the limit.
        """
        if self._start == len(self._block):
            self._block, self._start = self._inflate_block(), 0
        if self._start == 0 and size >= len(self._block):
            block, self._block = self._block, b""
        else:
            block = self._block[self._start : self._start + size]
            self._start += len(block)
        self.consumed += len(block)
        return block

    def _inflate_block(self) -> bytes:
        """The next block of decompressed bytes, empty at the end of the stream."""
        while not self._ended:
            starved = False
            if not self._input:
                self._input = self._pread(_READ_BYTES)
                self._offset += len(self._input)
                starved = not self._input
            try:
                block = self._inflate.decompress(self._input, _INFLATE_BYTES)
            except zlib.error as error:
                raise PackError(f"is corrupt: {error}", where=self.name) from None
            self._input = self._inflate.unconsumed_tail
            self._produced += len(block)
            if self._produced > self.limit:
                raise PackError(f"unfolds to more than {self.limit} bytes", where=self.name)
            self._ended = self._inflate.eof
            if self._ended:
                self._refuse_more()
            elif starved and not block:
                raise PackError("is truncated: the compressed data end early", where=self.name)
            if block:
                return block
        return b""

    def _refuse_more(self) -> None:
        if self._inflate.unused_data or self._pread(1):
            raise PackError("has data after the end of the compressed archive", where=self.name)

    def _pread(self, size: int) -> bytes:
        try:
            return os.pread(self._file.fileno(), size, self._offset)
        except OSError as error:
            raise PackError(f"cannot be read: {error.strerror}", where=self.name) from None
        except ValueError:
            raise PackError("was closed before it was read to its end", where=self.name) from None


@dataclass(frozen=True, slots=True)
class Member:
    """A regular file in the archive; ``size`` in bytes."""

    name: str
    size: int


class TarStream:
    """Walks a tar archive of known members, once, in order.

    Args:
        stream: where the archive comes from.
        limits: the names that may occur, each at most once, and their greatest size in bytes.
    """

    def __init__(self, stream: GzipStream, limits: Mapping[str, int]) -> None:
        self._stream = stream
        self._limits = limits
        self._seen: set[str] = set()
        self._left = 0
        self._padding = 0

    def members(self) -> Iterator[Member]:
        """Every member; what was not read of one is skipped before the next.

        The walk ends only after the end mark, the padding and the checksum of the whole stream were seen.

        Raises:
            PackError: anything but regular files under the known names, or a damaged archive.
        """
        while (header := self._next_header()) is not None:
            member = self._member_of(header)
            self._left = member.size
            self._padding = -member.size % BLOCK
            yield member
            for _ in self.chunks():
                pass
            self._exactly(self._padding)

    def chunks(self) -> Iterator[bytes]:
        """The content of the current member, in pieces."""
        while self._left:
            chunk = self._stream.read(self._left)
            if not chunk:
                raise self._error("is truncated: a member ends early")
            self._left -= len(chunk)
            yield chunk

    def _next_header(self) -> tarfile.TarInfo | None:
        """The header of the next regular member, or None once the archive was seen to its very end."""
        header = self._header()
        if header is None or header.type != tarfile.XHDTYPE:
            return header
        self._check_extended(header)
        header = self._header()
        if header is None or header.type == tarfile.XHDTYPE:
            raise self._error("has an extended header that belongs to no member")
        return header

    def _header(self) -> tarfile.TarInfo | None:
        block = self._exactly(BLOCK)
        if not block.strip(b"\0"):
            self._check_end()
            return None
        try:
            return tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except (tarfile.TarError, ValueError) as error:
            raise self._error(f"has a bad tar header: {error}") from None

    def _check_extended(self, header: tarfile.TarInfo) -> None:
        if not 0 <= header.size <= MAX_EXTENDED_HEADER_BYTES:
            raise self._error(f"has an extended header of {header.size} bytes")
        body = self._exactly(header.size)
        self._exactly(-header.size % BLOCK)
        for key in _extended_keys(body):
            if key is None:
                raise self._error("has a malformed extended header")
            if key.startswith(_MEMBER_KEYS):
                raise self._error(f"changes a member's {key.decode(errors='replace')} in an extended header")

    def _member_of(self, header: tarfile.TarInfo) -> Member:
        name = header.name
        shown = ascii(name[:100])
        if name not in self._limits:
            raise self._error(
                f"holds the unexpected member {shown}",
                fix=f"a datapack holds nothing but {', '.join(self._limits)}, by these very names",
            )
        if header.type not in (tarfile.REGTYPE, tarfile.AREGTYPE):
            raise self._error(f"holds {shown} as something other than a regular file")
        if name in self._seen:
            raise self._error(f"holds {shown} twice")
        self._seen.add(name)
        if not 0 <= header.size <= min(self._limits[name], self._stream.limit - self._stream.consumed):
            raise self._error(f"declares {header.size} bytes for {shown}, which is over the limit")
        return Member(name, header.size)

    def _check_end(self) -> None:
        padding = 0
        while block := self._stream.read(_INFLATE_BYTES):
            padding += len(block)
            if block.strip(b"\0"):
                raise self._error("has data after the end of the archive")
            if padding > MAX_PADDING_BYTES:
                raise self._error(f"ends in more than {MAX_PADDING_BYTES} bytes of padding")

    def _exactly(self, size: int) -> bytes:
        """``size`` bytes (small: headers and padding)."""
        parts = []
        while size:
            part = self._stream.read(size)
            if not part:
                raise self._error("is truncated: the archive has no end mark")
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _error(self, what: str, fix: str | None = None) -> PackError:
        return PackError(what, where=self._stream.name, fix=fix)


def _extended_keys(body: bytes) -> Iterator[bytes | None]:
    """The keys of an extended header's ``<length> <key>=<value>\\n`` records; None where one is malformed."""
    start = 0
    while start < len(body):
        digits, space, _ = body[start : start + 8].partition(b" ")
        length = int(digits) if space and digits.isdigit() else 0
        record = body[start + len(digits) + 1 : start + length]
        key, equals, _ = record.partition(b"=")
        if not (record.endswith(b"\n") and equals and key) or start + length > len(body):
            yield None
            return
        yield key
        start += length
