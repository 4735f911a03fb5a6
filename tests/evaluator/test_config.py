"""Flags and YAML for `ce-eval run` and the public command."""

from __future__ import annotations

from pathlib import Path

import pytest

from ce_eval.compat import PUBLIC_DEFAULTS, parse_flags
from ce_eval.config import build_config
from ce_schema.errors import InputError


def test_flags_win_over_the_file(tmp_path):
    file = tmp_path / "eval.yaml"
    file.write_text('release: "2026-1"\nmode: local\nk: [1, 3]\nn_workers: 8\n')
    config = build_config({"solutions": Path("x"), "mode": "sandbox", "k": None}, file)
    assert (config.release, config.mode, config.k, config.workers) == ("2026-1", "sandbox", (1, 3), 8)


def test_public_flags_win_over_public_names_in_the_file(tmp_path):
    file = tmp_path / "eval.yaml"
    file.write_text("n_workers: 8\nmode: local\nsolutions_datapack: a\n")
    config = build_config({"n_workers": 2}, file, defaults=PUBLIC_DEFAULTS)
    assert (config.workers, config.release, config.k) == (2, "2026-2", (1,))


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        ("mode: local\nworker: 3\n", ":2:", "Did you mean workers"),
        ("mode: local\nworkers: none at all\n", ":2:10", "workers"),
        ("mode: local\nk: 0\n", ":2:4", "k:"),
        ("mode: local\n\tk: 1\n", ":2:", ""),
        ("mode: local\nk: 1\nk: 2\n", ":3:1", "stands twice"),
        ("- a\n", "", "must be a mapping"),
        ("mode: local\nprofile_mode: cupti\n", ":2:15", "not available"),
    ],
)
def test_a_bad_file_is_an_error_with_its_place(tmp_path, text, where, message):
    file = tmp_path / "eval.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        build_config({"solutions": Path("x")}, file)
    assert where in (caught.value.where or "")
    assert message in str(caught.value)


def test_no_solutions_are_asked_for_in_words():
    with pytest.raises(InputError, match="no solutions were named"):
        build_config({"mode": "local"}, None)


def test_no_mode_is_never_assumed():
    with pytest.raises(InputError, match="untrusted"):
        build_config({"solutions": Path("x")}, None)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (["--k=(1, 3)"], {"k": [1, 3]}),
        (["--k", "1"], {"k": 1}),
        (["--n-workers=4"], {"n_workers": 4}),
        (["--include", '["thrust", "cub"]'], {"include": ["thrust", "cub"]}),
        (["--include=[thrust, cub]"], {"include": ["thrust", "cub"]}),
        (["--release=2026-2"], {"release": "2026-2"}),
        (["--skip_missing"], {"skip_missing": True}),
        (["--noskip_missing"], {"skip_missing": False}),
        (["--check_source_references=False"], {"check_source_references": False}),
        (["--skip-missing", "--k=1"], {"skip_missing": True, "k": 1}),
        (["--sanitizer_mode=none"], {"sanitizer_mode": "none"}),
    ],
)
def test_public_flags(words, flags):
    assert parse_flags(words) == flags


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--kk=1"], "unknown flag"),
        (["--relase=2026-2"], "Did you mean release"),
        (["packs"], "unexpected argument"),
        (["--mode"], "needs a value"),
    ],
)
def test_bad_public_flags(words, message):
    with pytest.raises(InputError, match=message):
        parse_flags(words)
