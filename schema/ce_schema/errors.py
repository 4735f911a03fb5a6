"""The error type of the whole toolkit: what went wrong, where, and what to do about it."""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class ExitCode(IntEnum):
    """Exit codes of every command (docs/design.md §8)."""

    OK = 0
    FINDINGS = 1
    USAGE = 2
    MACHINE_LACKS = 3
    INTERRUPTED = 130


class CeError(Exception):
    """A failure the user can act on.

    Args:
        what: what is wrong, one sentence.
        where: ``path``, ``path:line`` or ``path:line:column`` (1-based), or None.
        fix: what to do, one sentence, or None.
    """

    exit_code: ExitCode = ExitCode.USAGE

    def __init__(self, what: str, *, where: str | None = None, fix: str | None = None) -> None:
        self.what = what
        self.where = where
        self.fix = fix
        super().__init__(what)

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        remedy = f" ({self.fix})" if self.fix else ""
        return f"{place}{self.what}{remedy}"


class InputError(CeError):
    """What the user handed over cannot be used: a bad file, name or value."""


class FindingsError(CeError):
    """The command did its work and what it looked at is not in order."""

    exit_code = ExitCode.FINDINGS


class MachineLacksError(CeError):
    """This machine has not what the command needs: a GPU, a compiler, a package, a sandbox."""

    exit_code = ExitCode.MACHINE_LACKS


def missing_extra(extra: str, needed_for: str) -> MachineLacksError:
    """The one-line error for a package that an optional extra would have brought."""
    return MachineLacksError(
        f"{needed_for} needs the extra '{extra}'", fix=f"pip install 'compute-eval-sdk[{extra}]'"
    )


def first_of(error: ValidationError) -> str:
    """The first thing that pydantic found wrong: ``key.path: what``, or just what."""
    first = error.errors(include_url=False)[0]
    named = ".".join(str(part) for part in first["loc"])
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{named}: {message}" if named else message


def did_you_mean(word: str, known: list[str]) -> str:
    """' Did you mean X?' with up to three near matches of ``word``, or an empty string."""
    import difflib

    near = difflib.get_close_matches(word, known, n=3, cutoff=0.6)
    if not near:
        lowered = word.lower()
        near = [name for name in known if lowered in name.lower()][:3]
    return f" Did you mean {' or '.join(near)}?" if near else ""
