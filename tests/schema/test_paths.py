"""Paths inside a workspace: what passes stays below the folder, in one spelling."""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ce_schema.paths import MAX_PATH_BYTES, folder_name, is_task_id, path_defect

COMPONENTS = ["a", "..", ".", "", "~", "b.cu", "\\", "\0", "é", "...", " ", ".git", "\ud800", "\x85", "-rf"]
PATHS = st.lists(st.sampled_from(COMPONENTS), max_size=6).map("/".join) | st.text(max_size=30)


@given(PATHS)
def test_total_and_what_passes_is_below_in_one_spelling(path: str) -> None:
    if path_defect(path) is not None:
        return
    joined = posixpath.normpath(posixpath.join("/workspace", path))
    assert joined.startswith("/workspace/")
    assert joined == f"/workspace/{path}"
    assert os.fsencode(path).decode() == path
    assert Path("/workspace", path).as_posix() == joined


@given(PATHS, PATHS)
def test_two_paths_that_pass_are_one_file_only_if_they_are_equal(one: str, other: str) -> None:
    if path_defect(one) is None and path_defect(other) is None and one != other:
        assert posixpath.normpath(f"/w/{one}") != posixpath.normpath(f"/w/{other}")


@pytest.mark.parametrize(
    "path", ["a", "a.cu", "src/a b/é.cuh", ".hidden", "..a/b..", "a/~b", "-x", "日本/語.h"]
)
def test_accepted(path: str) -> None:
    assert path_defect(path) is None


@pytest.mark.parametrize(
    ("path", "defect"),
    [
        ("", "is empty"),
        ("/a", "is absolute"),
        ("//a", "is absolute"),
        ("~/a", "starts with ~"),
        ("~root", "starts with ~"),
        ("..", "contains '..'"),
        ("a/../b", "contains '..'"),
        ("a/..", "contains '..'"),
        (".", "not normalised"),
        ("./a", "not normalised"),
        ("a//b", "not normalised"),
        ("a/", "not normalised"),
        ("a\\b", "backslash"),
        ("C:\\a", "backslash"),
        ("a\0b", "control character"),
        ("a\nb", "control character"),
        ("a\x7f", "control character"),
        ("a\x85", "control character"),
        ("\udc80", "lone surrogate"),
        ("a" * 256, "component longer"),
        ("é" * 128, "component longer"),
        ("a/" * 600 + "a", f"longer than {MAX_PATH_BYTES}"),
    ],
)
def test_refused(path: str, defect: str) -> None:
    assert defect in (path_defect(path) or "")


@pytest.mark.parametrize("text", ["cccl/1", "cub/12", "CUDA/0", "a.b-c+d_e/1/2", "x"])
def test_task_ids(text: str) -> None:
    assert is_task_id(text)
    assert path_defect(folder_name(text)) is None
    assert "/" not in folder_name(text)


@pytest.mark.parametrize(
    "text", ["", "/", "a/", "/a", "a//b", "../a", "a/..", ".a", "-a", "a b", "é/1", "a/1\n", "a" * 256]
)
def test_not_task_ids(text: str) -> None:
    assert not is_task_id(text)


@given(st.text(max_size=20))
def test_every_task_id_is_a_safe_folder_name(text: str) -> None:
    if is_task_id(text):
        assert path_defect(folder_name(text)) is None
