"""Text files are UTF-8 with LF, or a finding says where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ce_corpus.textfile import MAX_FILE_BYTES, decode_text, place, read_text, text_place
from ce_schema.diagnostics import Diagnostics


@pytest.mark.parametrize(
    ("data", "rule", "where"),
    [
        (b"\xef\xbb\xbfa", "text.bom", "f:1:1"),
        (b"ab\n\xc3\xa9c\0", "text.nul", "f:2:3"),
        (b"a\r\n", "text.crlf", "f:1:2"),
        (b"a\rb", "text.crlf", "f:1:2"),
        (b"\xc3\xa9\xff", "text.not-utf8", "f:1:2"),
        (b"\xed\xa0\x80", "text.not-utf8", "f:1:1"),
        (b"a" * (MAX_FILE_BYTES + 1), "text.too-large", "f"),
    ],
)
def test_findings(data: bytes, rule: str, where: str) -> None:
    diag = Diagnostics()
    assert decode_text(data, "f", diag) is None
    assert [(item.rule, str(item.location)) for item in diag.items] == [(rule, where)]


def test_every_defect_is_told() -> None:
    diag = Diagnostics()
    assert decode_text(b"\xef\xbb\xbf\0\r\xff", "f", diag) is None
    assert {item.rule for item in diag.items} == {"text.bom", "text.nul", "text.crlf", "text.not-utf8"}


def test_missing_and_large_files(tmp_path: Path) -> None:
    diag = Diagnostics()
    assert read_text(tmp_path / "none", "none", diag) is None
    (tmp_path / "large").write_bytes(b"a" * (MAX_FILE_BYTES + 1))
    assert read_text(tmp_path / "large", "large", diag) is None
    (tmp_path / "fits").write_bytes(b"a" * MAX_FILE_BYTES)
    assert read_text(tmp_path / "fits", "fits", diag) is not None
    assert [item.rule for item in diag.items] == ["text.unreadable", "text.too-large"]


@settings(deadline=None)
@given(st.binary(max_size=80))
def test_text_comes_back_to_the_byte_or_not_at_all(data: bytes) -> None:
    diag = Diagnostics()
    text = decode_text(data, "f", diag)
    assert (text is None) == bool(diag.items)
    if text is not None:
        assert text.encode() == data


@settings(deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.data())
def test_places_count_characters(text: str, data: st.DataObject) -> None:
    offset = data.draw(st.integers(0, len(text)))
    assert place(text.encode(), len(text[:offset].encode()), "f") == text_place(text, offset, "f")
