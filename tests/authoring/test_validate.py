"""`ce-author validate`: what is climbed, what is not run, and what a certificate then says."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import SPEC, write_corpus, write_problem

from ce_author.ladder import climb
from ce_author.rungs import Ground
from ce_corpus.folder import load_folder
from ce_eval.machine import probe
from ce_eval.sandbox import Completed
from ce_schema.certificate import Rung, RungStatus

BIN = Path(sys.executable).parent
WARNS = 'build_command: "echo x.cu:1: warning: y"\n'
FAST = ("--mode", "local", "--passes", "2")


def ce_author(*words: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [str(BIN / "ce-author"), *map(str, words)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=120)


def certificate(corpus: Path, task: str = "numba-cuda-1") -> dict:
    return json.loads((corpus / "certificates" / f"{task}.json").read_text())


def statuses(corpus: Path) -> dict[str, str]:
    return {rung["rung"]: rung["status"] for rung in certificate(corpus)["rungs"]}


def test_a_good_problem_climbs_to_the_top_and_is_certified(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus)
    done = ce_author("validate", "numba-cuda/1", *FAST, cwd=corpus)
    assert done.returncode == 0, done.stdout + done.stderr
    assert statuses(corpus) == {"lint": "passed", "build": "passed", "test": "passed"}
    figures = certificate(corpus)["rungs"][2]["figures"]
    assert figures["passes"] == figures["runs"] == 2
    assert figures["cases"] == {"solutions/rejected/test_failed/stub": "test_failed"}
    assert certificate(corpus)["machine"]["mode"] == "local"


@pytest.mark.parametrize(
    ("files", "rung", "reason"),
    [
        ({"solution/answer.py": "print(41)\n"}, "test", "the reference fails in run 1"),
        ({"test/test/check.py": "raise SystemExit(0)\n"}, "test", "must end in test_failed and passes"),
        ({"solutions/accepted/other/answer.py": "print(6 * 9)\n"}, "test", "must end in passed"),
        ({"solutions/rejected/timed_out/x/answer.py": "print(1)\n"}, "test", "must end in timed_out"),
        ({"solutions/rejected/lost/x/answer.py": "print(1)\n"}, "test", "is no outcome"),
        ({"solutions/rejected/timed_out/x/answer.py": "\0"}, "test", "cannot be read"),
        (
            {"problem-spec.yaml": SPEC.format(task_id="numba-cuda/1") + "unknown: 1\n"},
            "lint",
            "unknown",
        ),
        (
            {"problem-spec.yaml": SPEC.format(task_id="numba-cuda/1") + 'build_command: "false"\n'},
            "build",
            "does not build",
        ),
        (
            {"problem-spec.yaml": f"{SPEC.format(task_id='numba-cuda/1')}{WARNS}"},
            "build",
            "builds with a warning",
        ),
    ],
)  # fmt: skip
def test_what_is_not_good_enough_fails_its_rung_with_a_reason(tmp_path, files, rung, reason):
    corpus = write_corpus(tmp_path)
    write_problem(corpus, **files)
    done = ce_author("validate", "--all", *FAST, cwd=corpus)
    assert done.returncode == 1
    assert reason in done.stdout
    if (corpus / "certificates").exists():
        assert statuses(corpus)[rung] == "failed"


def test_a_stub_is_derived_where_the_problem_has_none(tmp_path):
    corpus = write_corpus(tmp_path)
    folder = write_problem(corpus, **{
        "solution/answer.py": "def main():\n    print(42)\n\n\nmain()\n",
    })  # fmt: skip
    shutil.rmtree(folder / "solutions")
    done = ce_author("validate", "--all", *FAST, cwd=corpus)
    assert done.returncode == 0, done.stdout
    assert certificate(corpus)["rungs"][2]["figures"]["cases"] == {"derived stub": "test_failed"}


def test_what_needs_a_gpu_is_not_run_without_one_and_never_passed(tmp_path):
    corpus = write_corpus(tmp_path)
    spec = SPEC.format(task_id="numba-cuda/1") + 'compute_capability: "99.0"\n'
    write_problem(corpus, **{"problem-spec.yaml": spec})
    done = ce_author("validate", "--all", *FAST, cwd=corpus)
    assert done.returncode == 0
    assert statuses(corpus)["test"] == "not_run"
    assert "not run" in done.stdout
    assert ce_author("validate", "--all", *FAST, "--require", "test", cwd=corpus).returncode == 3


def test_a_weaker_machine_does_not_wipe_out_a_certificate(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus)
    ce_author("validate", "--all", *FAST, cwd=corpus)
    before = certificate(corpus)
    for words in (("--upto", "build"), ("--passes", "1")):
        done = ce_author("validate", "--all", *FAST, *words, cwd=corpus)
        assert "kept the certificate" in done.stderr
        assert certificate(corpus) == before


def test_a_machine_without_a_gpu_does_not_wipe_out_what_one_proved(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus)
    ce_author("validate", "--all", *FAST, cwd=corpus)
    earned = certificate(corpus)
    earned["machine"]["gpu"] = "a GPU of this test's making"
    (corpus / "certificates" / "numba-cuda-1.json").write_text(json.dumps(earned))
    done = ce_author("validate", "--all", *FAST, "--passes", "3", cwd=corpus)
    assert done.returncode == 0
    assert certificate(corpus) == earned


def test_fewer_passes_than_a_release_asks_for_are_said(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus)
    assert "2 passes prove less than the 20" in ce_author("validate", "--all", *FAST, cwd=corpus).stderr


def test_a_failure_speaks_even_against_a_good_certificate(tmp_path):
    corpus = write_corpus(tmp_path)
    flag = tmp_path / "flag"
    check = (
        "import os, sys\n"
        "stub = not open('answer.py').read().startswith('print')\n"
        f"sys.exit(os.path.exists({str(flag)!r}) or stub)\n"
    )
    write_problem(corpus, **{"test/test/check.py": check})
    ce_author("validate", "--all", *FAST, cwd=corpus)
    assert statuses(corpus)["test"] == "passed"
    flag.touch()
    assert ce_author("validate", "--all", *FAST, cwd=corpus).returncode == 1
    assert statuses(corpus)["test"] == "failed"


def test_a_machine_that_fails_says_nothing_about_the_problem(tmp_path):
    class Broken:
        name = "broken"

        def run(self, job):
            return Completed(spawn_error="no process could be started")

    corpus = write_corpus(tmp_path)
    folder = load_folder(write_problem(corpus))
    ground = Ground(Broken(), probe(), tmp_path, passes=2)
    result = climb(folder, ground, Rung.TEST).rungs[-1]
    assert result.status is RungStatus.NOT_RUN
    assert "no process could be started" in result.reason
    unwritable = Ground(Broken(), probe(), tmp_path / "nowhere", passes=2)
    result = climb(folder, unwritable, Rung.TEST).rungs[1]
    assert result.status is RungStatus.NOT_RUN
    assert "could not be written" in result.reason


def test_an_interrupted_run_goes_on_with_what_is_stale(tmp_path):
    corpus = write_corpus(tmp_path)
    write_problem(corpus, "numba-cuda/1")
    ce_author("validate", "--all", *FAST, cwd=corpus)
    write_problem(corpus, "numba-cuda/2")
    done = ce_author("validate", "--all", "--stale", *FAST, cwd=corpus)
    assert "numba-cuda-2" in done.stdout
    assert "numba-cuda-1" not in done.stdout
    assert "nothing to validate" in ce_author("validate", "--all", "--stale", *FAST, cwd=corpus).stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["numba-cuda/11"], "Did you mean"),
        (["numbacuda"], "Did you mean"),
        (["numba-cuda/1", "--all"], "exclude one another"),
        (["--mode", "sandbx", "--all"], "Did you mean sandbox"),
        (["--upto", "tset", "--all"], "tset"),
    ],
)
def test_bad_calls_say_what_is_wrong(tmp_path, words, message):
    corpus = write_corpus(tmp_path)
    write_problem(corpus)
    done = ce_author("validate", *words, cwd=corpus)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_bare_validate_takes_the_problem_around_the_folder_or_what_changed(tmp_path):
    corpus = write_corpus(tmp_path)
    folder = write_problem(corpus)
    inside = ce_author("validate", *FAST, cwd=folder / "test")
    assert inside.returncode == 0, inside.stderr
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=corpus, check=True)
    nothing = ce_author("validate", *FAST, cwd=corpus)
    assert nothing.returncode == 2
    assert "no problem differs" in nothing.stderr
    (folder / "solution" / "answer.py").write_text("print(40 + 2)\n")
    assert "numba-cuda-1" in ce_author("validate", *FAST, cwd=corpus).stdout


def test_doctor_names_what_is_missing_and_how_to_get_it(tmp_path):
    done = ce_author("doctor", cwd=tmp_path)
    assert done.returncode == 0
    assert "--mode local" in done.stdout
    whole = json.loads(ce_author("doctor", "--json", cwd=tmp_path).stdout)
    assert {finding["name"] for finding in whole["findings"]} >= {"python", "driver", "nvcc", "bwrap"}
    assert all(finding["install"] for finding in whole["findings"] if finding["name"] == "bwrap")
