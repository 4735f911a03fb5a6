"""`ce-author init`: a corpus that every other command takes, and nothing overwritten."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ce_author.cli import cli
from ce_author.start import create_corpus
from ce_corpus.root import find_corpus
from ce_schema.errors import InputError
from ce_schema.jsonschema_gen import SCHEMA_FILE


def init(*words: str) -> Result:
    return CliRunner().invoke(cli, ["init", *words])


def test_makes_a_corpus_with_all_of_its_parts(tmp_path: Path) -> None:
    done = init(str(tmp_path / "mine"))
    assert done.exit_code == 0, done.output
    corpus = find_corpus(tmp_path / "mine")
    assert corpus.config.name == "mine"
    assert corpus.config.canary is not None
    assert corpus.config.canary.startswith("mine canary ")
    assert all(folder.is_dir() for folder in (corpus.problems, corpus.certificates, corpus.manifests))
    assert (corpus.root / "problem-spec.schema.json").read_bytes() == SCHEMA_FILE.read_bytes()
    assert (corpus.root / ".gitattributes").read_text() == "* text eol=lf\n"
    assert "mine" in (corpus.root / "README.md").read_text()


def test_canaries_differ(tmp_path: Path) -> None:
    for name in ("a", "b"):
        create_corpus(tmp_path / name, "same")
    canaries = {find_corpus(tmp_path / name).config.canary for name in ("a", "b")}
    assert len(canaries) == 2


def test_here_with_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = init("--name", "other", "--json")
    assert done.exit_code == 0, done.output
    assert "corpus.yaml" in json.loads(done.stdout)["files"]
    assert find_corpus().config.name == "other"


def test_what_exists_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "problems").mkdir()
    (tmp_path / "problems" / "kept").write_text("kept")
    made = create_corpus(tmp_path, "a")
    assert tmp_path / "README.md" not in made
    assert (tmp_path / "README.md").read_text() == "mine"
    assert (tmp_path / "problems" / "kept").read_text() == "kept"


def test_a_corpus_is_not_started_twice(tmp_path: Path) -> None:
    create_corpus(tmp_path, "a")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(InputError, match="is a corpus already"):
        create_corpus(tmp_path, "b")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize("name", ["", "a b", "-x", "a\nproblems: /", "{name}", "a/b", "ä", "x: y"])
def test_names_that_yaml_or_a_path_would_misread_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="is no name for a corpus"):
        create_corpus(tmp_path / "new", name)
    assert not (tmp_path / "new").exists()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written") as caught:
        create_corpus(tmp_path / "file", "a")
    assert str(tmp_path / "file") in str(caught.value.where)


def test_a_file_that_does_not_fit_leaves_none_behind(tmp_path: Path) -> None:
    # The schema is longer than the two blocks which a file may have here.
    script = 'ulimit -f 2; exec "$0" -c "from ce_author.cli import main; main()" init "$1"'
    done = subprocess.run(
        ["/bin/sh", "-c", script, sys.executable, tmp_path / "mine"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "cannot be written: File too large" in done.stderr
    assert not list((tmp_path / "mine").iterdir())
