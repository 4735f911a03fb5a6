"""Values as canonical YAML: read alike by YAML 1.1 and 1.2, and by people."""

from __future__ import annotations

import json
import re
from typing import Any

from ce_corpus.yamltext import resolve_plain

# Words that no YAML version and no reader takes for anything but text.
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*\Z")
# What a double-quoted scalar must escape beyond what JSON does.
_NOT_PRINTABLE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")
_NOT_IN_BLOCK = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]")


def flow(value: Any) -> str:
    """``value`` (None, bool, number, text, list, mapping) on one line."""
    if isinstance(value, str):
        return text_scalar(value)
    if isinstance(value, list):
        return f"[{', '.join(flow(item) for item in value)}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{text_scalar(key)}: {flow(item)}' for key, item in value.items())}}}"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value)


def text_scalar(text: str) -> str:
    """Text on one line: bare where it is a plain word, else in quotes."""
    if _WORD.match(text) and resolve_plain(text) == (text, None):
        return text
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    quoted = json.dumps(text, ensure_ascii=False)
    return _NOT_PRINTABLE.sub(lambda match: f"\\u{ord(match.group()):04x}", quoted)


def literal(text: str, indent: int) -> str | None:
    """Text as a literal block from ``|`` on, or None where a block cannot hold it.

    ``indent`` is that of the lines, two more than that of the entry that the text is the value of.
    """
    lines = text.split("\n")
    first = next((line for line in lines if line), "")
    if len(lines) < 2 or not first or _NOT_IN_BLOCK.search(text):
        return None
    # Before the first line with text, spaces count as indentation, and tabs are told apart by no one.
    before = lines[: lines.index(first)]
    if any(before) or first.startswith("\t") or not first.strip(" "):
        return None
    # A last line that shows nothing is taken for the blank lines after the block.
    if not text.rstrip("\n").rpartition("\n")[2].strip():
        return None
    step = "2" if first.startswith(" ") else ""
    if not text.endswith("\n"):
        chomp = "-"
    elif text.endswith("\n\n"):
        chomp = "+"
    else:
        chomp = ""
    body = lines if chomp == "-" else lines[:-1]
    return f"|{step}{chomp}\n" + "\n".join(" " * indent + line if line else "" for line in body)
