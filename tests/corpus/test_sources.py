"""Problems come out the same from a folder, a pack, a JSON-lines file and the hub."""

from __future__ import annotations

import sys
import types

import pytest
from support import make_problem, problem_pack, write_corpus, write_problem

from ce_corpus.sources import load_problems
from ce_schema.errors import CeError, InputError, MachineLacksError
from ce_schema.lines import encode_line


def test_a_folder_a_pack_and_a_file_give_the_same_problems(tmp_path):
    corpus = write_corpus(tmp_path / "c")
    write_problem(corpus, "numba-cuda/1")
    write_problem(corpus, "numba-cuda/2")
    from_folder = load_problems(corpus, None)
    lines = b"".join(encode_line(problem) for problem in from_folder)
    (tmp_path / "problems.jsonl").write_bytes(lines)
    pack = problem_pack(tmp_path, from_folder)
    for source in (pack, tmp_path / "problems.jsonl"):
        assert [encode_line(problem) for problem in load_problems(source, None)] == lines.splitlines(True)


def test_a_release_chooses_among_the_problems_of_a_folder(tmp_path):
    corpus = write_corpus(tmp_path)
    folder = write_problem(corpus, "numba-cuda/1")
    write_problem(corpus, "numba-cuda/2")
    spec = folder / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace("releases: []", 'releases: ["2026-1"]'))
    assert [problem.task_id for problem in load_problems(corpus, "2026-1")] == ["numba-cuda/1"]
    with pytest.raises(InputError, match="no problem of release 2025-1"):
        load_problems(corpus, "2025-1")


@pytest.mark.parametrize(
    ("source", "release", "message"),
    [
        ("gone.tar.gz", None, "does not exist"),
        ("notes.txt", None, "no source of problems"),
        (".", None, "holds no problem folder"),
        (None, None, "neither problems nor a release"),
        (None, "../../etc", "is no release"),
        (None, "2026", "is no release"),
    ],
)
def test_what_is_no_source_is_named(tmp_path, monkeypatch, source, release, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(InputError, match=message):
        load_problems(source, release)


def test_a_task_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "p.jsonl").write_bytes(encode_line(make_problem()) * 2)
    with pytest.raises(CeError, match="numba-cuda/1"):
        load_problems(tmp_path / "p.jsonl", None)


def test_a_folder_with_a_defect_is_refused_with_its_place(tmp_path):
    corpus = write_corpus(tmp_path)
    folder = write_problem(corpus)
    (folder / "problem-spec.yaml").write_text("task_id: [\n")
    with pytest.raises(CeError) as caught:
        load_problems(corpus, None)
    assert "problem-spec.yaml:2:1" in str(caught.value)


# The hub cannot be reached from a test; a stand-in for its client says what the client would.
def stand_in(monkeypatch, download):
    client = types.ModuleType("huggingface_hub")
    client.hf_hub_download = download
    errors = types.ModuleType("huggingface_hub.errors")
    errors.HfHubHTTPError = type("HfHubHTTPError", (OSError,), {})
    errors.LocalEntryNotFoundError = type("LocalEntryNotFoundError", (OSError,), {})
    monkeypatch.setitem(sys.modules, "huggingface_hub", client)
    monkeypatch.setitem(sys.modules, "huggingface_hub.errors", errors)


def test_a_release_is_read_from_the_hub(tmp_path, monkeypatch):
    (tmp_path / "p.jsonl").write_bytes(encode_line(make_problem()))
    asked = []

    def download(dataset, path, *, repo_type, token):
        asked.append((dataset, path, repo_type))
        return str(tmp_path / "p.jsonl")

    stand_in(monkeypatch, download)
    assert [problem.task_id for problem in load_problems(None, "2026-2")] == ["numba-cuda/1"]
    load_problems(None, "2025-1")
    assert asked == [
        ("nvidia/compute-eval", "data/problems.jsonl", "dataset"),
        ("nvidia/compute-eval", "data/archive/2025-1/problems.jsonl", "dataset"),
    ]


def test_a_hub_out_of_reach_and_a_missing_client_say_what_to_do(monkeypatch):
    def download(*_, **__):
        raise OSError("no route to host")

    stand_in(monkeypatch, download)
    with pytest.raises(MachineLacksError, match="no route to host") as caught:
        load_problems(None, "2026-2")
    assert "--problems" in (caught.value.fix or "")
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MachineLacksError, match="extra 'hub'"):
        load_problems(None, "2026-2")


def test_a_task_that_stands_in_two_folders_is_refused(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus, "numba-cuda/1")
    twin = write_problem(corpus, "numba-cuda/2") / "problem-spec.yaml"
    twin.write_text(twin.read_text().replace("numba-cuda/2", "numba-cuda/1"))
    with pytest.raises(InputError, match="numba-cuda/1 twice"):
        load_problems(corpus, None)
