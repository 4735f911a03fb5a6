"""`ce-eval run` through its command line, on problems that need a shell only."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import ANSWER_TEST, make_problem, make_solution, problem_pack, solution_pack

from ce_eval.machine import Machine
from ce_eval.pipeline import PipelineContext, grade
from ce_eval.plan import WorkItem
from ce_schema.problem import Metadata
from ce_schema.solution import PatchSolution, SourceFile

BIN = Path(sys.executable).parent
MODES = ["local", pytest.param("sandbox", marks=pytest.mark.sandbox)]


@pytest.fixture(autouse=True)
def _bubblewrap(request):
    needs = request.node.get_closest_marker("sandbox")
    if needs and shutil.which("bwrap") is None:
        pytest.skip("not run: no bubblewrap")


def ce_eval(*words: object, cwd: Path, command: str = "ce-eval") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(BIN / command), *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=120
    )


def grades(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("mode", MODES)
def test_each_ending_gets_its_own_outcome(tmp_path, mode):
    endings = {
        "passed": "echo 42\n",
        "test_failed": "echo 41\n",
        "timed_out": "sleep 60\n",
        "crashed": "kill -SEGV $PPID; sleep 5\n",
        "output_limit": "yes >&2\n",
    }
    problems = [
        make_problem(f"numba-cuda/{n}", timeout_seconds=3.0, test_command="sh test/check.sh && true")
        for n, _ in enumerate(endings)
    ]
    pack = problem_pack(tmp_path, problems)
    solutions = [make_solution(script, f"numba-cuda/{n}") for n, script in enumerate(endings.values())]
    done = ce_eval(
        "run", solution_pack(tmp_path, solutions), "--problems", pack, "--mode", mode, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    outcomes = [grade["outcome"] for grade in grades(tmp_path / "model-graded-solutions.jsonl")]
    assert outcomes == list(endings)
    summary = json.loads(done.stdout)
    assert summary["problem_count"] == 5
    assert summary["pass_at_k"]["pass@1"] == pytest.approx(0.2)


def test_grades_carry_what_decided_them(tmp_path):
    pack = problem_pack(tmp_path, [make_problem(build_command="echo building; cp answer.sh built.sh")])
    ce_eval(
        "run", solution_pack(tmp_path, [make_solution()]), "--problems", pack, "--mode", "local", "--seed", 7,
        cwd=tmp_path,
    )  # fmt: skip
    (grade,) = grades(tmp_path / "model-graded-solutions.jsonl")
    assert grade["passed"] is True
    assert grade["skipped"] is False
    assert grade["build_output"] == "building\n"
    assert [stage["name"] for stage in grade["stages"]] == ["build", "test"]
    assert grade["environment"]["mode"] == "local"
    assert grade["seed"] == 7
    assert grade["evidence"] == "exit_code"
    assert grade["problem"]["task_id"] == grade["task_id"] == "numba-cuda/1"


def test_the_test_sees_the_seed(tmp_path):
    problem = make_problem(test_files=[SourceFile(path="test/check.sh", content='test "$CE_SEED" = 99\n')])
    pack = problem_pack(tmp_path, [problem])
    solutions = solution_pack(tmp_path, [make_solution()])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", "--seed", 99, cwd=tmp_path)
    assert json.loads(done.stdout)["pass_at_k"]["pass@1"] == 1.0


def test_pass_at_k_over_samples(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = [make_solution("echo 42\n"), make_solution("echo 1\n"), make_solution("echo 2\n")]
    done = ce_eval(
        "run", solution_pack(tmp_path, solutions), "--problems", pack, "--mode", "local", "--k", "1,3",
        cwd=tmp_path,
    )  # fmt: skip
    assert json.loads(done.stdout)["pass_at_k"]["pass@1"] == pytest.approx(1 / 3)
    assert json.loads(done.stdout)["pass_at_k"]["pass@3"] == 1.0
    assert [grade["sample"] for grade in grades(tmp_path / "model-graded-solutions.jsonl")] == [0, 1, 2]


def test_k_beyond_the_samples_is_an_error_here_and_left_out_by_the_public_command(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution()])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", "--k", "3", cwd=tmp_path)
    assert done.returncode == 2
    assert "numba-cuda/1 has 1" in done.stderr
    public = ce_eval(
        "evaluate_functional_correctness", "--release=2026-1", f"--solutions_datapack={solutions}",
        f"--problems_source={pack}", "--mode=local", "--k=(1, 3)", cwd=tmp_path, command="compute_eval",
    )  # fmt: skip
    assert public.returncode == 0, public.stderr
    passes = json.loads(public.stdout)["pass_at_k"]
    assert "pass@1" in passes
    assert "pass@3" not in passes


@pytest.mark.parametrize(("flag", "expected"), [("--fail-missing", 0.5), ("--skip-missing", 1.0)])
def test_problems_without_a_solution(tmp_path, flag, expected):
    pack = problem_pack(tmp_path, [make_problem("numba-cuda/1"), make_problem("numba-cuda/2")])
    solutions = solution_pack(tmp_path, [make_solution()])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", flag, cwd=tmp_path)
    assert json.loads(done.stdout)["pass_at_k"]["pass@1"] == expected
    assert "1 solutions, 2 problems" in done.stderr


def test_a_pack_of_one_topic_is_not_graded_on_the_rest_of_its_group(tmp_path):
    pack = problem_pack(tmp_path, [make_problem("numba-cuda/1"), make_problem("numba-cuda/2")])
    solutions = solution_pack(tmp_path, [make_solution()], task_ids=["numba-cuda/1"])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    assert json.loads(done.stdout)["problem_count"] == 1


def test_solutions_for_unknown_tasks_are_said_and_ignored(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution(), make_solution(task_id="numba-cuda/77")])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    assert done.returncode == 0
    assert "numba-cuda/77" in done.stderr
    assert len(grades(tmp_path / "model-graded-solutions.jsonl")) == 1


def test_a_pack_for_another_release_is_said(tmp_path):
    problem = make_problem(metadata=Metadata(releases=["2025-3"]))
    pack = problem_pack(tmp_path, [problem], release="2025-3")
    done = ce_eval(
        "run", solution_pack(tmp_path, [make_solution()]), "--problems", pack, "--mode", "local", cwd=tmp_path
    )
    assert done.returncode == 0
    assert "for release 2026-1, these problems are not" in done.stderr


def test_what_the_machine_cannot_run_is_skipped(tmp_path):
    pack = problem_pack(
        tmp_path, [make_problem("numba-cuda/1"), make_problem("numba-cuda/2", min_cuda_toolkit="99.0")]
    )
    solutions = solution_pack(tmp_path, [make_solution(), make_solution(task_id="numba-cuda/2")])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert summary["pass_at_k"]["pass@1"] == 1.0
    assert summary["outcomes"]["skipped"] == 1
    reason = grades(tmp_path / "model-graded-solutions.jsonl")[1]["skip_reason"]
    assert "99.0" in reason
    assert f"1 × {reason}" in done.stderr


def test_patch_solutions_are_graded(tmp_path):
    problem = make_problem(context_files=[SourceFile(path="answer.sh", content="echo 41\n")])
    patch = "--- a/answer.sh\n+++ b/answer.sh\n@@ -1 +1 @@\n-echo 41\n+echo 42\n"
    solutions = solution_pack(tmp_path, [PatchSolution(task_id="numba-cuda/1", patch=patch)])
    pack = problem_pack(tmp_path, [problem])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    assert json.loads(done.stdout)["pass_at_k"]["pass@1"] == 1.0


def test_missing_source_references_fail_before_anything_is_built(tmp_path):
    problem = make_problem(source_references="cuda.jit", build_command="touch /tmp/never")
    pack = problem_pack(tmp_path, [problem])
    solutions = solution_pack(tmp_path, [make_solution()])
    ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    (grade,) = grades(tmp_path / "model-graded-solutions.jsonl")
    assert grade["outcome"] == "source_refs_missing"
    assert grade["stages"] == []
    assert "cuda.jit" in grade["test_output"]
    ce_eval(
        "run", solutions, "--problems", pack, "--mode", "local", "--no-check-source-references", cwd=tmp_path
    )
    assert grades(tmp_path / "model-graded-solutions.jsonl")[0]["outcome"] == "passed"


def test_a_folder_of_packs_gets_a_graded_file_each(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    packs = tmp_path / "packs"
    packs.mkdir()
    solution_pack(packs, [make_solution()], name="good")
    solution_pack(packs, [make_solution("echo 0\n")], name="bad")
    done = ce_eval("run", packs, "--problems", pack, "--mode", "local", "--output-dir", "out", cwd=tmp_path)
    summary = json.loads(done.stdout)
    assert summary["good-solutions.tar.gz"]["pass_at_k"]["pass@1"] == 1.0
    assert summary["bad-solutions.tar.gz"]["pass_at_k"]["pass@1"] == 0.0
    assert sorted(path.name for path in (tmp_path / "out").glob("*.jsonl")) == [
        "bad-graded-solutions.jsonl",
        "good-graded-solutions.jsonl",
    ]


def test_packs_of_different_groups_are_not_graded_together(tmp_path):
    pack = problem_pack(tmp_path, [make_problem(), make_problem("cub/1", group="cccl")])
    packs = tmp_path / "packs"
    packs.mkdir()
    solution_pack(packs, [make_solution()], name="a")
    solution_pack(packs, [make_solution(task_id="cub/1")], name="b", groups=["cccl"])
    done = ce_eval("run", packs, "--problems", pack, "--mode", "local", cwd=tmp_path)
    assert done.returncode == 2
    assert "different groups" in done.stderr


GIVEN = ["model-solutions.tar.gz", "--problems", "2026-1-problems.tar.gz"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["nowhere.tar.gz", "--mode", "local", "--problems", "."], 2, "does not exist"),
        (GIVEN, 2, "untrusted"),
        ([*GIVEN, "--mode", "podmann"], 2, "podmann"),
        ([*GIVEN, "--mode", "podman"], 2, "--mode sandbox isolates"),
        (["model-solutions.tar.gz", "--problems", "gone.tar.gz", "--mode", "local"], 2, "does not exist"),
        ([*GIVEN, "--mode", "local", "--include", "cubb"], 2, "Did you mean cub"),
        (["2026-1-problems.tar.gz", *GIVEN[1:], "--mode", "local"], 2, "holds problems"),
        (["--mode", "local"], 2, "solutions"),
    ],
)  # fmt: skip
def test_bad_calls_say_what_is_wrong(tmp_path, words, code, message):
    problem_pack(tmp_path, [make_problem()])
    solution_pack(tmp_path, [make_solution()])
    done = ce_eval("run", *words, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_fail_under(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution("echo 0\n")])
    words = ("run", solutions, "--problems", pack, "--mode", "local", "--fail-under")
    assert ce_eval(*words, 50, cwd=tmp_path).returncode == 1
    assert ce_eval(*words, 0, cwd=tmp_path).returncode == 0


def test_fail_under_without_pass_at_1_is_refused_before_anything_runs(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution("echo 42\n")] * 2)
    done = ce_eval(
        "run", solutions, "--problems", pack, "--mode", "local", "--k", "2", "--fail-under", "9", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "fail-under: judges pass@1" in done.stderr
    assert not (tmp_path / "model-graded-solutions.jsonl").exists()


@pytest.mark.parametrize("mode", MODES)
def test_only_a_mode_that_isolates_runs_without_a_warning(tmp_path, mode):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution("echo 42\n")])
    done = ce_eval("run", solutions, "--problems", pack, "--mode", mode, cwd=tmp_path)
    assert ("NO ISOLATION" in done.stderr) == (mode == "local")


def test_solutions_for_problems_that_were_not_asked_for_are_counted(tmp_path):
    pack = problem_pack(tmp_path, [make_problem(), make_problem("cublas/1", group="cublas")])
    solutions = solution_pack(tmp_path, [make_solution("echo 42\n"), make_solution("echo 42\n", "cublas/1")])
    words = ("--mode", "local", "--include", "numba-cuda")
    done = ce_eval("run", solutions, "--problems", pack, *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1 solutions for problems that were not asked for" in done.stderr


def test_a_workspace_that_cannot_be_written_is_the_machines_fault(tmp_path):
    class Unused:
        name = "unused"

    machine = Machine((), "none", None, None, None)
    context = PipelineContext(Unused(), machine, None, tmp_path / "nowhere", seed=1)
    graded = grade(WorkItem(make_problem(), make_solution("echo 42\n"), 0, "key"), context)
    assert graded.outcome == "infrastructure_error"
    assert "could not be written" in graded.test_output


def test_a_run_that_is_repeated_grades_nothing_twice(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution(f"echo 42 # {n}\n") for n in range(3)])
    words = ("run", solutions, "--problems", pack, "--mode", "local")
    ce_eval(*words, cwd=tmp_path)
    first = (tmp_path / "model-graded-solutions.jsonl").read_bytes()
    again = ce_eval(*words, cwd=tmp_path)
    assert "3 grades reused" in again.stderr
    assert (tmp_path / "model-graded-solutions.jsonl").read_bytes() == first


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path, how):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution(f"sleep 0.2; echo 42 # {n}\n") for n in range(12)])
    words = [
        str(BIN / "ce-eval"),
        "run",
        str(solutions),
        "--problems",
        str(pack),
        "--mode",
        "local",
        "--workers",
        "2",
    ]
    running = subprocess.Popen(words, cwd=tmp_path, stderr=subprocess.PIPE, start_new_session=True)
    journal = tmp_path / "model-graded-solutions.jsonl.partial"
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        time.sleep(0.02)
    os.kill(running.pid, how)
    running.wait(timeout=10)
    assert running.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
    assert not (tmp_path / "model-graded-solutions.jsonl").exists()
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert "reused" in done.stderr
    lines = grades(tmp_path / "model-graded-solutions.jsonl")
    assert [grade["sample"] for grade in lines] == list(range(12))
    assert len({grade["key"] for grade in lines}) == 12


def test_inspect_shows_packs_and_grades(tmp_path):
    pack = problem_pack(tmp_path, [make_problem()])
    solutions = solution_pack(tmp_path, [make_solution()])
    ce_eval("run", solutions, "--problems", pack, "--mode", "local", cwd=tmp_path)
    for path in (pack, solutions, tmp_path / "model-graded-solutions.jsonl"):
        done = ce_eval("inspect", path, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        whole = json.loads(ce_eval("inspect", path, "--json", cwd=tmp_path).stdout)
        assert "numba-cuda/1" in whole["tasks"]
        one = json.loads(ce_eval("inspect", path, "--task", "numba-cuda/1", cwd=tmp_path).stdout)
        assert one["task_id"] == "numba-cuda/1"
    unknown = ce_eval("inspect", pack, "--task", "numba-cuda/11", cwd=tmp_path)
    assert unknown.returncode == 2
    assert "Did you mean numba-cuda/1" in unknown.stderr


def test_help_starts_fast_and_shows_examples(tmp_path):
    for words in ([], ["--help"], ["run", "--help"], ["inspect", "--help"]):
        done = ce_eval(*words, cwd=tmp_path)
        assert "Examples:" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"test_command": ""}, "test_command is empty"),
        ({"timeout_seconds": -1.0}, "timeout_seconds is -1"),
        ({"test_command": "true\0"}, "NUL"),
        ({"test_files": [SourceFile(path="../../check.sh", content=ANSWER_TEST)]}, "contains '..'"),
    ],
)
def test_a_defective_problem_is_an_error_and_no_grade_of_the_model(tmp_path, changes, says):
    pack = problem_pack(tmp_path, [make_problem(**changes), make_problem("cub/1", group="cccl")])
    words = ("run", solution_pack(tmp_path, [make_solution()]), "--problems", pack, "--mode", "local")
    done = ce_eval(*words, cwd=tmp_path)
    assert done.returncode == 2
    assert "numba-cuda/1 cannot be graded" in done.stderr
    assert says in done.stderr
    assert not list(tmp_path.glob("*graded*"))
