"""Lines of JSON from strangers: split exactly, parsed strictly, every defect with its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import JSON_VALUES

from ce_schema import jsonl
from ce_schema.jsonl import LineError, check_json, check_values, parse_document, parse_line, split_lines
from ce_schema.lines import encode_line, solution_adapter
from ce_schema.solution import FileSolution

GOOD = b'{"schema_version":1,"type":"file","task_id":"a/1","files":[]}\n'


def parse(raw: bytes) -> object:
    return parse_line(raw, solution_adapter(), encode_line)


def failure(raw: bytes) -> LineError:
    with pytest.raises(LineError) as error:
        parse(raw)
    return error.value


# -- splitting ---------------------------------------------------------------------------------------------


@given(st.lists(st.binary(max_size=12)), st.integers(1, 5))
def test_lines_are_those_of_the_bytes_however_they_are_cut(parts: list[bytes], size: int) -> None:
    content = b"\n".join(parts)
    chunks = (content[start : start + size] for start in range(0, len(content), size))
    lines = content.split(b"\n")
    expected = [
        (n, line + (b"\n" if n < len(lines) else b"")) for n, line in enumerate(lines, 1) if line.strip()
    ]
    assert list(split_lines(chunks)) == expected


def test_longest_line_that_is_accepted() -> None:
    assert list(split_lines(iter([b"abc\n", b"d", b"ef"]), 4)) == [(1, b"abc\n"), (2, b"def")]
    for chunks in ([b"abcd\n"], [b"ab", b"cd\n"], [b"ab", b"cde"]):
        with pytest.raises(LineError, match="longer than 4 bytes"):
            list(split_lines(iter(chunks), 4))


def test_flood_of_blank_lines() -> None:
    assert list(split_lines(iter([b"\n \r\n" * 500, b"x"]))) == [(1001, b"x")]
    with pytest.raises(LineError, match="blank lines"):
        list(split_lines(iter([b"\n" * 1001])))


# -- parsing -----------------------------------------------------------------------------------------------


def test_good_line_in_any_layout() -> None:
    item = FileSolution(task_id="a/1", files=[])
    assert parse(GOOD) == item
    spaced = json.dumps(json.loads(GOOD)).encode()
    assert parse(spaced) == parse(b"  " + spaced + b" \r\n") == item


@pytest.mark.parametrize(
    ("raw", "message", "column"),
    [
        (b"{", "is not JSON: EOF", 1),
        (b"{}", "Unable to extract tag", 0),
        (b"nul\n", "is not JSON", 4),
        (GOOD[:-2] + b"\n", "EOF while parsing", len(GOOD) - 1),
        (GOOD[:-1] + b"}\n", "trailing characters", len(GOOD)),
        (GOOD[:-1] + GOOD, "trailing characters", len(GOOD)),
        (b"\xef\xbb\xbf" + GOOD, "byte order mark", 1),
        (GOOD.replace(b"a/1", b"a\xff"), "is not JSON: invalid unicode", GOOD.find(b"a/1") + 2),
        (GOOD.replace(b"a/1", "é\0".encode()), "control character", GOOD.find(b"a/1") + 2),
        (GOOD.replace(b"a/1", rb"\ud800"), "is not JSON", 0),
        (GOOD.replace(b"a/1", rb"\udc00x"), "is not JSON", 0),
        (GOOD.replace(b"[]", b"[1]"), "file.files.0: Input should be", 0),
        (GOOD.replace(b'"a/1"', b"null"), "file.task_id: Input should be a valid string", 0),
        (GOOD.replace(b'"file"', b'"zip"'), "does not match any of the expected tags", 0),
        (GOOD.replace(b"}\n", b',"x":NaN}\n'), "NaN is not a JSON number", len(GOOD) + 4),
        (GOOD.replace(b"}\n", b',"x":-Infinity}\n'), "-Infinity is not a JSON number", len(GOOD) + 4),
        (GOOD.replace(b"}\n", b',"x":1e999}\n'), "1e999 is not a JSON number", len(GOOD) + 4),
        (GOOD.replace(b"}\n", b',"x":' + b"9" * 5000 + b"}\n"), "number out of range", 0),
        (GOOD.replace(b"}\n", b',"task_id":"b"}\n'), "the key task_id twice", len(GOOD)),
        (GOOD.replace(b"}\n", rb',"t\u0061sk_id":"b"}'), "the key task_id twice", len(GOOD)),
        (
            GOOD.replace(b"}\n", b',"x":[{"\xc3\xa9":1},{"\xc3\xa9":1,"\xc3\xa9":2}]}\n'),
            "twice",
            len(GOOD) + 20,
        ),
        (GOOD.replace(b"}\n", b',"x":' + b"[" * 300 + b"]" * 300 + b"}\n"), "recursion limit", 0),
        (GOOD.replace(b"}\n", b',"x":[' + b"{}," * 200_000 + b"0]}\n"), "more than 200000 values", 0),
        (GOOD.replace(b"[]", b"[" + b"1," * 150_000 + b"1]"), "format in 150001 places", 0),
    ],
    ids=lambda value: str(value)[:40],
)
def test_defect_and_its_column(raw: bytes, message: str, column: int) -> None:
    error = failure(raw)
    assert message in str(error)
    if column:
        assert error.place(raw) == (1, column)


def test_messages_are_short_and_printable() -> None:
    key = "\x1b[31m" + "k" * 10_000
    raw = GOOD.replace(b"}\n", b"," + json.dumps(key).encode() + b":1," + json.dumps(key).encode() + b":2}\n")
    message = str(failure(raw))
    assert len(message) < 300
    assert message.isprintable()


def test_deepest_nesting_that_is_accepted_can_be_written() -> None:
    raw = GOOD.replace(b"}\n", b',"x":' + b"[" * 198 + b"]" * 198 + b"}\n")
    assert encode_line(parse(raw)) == raw  # type: ignore[arg-type]


def test_commas_in_text_are_no_values() -> None:
    raw = GOOD.replace(b"[]", b'[{"path":"a","content":"' + rb"{\"[,]\\" * 300_000 + b'"}]')
    assert parse(raw)
    with pytest.raises(LineError, match="values"):
        check_values(b'["' + b'","' * 300_000 + b'"]')


@given(st.dictionaries(st.text(max_size=5), JSON_VALUES, max_size=4), st.booleans())
def test_strictness_refuses_no_json(value: dict[str, object], ascii_only: bool) -> None:
    try:
        raw = json.dumps(value, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:
        return
    check_json(raw)


@given(st.binary(max_size=60) | st.text(alphabet='{}[]",:\\u0eE1N-ntfa \n', max_size=40).map(str.encode))
def test_any_bytes_are_json_or_a_line_error(raw: bytes) -> None:
    for check in (check_json, parse):
        try:
            check(raw)
        except LineError as error:
            line, column = error.place(raw)
            assert line >= 1
            assert column >= 0


def test_document_tells_line_and_column() -> None:
    raw = b'{\n  "a": 1,\n  "a": 2\n}'
    with pytest.raises(LineError, match="the key a twice") as twins:
        check_json(raw)
    assert twins.value.place(raw) == (3, 3)
    raw = b'{\n  "\xc3\xa9": 1,\n  "\xc3\xa9\xc3\xa9" 2\n}'
    with pytest.raises(LineError, match="expected `:`") as syntax:
        parse_document(raw, solution_adapter())
    assert syntax.value.place(raw) == (3, 8)


def test_values_bound_holds_for_nested_containers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl, "MAX_VALUES", 10)
    check_values(b'["' + b"," * 50 + b'"]')
    with pytest.raises(LineError):
        check_values(b"[[[[[[[[[[[1]]]]]]]]]]]")
