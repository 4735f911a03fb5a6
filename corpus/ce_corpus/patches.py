"""Applies a patch to a problem's context files, as ``git apply`` does: strictly, and whole or not at all.

The patch comes from a model, so git works in a private folder that is no repository, sees no
configuration but ours, and what it leaves behind is read as plain UTF-8 files or refused.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ce_schema.errors import InputError, MachineLacksError
from ce_schema.paths import path_defect
from ce_schema.solution import SourceFile

MAX_PATCH_BYTES = 16 << 20
# Copies and creations let few bytes of patch write many; contexts have some hundred kilobytes.
MAX_RESULT_BYTES = 64 << 20
MAX_FILES = 10_000
TIMEOUT_SECONDS = 60

_WORKSPACE = "workspace"
# Lines that can only stand between hunks: every line of a hunk starts with ' ', '+', '-' or '\'.
_BINARY = re.compile(r"^(GIT binary patch$|Binary files .* differ$)", re.MULTILINE)
_NOT_A_FILE = re.compile(r"^(?:new |old |new file |deleted file )mode (?!100)\d+$", re.MULTILINE)
_COPY = re.compile(r"^copy from ", re.MULTILINE)
_FILE = re.compile(r"^(?:diff --git |\+\+\+ )", re.MULTILINE)
_PATCH_LINE = re.compile(r"\b(?:at line |at <stdin>:|<stdin>:)(\d+)\b")
_FILE_LINE = re.compile(r"patch failed: (.+):(\d+)$")
_SETTINGS = (
    "safe.bareRepository=explicit",
    "core.autocrlf=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "core.symlinks=true",
    "apply.whitespace=nowarn",
    "apply.ignoreWhitespace=no",
)


class PatchError(InputError):
    """A patch that does not apply, or that asks for more than a patch of text files may."""


def apply_patch(context: Sequence[SourceFile], patch: str) -> list[SourceFile]:
    """The workspace after ``patch``: what is left of ``context``, in its order, then the new files.

    The context must match exactly (lines may have moved), paths start with ``a/`` and ``b/``. Modes
    have no effect.

    Args:
        context: the problem's context files.
        patch: a unified diff, with or without git's extended headers.

    Raises:
        PatchError: the patch or a context path cannot be used; nothing of the patch is applied.
        MachineLacksError: there is no git.
    """
    _check_patch(patch, context)
    git = shutil.which("git")
    if git is None:
        raise MachineLacksError("applying a patch needs git", fix="install git")
    with tempfile.TemporaryDirectory(prefix="ce-patch-") as folder:
        workspace = Path(folder, _WORKSPACE)
        workspace.mkdir()
        _write(context, workspace)
        _run_git(git, workspace, patch.encode())
        after = _read(workspace)
    before = [file.path for file in context if file.path in after]
    new = sorted(after.keys() - set(before))
    return [SourceFile(path=path, content=after[path]) for path in (*before, *new)]


def _check_patch(patch: str, context: Sequence[SourceFile]) -> None:
    """Refuse what git would apply and a solution may not hold."""
    try:
        size = len(patch.encode())
    except UnicodeEncodeError as error:
        raise PatchError("holds a lone surrogate", where=_place(patch, error.start)) from None
    if size > MAX_PATCH_BYTES:
        raise PatchError(f"is longer than {MAX_PATCH_BYTES} bytes", where="patch")
    if match := _BINARY.search(patch):
        raise PatchError("is binary; solutions are text", where=_place(patch, match.start()))
    if match := _NOT_A_FILE.search(patch):
        what = f"'{match[0]}' is not the mode of a regular file"
        raise PatchError(what, where=_place(patch, match.start()))
    copies = sum(1 for _ in _COPY.finditer(patch))
    largest = max((len(file.content) for file in context), default=0)
    if copies * largest > MAX_RESULT_BYTES:
        raise PatchError(f"writes more than {MAX_RESULT_BYTES} bytes", where="patch")
    if sum(1 for _ in _FILE.finditer(patch)) > 2 * MAX_FILES:
        raise PatchError(f"changes more than {MAX_FILES} files", where="patch")


def _place(patch: str, offset: int) -> str:
    return f"patch:{patch.count(chr(10), 0, offset) + 1}"


def _write(context: Sequence[SourceFile], workspace: Path) -> None:
    seen: set[str] = set()
    for file in context:
        if defect := path_defect(file.path):
            raise PatchError(f"the context file's path {defect}", where=ascii(file.path))
        if file.path in seen:
            raise PatchError("the context holds this file twice", where=file.path)
        seen.add(file.path)
        target = workspace / file.path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.content.encode())
        except (OSError, UnicodeEncodeError) as error:
            raise PatchError(f"the context file cannot be written: {error}", where=file.path) from None


def _run_git(git: str, workspace: Path, patch: bytes) -> None:
    command = [git, *(word for setting in _SETTINGS for word in ("-c", setting)), "apply", "-p1", "-"]
    try:
        result = subprocess.run(
            command,
            cwd=workspace,
            env=_environment(workspace.parent),
            input=patch,
            capture_output=True,
            timeout=TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise PatchError(f"takes more than {TIMEOUT_SECONDS} s to apply", where="patch") from None
    if result.returncode != 0:
        raise _error(result.stderr.decode(errors="replace"))


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C",
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        # A folder that is not there: neither what lies above nor what the context brings is a repository.
        "GIT_DIR": str(folder / "no-repository"),
        "GIT_CEILING_DIRECTORIES": str(folder.resolve()),
    }


def _error(output: str) -> PatchError:
    """What git said, with the place in the patch or in the file that it named."""
    lines = [line.removeprefix("error: ").removeprefix("fatal: ") for line in output.splitlines() if line]
    said = "; ".join(lines[:3]) or "git apply failed without a word"
    where = "patch"
    if match := _PATCH_LINE.search(said):
        where = f"patch:{match[1]}"
    elif lines and (match := _FILE_LINE.search(lines[0])):
        where = f"{match[1]}:{match[2]}"
    fix = None
    if any(words in said for words in ("pathname component", "find filename", "No such file")):
        fix = "paths in a patch start with a/ and b/ and name context files"
    return PatchError(said[:1000], where=where, fix=fix)


def _read(workspace: Path) -> dict[str, str]:
    """The files below ``workspace`` by their paths in it."""
    files: dict[str, str] = {}
    left = MAX_RESULT_BYTES
    for folder, folders, names in os.walk(workspace):
        for name in (*folders, *names):
            path = Path(folder, name)
            where = path.relative_to(workspace).as_posix()
            if defect := path_defect(where):
                raise PatchError(f"the path {where!a} {defect}", where="patch")
            status = path.lstat()
            if stat.S_ISDIR(status.st_mode):
                continue
            if not stat.S_ISREG(status.st_mode):
                raise PatchError("the patch makes this something other than a regular file", where=where)
            left -= status.st_size
            if left < 0:
                raise PatchError(f"writes more than {MAX_RESULT_BYTES} bytes", where="patch")
            files[where] = _text(path, where)
    return files


def _text(path: Path, where: str) -> str:
    try:
        return path.read_bytes().decode()
    except UnicodeDecodeError as error:
        raise PatchError(f"is not UTF-8 at byte {error.start} after the patch", where=where) from None
