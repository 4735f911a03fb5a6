"""The test harness that problems carry a copy of: the shipped files and their versions."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

HARNESS_OF = {"cuda_cpp": "ce_harness.hpp", "cuda_python": "ce_harness.py"}
# Where a copy stands in a problem folder; tests include or import it from their own folder.
HARNESS_FOLDER = "test/test"
# The version, as its first group, in the text of a harness file.
HARNESS_VERSION = re.compile(r'^(?:#define CE_HARNESS_VERSION|VERSION =) "([^"]+)"', re.MULTILINE)


@cache
def shipped_harness(name: str) -> str:
    """The text of the harness file that this version of the toolkit ships."""
    import ce_eval

    return (Path(ce_eval.__file__).with_name("harness") / name).read_text(encoding="utf-8")


def harness_version(text: str) -> str | None:
    """The version that a harness file says it is, or None."""
    match = HARNESS_VERSION.search(text)
    return match.group(1) if match else None
