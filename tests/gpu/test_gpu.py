"""What only a GPU can show: CUDA C++ scaffolded, proved, released and graded for real."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ce_corpus.certificates import CertificateState, certificate_state, read_certificate
from ce_corpus.folder import load_folder, read_solution
from ce_corpus.index import load_folders, problem_folders
from ce_corpus.root import find_corpus
from ce_eval.machine import probe
from ce_schema.certificate import Rung
from ce_schema.datapack import write_problem_pack, write_solution_pack
from ce_schema.solution import FileSolution, SourceFile

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
CREATED_AT = "2026-01-01T00:00:00+00:00"


@pytest.fixture(scope="module")
def mode() -> str:
    from ce_eval.sandbox import open_sandbox
    from ce_schema.errors import MachineLacksError

    if not probe().gpus:
        pytest.skip(f"not run: no GPU ({probe().no_gpu_reason})")
    try:
        open_sandbox("sandbox").close()
    except MachineLacksError:
        return "local"
    return "sandbox"


def run(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / str(words[0])), *map(str, words[1:])]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=600)


@pytest.mark.gpu
def test_a_scaffolded_kernel_problem_is_proved_and_its_solutions_told_apart(tmp_path, mode):
    run("ce-author", "init", ".", "--name", "gpu", cwd=tmp_path)
    run("ce-author", "new", "--group", "cuda-kernels", "--difficulty", "easy", cwd=tmp_path)
    done = run(
        "ce-author", "validate", "--all", "--passes", 3, "--mode", mode, "--require", "test", cwd=tmp_path
    )
    assert done.returncode == 0, done.stdout + done.stderr
    folder = load_folder(next((tmp_path / "problems").glob("*/*")))
    reference = folder.reference
    assert isinstance(reference, FileSolution)
    source = reference.files[0]
    abort = SourceFile(
        path=source.path, content=f"#include <cstdlib>\nstatic int x = (abort(), 0);\n{source.content}"
    )
    solutions = [
        reference,
        read_solution(folder.path / "solutions/rejected/test_failed/stub", reference.task_id),
        FileSolution(task_id=reference.task_id, files=[abort]),
        FileSolution(task_id=reference.task_id, files=[SourceFile(path=source.path, content="int x = ;\n")]),
    ]
    write_problem_pack(tmp_path / "p.tar.gz", [folder.packed], release="2026-9", created_at=CREATED_AT)
    write_solution_pack(
        tmp_path / "s-solutions.tar.gz", solutions, release="2026-9", created_at=CREATED_AT, groups=None
    )
    graded = run(
        "ce-eval", "run", "s-solutions.tar.gz", "--problems", "p.tar.gz", "--mode", mode, cwd=tmp_path
    )
    assert graded.returncode == 0, graded.stderr
    lines = (tmp_path / "s-graded-solutions.jsonl").read_text().splitlines()
    outcomes = [json.loads(line)["outcome"] for line in lines]
    assert outcomes == ["passed", "test_failed", "crashed", "build_failed"]
    environment = json.loads(lines[0])["environment"]
    assert environment["gpu"] == probe().gpus[0].name
    assert environment["driver"] == probe().driver


def test_the_corpus_is_certified_on_a_gpu_as_it_stands():
    corpus = find_corpus(ROOT / "corpus")
    for folder in load_folders(problem_folders(corpus.problems)):
        certificate = read_certificate(corpus.certificates, folder.problem.task_id)
        assert certificate_state(folder, certificate) is CertificateState.CURRENT, folder.label
        assert certificate is not None
        assert all(certificate.passed(rung) for rung in (Rung.LINT, Rung.BUILD, Rung.TEST)), folder.label
        assert certificate.machine.gpu, folder.label
        figures = next(result.figures for result in certificate.rungs if result.rung is Rung.TEST)
        assert figures["passes"] == figures["runs"] >= corpus.config.policy.test_passes
