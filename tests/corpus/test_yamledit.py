"""Edits change what they are about, and nothing else."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ce_corpus.yamledit import SpecEditor, add_release, release_key, remove_release
from ce_corpus.yamltext import parse_yaml
from ce_schema.diagnostics import Diagnostics
from ce_schema.errors import InputError

SPEC = """\
# top
task_id: "a/1"  # the id
prompt: |
  Two
   lines.

# about metadata
metadata:
  tags:
    - one  # first
    - two
  releases: [2025-1, "2025-3"]
  empty:
  # last
timeout_seconds: 30.0
"""


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    path = tmp_path / "problem-spec.yaml"
    path.write_text(SPEC)
    return path


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("timeout_seconds",), None, "timeout_seconds: 30.0", "timeout_seconds: null"),
        (("task_id",), "b/2", '"a/1"  # the id', '"b/2"  # the id'),
        (("metadata", "empty"), True, "  empty:\n", "  empty: true\n"),
        (("metadata", "empty"), {"a": ["b"]}, "  empty:\n", "  empty: {a: [b]}\n"),
        (("metadata", "new"), "x y", "  empty:\n", '  empty:\n  new: "x y"\n'),
        (("prompt",), "one", "|\n  Two\n   lines.\n", "one\n"),
        (("prompt",), "a\nb", "|\n  Two\n   lines.\n", "|-\n  a\n  b\n"),
        (("fresh", "deep"), 3, "30.0\n", "30.0\nfresh: {deep: 3}\n"),
        (("metadata", "releases"), [], '[2025-1, "2025-3"]', "[]"),
    ],
)
def test_set_changes_only_its_value(
    spec: Path, path: tuple[str, ...], value: object, old: str, new: str
) -> None:
    editor = SpecEditor.open(spec)
    editor.set(*path, value=value)
    assert editor.save()
    assert spec.read_text() == SPEC.replace(old, new)
    assert SpecEditor.open(spec).get(*path) == value


def test_set_replaces_a_block_list(spec: Path) -> None:
    editor = SpecEditor.open(spec)
    editor.set("metadata", "tags", value=["x"])
    assert "  tags: [x]\n  releases:" in editor.text


def test_remove(spec: Path) -> None:
    editor = SpecEditor.open(spec)
    editor.remove("metadata", "tags", 0)
    assert "  tags:\n    - two\n" in editor.text
    editor.remove("metadata", "tags", 0)
    assert "  tags: []\n" in editor.text
    editor.remove("timeout_seconds")
    assert editor.text.endswith("  # last\n")
    editor.remove("not-there")
    assert editor.get("timeout_seconds") is None


def test_an_untouched_file_is_not_written(spec: Path) -> None:
    before = spec.stat().st_mtime_ns
    assert not SpecEditor.open(spec).save()
    assert spec.stat().st_mtime_ns == before


@pytest.mark.parametrize("text", ["a: 1\na: 2\n", "date: 2024-12-19\n", "a: [\n", "a: b\r\n"])
def test_files_with_defects_are_not_edited(spec: Path, text: str) -> None:
    spec.write_bytes(text.encode())
    with pytest.raises(InputError):
        SpecEditor.open(spec)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("releases: [2025-1, 2026-2]", 'releases: [2025-1, "2026-1", 2026-2]'),
        ("releases: []", 'releases: ["2026-1"]'),
        ("releases:", 'releases: ["2026-1"]'),
        (
            "releases:\n    - internal\n    - 2025-3 # x",
            'releases:\n    - internal\n    - 2025-3 # x\n    - "2026-1"',
        ),
        ("releases:\n  - 2027-1", 'releases:\n  - "2026-1"\n  - 2027-1'),
        ("tags: []", 'tags: []\n  releases: ["2026-1"]'),
    ],
)
def test_releases_are_added_in_order_and_taken_away(tmp_path: Path, before: str, after: str) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(f"metadata:\n  {before}\nlast: 1\n")
    assert add_release(path, "2026-1")
    assert path.read_text() == f"metadata:\n  {after}\nlast: 1\n"
    assert not add_release(path, "2026-1")
    assert remove_release(path, "2026-1")
    assert not remove_release(path, "2026-1")
    assert "2026-1" not in path.read_text()


def test_releases_sort_by_age() -> None:
    names = ["2026-10", "internal", "2026-2", "2025-3"]
    assert sorted(names, key=release_key) == ["internal", "2025-3", "2026-2", "2026-10"]
    assert release_key("²-1") == ()  # a digit to some, but no number


_SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(min_size=1, max_size=6), inner, max_size=3)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(
    value=_VALUES, path=st.sampled_from([("task_id",), ("prompt",), ("metadata", "tags"), ("metadata", "x")])
)
def test_any_value_comes_back(value: object, path: tuple[str, ...]) -> None:
    editor = SpecEditor(Path("s"), SPEC)
    editor.set(*path, value=value)
    assert editor.get(*path) == value
    diag = Diagnostics()
    document = parse_yaml(editor.text, "s", diag)
    assert document is not None
    assert not diag.items
    expected = deepcopy(SpecEditor(Path("s"), SPEC).get())
    target = expected
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    assert document.data == expected
