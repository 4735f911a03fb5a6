"""ce-author show: the table, one task, and JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lint_support import write_problem

from ce_author.cli import cli
from ce_corpus.certificates import write_certificate
from ce_corpus.folder import load_folder
from ce_schema.certificate import Certificate, Machine, Rung, RungResult, RungStatus
from ce_schema.cli import run_main


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run_main(cli, "ce-author", arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "corpus.yaml").write_text("name: test\n")
    kernels = tmp_path / "problems" / "cuda-kernels"
    one = load_folder(write_problem(kernels))
    write_certificate(
        tmp_path / "certificates",
        Certificate(
            task_id="cuda-kernels/1",
            behaviour_sha256=one.behaviour_sha256,
            toolkit_version="0.1.0",
            date="2026-01-02",
            machine=Machine(gpu="NVIDIA H200", driver="580", cuda_toolkit="13.0", mode="sandbox"),
            rungs=[
                RungResult(rung=Rung.LINT, status=RungStatus.PASSED),
                RungResult(rung=Rung.BUILD, status=RungStatus.NOT_RUN, reason="no nvcc"),
            ],
        ),
    )
    write_problem(kernels, "cuda-kernels-2", {"kernels/1": "kernels/2", ": false": ": true"})
    write_problem(kernels, "cuda-kernels-3", {"kernels/1": "kernels/3", "prompt:": "promt:"})
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_table(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("show") == 0
    assert capsys.readouterr().out == (
        "task            group         topic  difficulty  releases                   certificate\n"
        "cuda-kernels/1  cuda-kernels         medium      2025-1, 2025-2             current\n"
        "cuda-kernels/2  cuda-kernels         medium      2025-1, 2025-2 (withheld)  missing\n"
        "cuda-kernels/3  cuda-kernels         medium      2025-1, 2025-2             unreadable problem\n"
    )


def test_one_task(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("show", "cuda-kernels/1") == 0
    out = capsys.readouterr().out
    assert out.startswith("cuda-kernels/1  problems/cuda-kernels/cuda-kernels-1\n")
    for part in (
        "  tags                kernels\n",
        "  source_references   {all: [cudaMemcpyAsync]}\n",
        "  benchmark  ./test.out --bench\n",
        "  context/include/scale.h  1 lines, 0.0 kB\n",
        "certificate  current, 2026-01-02, NVIDIA H200, 580, 13.0, mode sandbox\n",
        "  build  not run: no nvcc\n",
    ):
        assert part in out, out


def test_a_task_with_defects_is_shown_with_them(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("show", "cuda-kernels-3") == 0
    out = capsys.readouterr().out
    assert "certificate  unreadable problem" in out
    assert "defects (see ce-author lint)\n  prompt: Field required\n" in out


def test_json(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("show", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert [fact["task_id"] for fact in facts] == ["cuda-kernels/1", "cuda-kernels/2", "cuda-kernels/3"]
    assert facts[0]["certificate"]["state"] == "current"
    assert facts[0]["files"]["test"] == [{"path": "test/test_main.cu", "bytes": 45, "lines": 1}]
    assert facts[2]["defects"]


def test_a_changed_problem_has_a_stale_certificate(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(corpus / "problems" / "cuda-kernels", spec={"30.0": "40.0"})
    assert _run("show", "--json", "cuda-kernels/1") == 0
    assert json.loads(capsys.readouterr().out)[0]["certificate"]["state"] == "stale"


def test_an_unknown_task(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("show", "cuda-kernals/1") == 2
    assert "Did you mean cuda-kernels/1" in capsys.readouterr().err
