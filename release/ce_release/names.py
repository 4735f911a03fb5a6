"""The names of releases, their revisions and their pack files."""

from __future__ import annotations

import re
from typing import NamedTuple

from ce_schema.errors import InputError

_RELEASE = re.compile(r"[0-9]{4}-[1-9][0-9]*\Z")
_PACK_FILE = re.compile(
    r"(?P<release>.+?)(?:-r(?P<revision>[2-9]|[1-9][0-9]+)|-(?P<draft>draft))?-problems\.tar\.gz\Z"
)


class ReleaseRef(NamedTuple):
    """A release and one of its revisions; None means the newest."""

    release: str
    revision: int | None

    def __str__(self) -> str:
        return self.release if self.revision is None else f"{self.release}@{self.revision}"


class PackName(NamedTuple):
    """What a pack's file name says of it."""

    release: str
    revision: int
    draft: bool


def parse_release(text: str) -> str:
    """``text`` as the name of a release that can be planned and cut.

    Raises:
        InputError: it is no such name.
    """
    if _RELEASE.match(text):
        return text
    raise InputError(
        f"'{text}' is no release name",
        fix="a release is called YYYY-N, such as 2026-3: a year and a number from 1",
    )


def parse_ref(text: str) -> ReleaseRef:
    """``text`` as ``RELEASE`` or ``RELEASE@REVISION``.

    Raises:
        InputError: it is neither.
    """
    name, at, number = text.partition("@")
    release = parse_release(name)
    if not at:
        return ReleaseRef(release, None)
    if not re.fullmatch(r"[1-9][0-9]{0,5}", number):
        raise InputError(f"'{text}' names no revision", fix=f"write {release}@1 for the first revision")
    return ReleaseRef(release, int(number))


def pack_file(release: str, revision: int = 1, *, draft: bool = False) -> str:
    """The file name of a pack. Every revision has its own: a pack that was handed out never changes."""
    if draft:
        return f"{release}-draft-problems.tar.gz"
    return f"{release}-problems.tar.gz" if revision == 1 else f"{release}-r{revision}-problems.tar.gz"


def parse_pack_file(name: str) -> PackName | None:
    """What a file name of the form that `pack_file` gives says, or None for any other."""
    match = _PACK_FILE.match(name)
    if match is None:
        return None
    return PackName(match["release"], int(match["revision"] or 1), match["draft"] is not None)


def shown(text: str) -> str:
    """``text`` from a pack for a message: whatever could move a terminal's cursor is spelt out."""
    return text if text.isprintable() and len(text) <= 200 else ascii(text[:200])[1:-1]
