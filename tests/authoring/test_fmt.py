"""ce-author fmt: another form, the same values, every comment kept."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lint_support import SPEC, write_problem
from ruamel.yaml import YAML

from ce_author.cli import cli
from ce_author.specformat import formatted
from ce_corpus.folder import load_folder
from ce_corpus.yamlnodes import parse_nodes
from ce_schema.cli import run_main
from ce_schema.errors import InputError
from ce_schema.spec import ProblemSpec

MESSY = """\

# yaml-language-server: $schema=x
# about the date
date: '2026-08-17'   # behind the date
task_id: "a/1"


problem_type: cuda_cpp
# above metadata
metadata: # behind metadata
    # above difficulty
    difficulty: medium # hard?
    own: {a: 1.50, "b": [x, 'y z']}
    tags:
    # above one
    - one # behind one
    - "two"
    # below the tags

    releases: [2025-1,   # the first
       2026-2
       ]
    nested:
        deep:
            - a: 1
              b: ~
            - c
    # below metadata
# about the group
group: cccl
timeout_seconds: 30.00
prompt: "a # no comment

  b"
base_image: ~
build_command: >-
    nvcc aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb # no comment
    ccccccccccccc
test_command: >-  # behind the test
  ./test.out
  --x
# the end"""

TIDY = """\
# yaml-language-server: $schema=x
task_id: "a/1"
# about the date
date: "2026-08-17"  # behind the date

problem_type: cuda_cpp
# about the group
group: cccl
prompt: |-
  a # no comment
  b
build_command: >-
    nvcc aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb # no comment
    ccccccccccccc
test_command: "./test.out --x"  # behind the test
timeout_seconds: 30.00
base_image: null
# above metadata
metadata:  # behind metadata
  # above difficulty
  difficulty: medium  # hard?
  tags:
    # above one
    - one  # behind one
    - "two"
  # below the tags

  releases: [2025-1,   # the first
     2026-2
     ]
  own: {a: 1.50, b: [x, "y z"]}
  nested:
    deep:
      - a: 1
        b: null
      - c
  # below metadata
# the end
"""


def test_the_canonical_form() -> None:
    assert formatted(MESSY, "s") == TIDY
    assert formatted(TIDY, "s") == TIDY
    assert formatted(SPEC, "s") == SPEC.replace("[2025-1, 2025-2]", '["2025-1", "2025-2"]')


@pytest.mark.parametrize("value", ["1\n ", "1\n \n", "1\n\t\n\n"])
def test_a_text_that_ends_in_a_blank_line_is_quoted(value: str) -> None:
    written = formatted(f"task_id: {json.dumps(value)}\ndate: null\n", "s")
    assert written == f"task_id: {json.dumps(value)}\ndate: null\n"
    assert formatted(written, "s") == written


def test_a_comment_without_a_place_is_refused() -> None:
    with pytest.raises(InputError, match="no place") as caught:
        formatted("metadata:\n  tags:\n    - # why\n      a: 1\n", "s")
    assert caught.value.where == "s:3:7"


@pytest.mark.parametrize("text", ["[a]", "{a: 1}", "a: 1\na: 2\n", "date: 2024-12-19\n", "a"])
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        formatted(text, "s")


_WORDS = st.text(st.sampled_from("ab 1-:#'\"\\[]{},.!|>&*%@`\n\tä"), max_size=25)
_SCALARS = st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False) | _WORDS
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("abc_", min_size=1, max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
_SPECS = st.dictionaries(st.sampled_from(list(ProblemSpec.model_fields)), _VALUES, min_size=1, max_size=6)


@settings(deadline=None, max_examples=80)
@given(spec=_SPECS, indent=st.sampled_from([2, 4, 6]), flow=st.sampled_from([False, None]), data=st.data())
def test_values_and_comments_are_kept_and_the_form_is_final(
    spec: dict[str, Any], indent: int, flow: bool | None, data: st.DataObject
) -> None:
    text = _with_comments(_dumped(spec, indent, flow), data)
    try:
        root = parse_nodes(text, "s")
    except InputError:
        return  # the writer of this test made something ambiguous
    if root.style == "flow":
        return
    try:
        written = formatted(text, "s")
    except InputError as error:
        if "no place" in error.what:
            return
        raise
    assert parse_nodes(written, "s").data == root.data
    assert formatted(written, "s") == written
    assert _marks(written) == _marks(text)
    assert written.endswith("\n")
    assert not written.startswith("\n")


def _dumped(spec: dict[str, Any], indent: int, flow: bool | None) -> str:
    writer = YAML(typ="rt")
    writer.default_flow_style = flow
    writer.indent(mapping=indent, sequence=indent, offset=indent - 2)
    stream = io.StringIO()
    writer.dump(spec, stream)
    return stream.getvalue()


def _with_comments(text: str, data: st.DataObject) -> str:
    """Comments and blank lines between lines; some land in blocks of text and are part of them."""
    lines: list[str] = []
    for number, line in enumerate(text.splitlines()):
        where = data.draw(st.sampled_from(["", "", "", "above", "behind", "blank"]))
        pad = " " * (len(line) - len(line.lstrip()))
        lines += [f"{pad}# mark {number}"] if where == "above" else []
        lines += [""] if where == "blank" else []
        lines.append(f"{line}  # mark {number}" if where == "behind" and line.strip() else line)
    return "\n".join(lines) + "\n"


def _marks(text: str) -> list[str]:
    return sorted(re.findall(r"# mark \d+", text))


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run_main(cli, "ce-author", arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "corpus.yaml").write_text("name: test\n")
    releases = {"[2025-1, 2025-2]": '["2025-1", "2025-2"]'}
    untidy = {"[kernels]": "[ kernels ]  # why", '"./test.out"\n': "'./test.out'\n"}
    write_problem(tmp_path / "problems", spec=releases | untidy)
    write_problem(tmp_path / "problems", "cuda-kernels-2", releases | {"kernels/1": "kernels/2"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fmt_writes_what_differs_and_keeps_the_behaviour(
    corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = corpus / "problems" / "cuda-kernels-1"
    before = load_folder(folder).behaviour_sha256
    assert _run("fmt") == 0
    assert capsys.readouterr().out == "problems/cuda-kernels-1/problem-spec.yaml\n"
    text = (folder / "problem-spec.yaml").read_text()
    assert "tags: [kernels]  # why\n" in text
    assert 'test_command: "./test.out"\n' in text
    assert load_folder(folder).behaviour_sha256 == before
    assert _run("fmt", "--check") == 0


def test_check_and_diff_write_nothing(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = corpus / "problems" / "cuda-kernels-1" / "problem-spec.yaml"
    before = spec.read_bytes()
    assert _run("fmt", "--check") == 1
    assert capsys.readouterr().out == "problems/cuda-kernels-1/problem-spec.yaml\n"
    assert _run("fmt", "--diff", "cuda-kernels/1") == 1
    out = capsys.readouterr().out
    assert "-  tags: [ kernels ]  # why\n+  tags: [kernels]  # why\n" in out
    assert spec.read_bytes() == before
    assert _run("fmt", "--check", "cuda-kernels/2") == 0


@pytest.mark.parametrize("defect", ["prompt: 3\n", "group: cccl\n", "x: \t1\n", "date2: 2024-12-19\n"])
def test_a_spec_with_findings_is_left_alone(
    corpus: Path, defect: str, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = corpus / "problems" / "cuda-kernels-2" / "problem-spec.yaml"
    broken = spec.read_text().replace("prompt: |\n", "old: |\n") + defect
    spec.write_text(broken)
    assert _run("fmt") == 1
    out, err = capsys.readouterr()
    assert spec.read_text() == broken
    assert "not formatted" in err
    assert "1 formatted, 0 in canonical form, 1 refused" in err
    assert out == "problems/cuda-kernels-1/problem-spec.yaml\n"
