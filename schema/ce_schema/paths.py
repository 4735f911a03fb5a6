"""Paths inside problems and solutions, and the names that folders take from task ids.

Such a path comes from an untrusted pack and is joined to a folder of ours, so one spelling only is
allowed: relative, normalised, forward slashes, no control characters.
"""

from __future__ import annotations

import re

TASK_ID_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$"
_TASK_ID = re.compile(TASK_ID_PATTERN.removesuffix("$") + r"\Z")
# Control characters (Cc) and surrogates (Cs) of Unicode.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
MAX_PATH_BYTES = 1024
MAX_NAME_BYTES = 255


def path_defect(path: str) -> str | None:
    """Why ``path`` may not name a file inside a workspace, or None when it may.

    The rule is syntactic and total: a path that passes, joined to a folder, names something below
    that folder in exactly one spelling (links on disk aside, which readers refuse on their own).
    """
    if not path:
        return "is empty"
    if _UNPRINTABLE.search(path):
        return "contains a control character or a lone surrogate"
    if "\\" in path:
        return "contains a backslash"
    if path.startswith("/"):
        return "is absolute"
    if path.startswith("~"):
        return "starts with ~"
    if len(path.encode()) > MAX_PATH_BYTES:
        return f"is longer than {MAX_PATH_BYTES} bytes"
    for part in path.split("/"):
        if part in {"", "."}:
            return "is not normalised (an empty or '.' component)"
        if part == "..":
            return "contains '..'"
        if len(part.encode()) > MAX_NAME_BYTES:
            return f"has a component longer than {MAX_NAME_BYTES} bytes"
    return None


def is_task_id(text: str) -> bool:
    """Whether ``text`` can be a task id: word characters in components joined by ``/``."""
    return _TASK_ID.match(text) is not None and len(text) <= MAX_NAME_BYTES


def folder_name(task_id: str) -> str:
    """The folder that holds a task: its id with ``/`` written as ``-``."""
    return task_id.replace("/", "-")


def task_id_of(folder: str) -> str:
    """The task id that a folder's name stands for: its last ``-<number>`` is ``/<number>``."""
    stem, _, number = folder.rpartition("-")
    return f"{stem}/{number}" if stem and number.isdecimal() else folder
