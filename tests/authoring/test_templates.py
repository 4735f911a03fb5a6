"""Every template makes a problem that lints and builds, and whose test tells its reference from its stub."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ce_author.harness import harness_version, shipped_harness
from ce_author.lint.engine import lint_folders
from ce_author.scaffold import Request, groups_with_template, scaffold, template_folder, template_root
from ce_author.specformat import formatted
from ce_author.start import create_corpus
from ce_corpus.folder import ProblemFolder, load_folder
from ce_corpus.root import find_corpus
from ce_schema.diagnostics import Severity
from ce_schema.groups import groups

KINDS = [(group.name, topic) for group in groups_with_template() for topic in group.topics or (None,)]
NAMES = [topic or group for group, topic in KINDS]
CPP = [(group, topic) for group, topic in KINDS if groups()[group].language == "cuda_cpp"]
LIBRARY_HEADERS = {
    "cublas": "cublas_v2.h",
    "cufft": "cufft.h",
    "curand": "curand.h",
    "cusparse": "cusparse.h",
    "cusolver": "cusolverDn.h",
}
STUB = "solutions/rejected/test_failed/stub"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ProblemFolder]:
    root = tmp_path_factory.mktemp("corpus")
    create_corpus(root, "demo")
    corpus = find_corpus(root)
    folders = {}
    for group, topic in KINDS:
        folder = scaffold(corpus, Request(groups()[group], topic, "medium")).folder
        folders[topic or group] = load_folder(folder, folder.name)
    return folders


def test_the_promised_groups_and_topics_have_templates() -> None:
    promised = {"cuda-runtime", "cuda-kernels", "thrust", "cub", "libcudacxx", "cublas"}
    assert promised | {"cufft", "curand", "cusparse", "cusolver", "numba-cuda"} <= set(NAMES)


def test_every_folder_of_templates_is_used() -> None:
    found = {path.parent for path in template_root().rglob("cookiecutter.json")}
    used = {template_folder(groups()[group], topic) for group, topic in KINDS}
    used |= {template_folder(groups()[group], None) for group, topic in KINDS if topic}
    assert found == used


def test_the_harness_is_in_no_template() -> None:
    assert not list(template_root().rglob("ce_harness.*"))


@pytest.mark.parametrize("name", NAMES)
def test_lints_clean_but_for_the_mark_of_the_sample(made: dict[str, ProblemFolder], name: str) -> None:
    findings = [f for f in lint_folders([made[name]]) if f.severity is not Severity.INFO]
    assert {finding.rule for finding in findings} == {"prompt.sample"}, "\n".join(map(str, findings))


@pytest.mark.parametrize("name", NAMES)
def test_spec_is_in_canonical_form(made: dict[str, ProblemFolder], name: str) -> None:
    text = (made[name].path / "problem-spec.yaml").read_text()
    assert formatted(text, name) == text


@pytest.mark.parametrize(("group", "topic"), KINDS)
def test_commands_are_the_defaults_of_the_group(
    made: dict[str, ProblemFolder], group: str, topic: str | None
) -> None:
    spec, default = made[topic or group].require_spec(), groups()[group]
    libraries = re.compile(r"( -l[a-z]+)*$")
    assert libraries.sub("", spec.build_command or "") == libraries.sub("", default.build_command or "")
    assert spec.test_command == default.test_command
    assert spec.benchmark_command == f"{default.test_command} --bench"
    assert spec.compute_capability == default.compute_capability
    assert spec.problem_type == default.language


@pytest.mark.parametrize("name", NAMES)
def test_harness_is_the_shipped_one(made: dict[str, ProblemFolder], name: str) -> None:
    label = made[name].problem.metadata.extra("harness")
    file, _, version = label.partition(" ")
    text = (made[name].path / "test/test" / file).read_text()
    assert text == shipped_harness(file)
    assert version == harness_version(text)


@pytest.mark.parametrize("name", NAMES)
def test_stub_has_the_files_of_the_reference(made: dict[str, ProblemFolder], name: str) -> None:
    reference, stub = made[name].path / "solution", made[name].path / STUB
    assert [p.name for p in reference.iterdir()] == [p.name for p in stub.iterdir()]


@pytest.mark.parametrize("name", NAMES)
def test_lines_fit_a_screen(made: dict[str, ProblemFolder], name: str) -> None:
    files = [file for file in made[name].path.rglob("*") if file.suffix in {".cu", ".h", ".py"}]
    assert files
    for file in files:
        assert max(map(len, file.read_text().splitlines())) <= 120, file


def arrange(folder: ProblemFolder, solution: Path, workspace: Path) -> None:
    for part in (folder.path / "context", folder.path / "test", solution):
        shutil.copytree(part, workspace, dirs_exist_ok=True)


def run(command: list[str], cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **variables}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def has_header(header: str, folder: Path) -> bool:
    (folder / "probe.cu").write_text(f"#include <{header}>\n")
    return run(["nvcc", "-E", "probe.cu", "-o", "probe.i"], folder).returncode == 0


@pytest.mark.nvcc
@pytest.mark.parametrize(("group", "topic"), CPP)
def test_reference_and_stub_build_without_a_warning(
    made: dict[str, ProblemFolder], group: str, topic: str | None, tmp_path: Path
) -> None:
    name = topic or group
    if not shutil.which("nvcc"):
        pytest.skip("not run: no nvcc")
    if (header := LIBRARY_HEADERS.get(name)) and not has_header(header, tmp_path):
        pytest.skip(f"not run: no {name} headers")
    folder = made[name]
    arrange(folder, folder.path / "solution", tmp_path)
    shutil.copy(folder.path / STUB / "solution.cu", tmp_path / "stub.cu")
    # The author's flags for one architecture; the test is compiled once for both solutions.
    written = (folder.require_spec().build_command or "").split()
    flags = ["-std=c++17", "-O3", "-arch=sm_90", "-I", "include"]
    assert set(flags) - {"-arch=sm_90"} <= set(written)
    for source in ("test/test_main.cu", "solution.cu", "stub.cu"):
        built = run(["nvcc", *flags, "-c", source, "-o", f"{Path(source).stem}.o"], tmp_path)
        assert (built.returncode, built.stdout + built.stderr) == (0, ""), source
    libraries = [word for word in written if word.startswith("-l")]
    for solution in ("solution.o", "stub.o"):
        linked = run(["nvcc", "-arch=sm_90", solution, "test_main.o", "-o", "test.out", *libraries], tmp_path)
        assert (linked.returncode, linked.stdout + linked.stderr) == (0, ""), solution


def simulate(folder: ProblemFolder, solution: Path, workspace: Path) -> subprocess.CompletedProcess[str]:
    if find_spec("numba") is None:
        pytest.skip("not run: numba is not installed")
    arrange(folder, solution, workspace)
    return run([sys.executable, "test/test_main.py"], workspace, NUMBA_ENABLE_CUDASIM="1")


def test_numba_reference_passes_in_the_simulator(made: dict[str, ProblemFolder], tmp_path: Path) -> None:
    folder = made["numba-cuda"]
    tested = simulate(folder, folder.path / "solution", tmp_path)
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_numba_stub_fails_in_the_simulator(made: dict[str, ProblemFolder], tmp_path: Path) -> None:
    folder = made["numba-cuda"]
    tested = simulate(folder, folder.path / STUB, tmp_path)
    assert tested.returncode == 1, tested.stdout + tested.stderr
    assert "0 of 4 passed" in tested.stdout


MUTANTS = [
    ("max(i - 1, 0)", "i - 1"),
    ("min(i + 1, x.size - 1)", "i + 1"),
    ("min(i + 1, x.size - 1)", "min(i + 2, x.size - 1)"),
    ("if i < x.size:", "if i < x.size - 1:"),
    ("if i < x.size:", "if i <= x.size:"),
    ("cuda.grid(1)", "cuda.threadIdx.x"),
    ("float32(0.5)", "float32(0.25)"),
    ("x.size + THREADS - 1", "x.size"),
    ("blocks > 0", "blocks > 1"),
]


@pytest.mark.parametrize(("right", "wrong"), MUTANTS)
def test_numba_test_kills_mutants(
    made: dict[str, ProblemFolder], tmp_path: Path, right: str, wrong: str
) -> None:
    folder = made["numba-cuda"]
    text = (folder.path / "solution/solution.py").read_text()
    assert right in text
    (tmp_path / "mutant").mkdir()
    (tmp_path / "mutant/solution.py").write_text(text.replace(right, wrong))
    tested = simulate(folder, tmp_path / "mutant", tmp_path / "workspace")
    assert tested.returncode == 1, tested.stdout
