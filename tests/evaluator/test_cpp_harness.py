"""The C++ harness on a machine without a GPU: what it accepts, what it refuses, what it reports.

`cpp_harness/` holds a stand-in for the CUDA runtime and the cases; each test runs one case and reads the
verdict.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import ce_eval

HERE = Path(__file__).with_name("cpp_harness")
HARNESS = Path(ce_eval.__file__).with_name("harness")
CASES = re.findall(r"^CE_TEST\((\w+)\)", (HERE / "cases.cpp").read_text(), re.MULTILINE)


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("g++")
    if compiler is None:
        pytest.skip("not run: no g++")
    output = tmp_path_factory.mktemp("cpp_harness") / "cases"
    flags = ["-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", f"-I{HERE}", f"-I{HARNESS}"]
    built = subprocess.run(
        [compiler, *flags, "-o", output, HERE / "cases.cpp"], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    return output


def run(program: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    ours = ("CE_", "COMPUTE_EVAL_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    done = subprocess.run(
        [program, *arguments], env=kept | environment, capture_output=True, text=True, check=False, timeout=60
    )
    return done.returncode, done.stdout


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("good_")])
def test_good_cases_pass(program, case):
    code, output = run(program, f"--case={case}")
    assert (code, f"PASS  {case} " in output) == (0, True), output


@pytest.mark.parametrize("case", [case for case in CASES if case.startswith("bad_") and case != "bad_exit"])
def test_bad_cases_fail_the_run(program, case):
    code, output = run(program, f"--case={case}")
    assert (code, f"FAIL  {case} " in output) == (1, True), output


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("bad_value", "y[1]: got 2, want 2.5 within 0.25; 2 of 3 wrong, largest |error| 1"),
        ("bad_size", "y: 1 values, want 2"),
        ("bad_unwritten_nan", "got nan (never written), want nan"),
        ("bad_unwritten_int", "n[0]: got -1515870811 (never written), want 1; 3 of 3 wrong"),
        ("bad_nothing_checked", "checked nothing"),
        ("bad_check", ": 1 + 1 == 3 sum is 2 [n = 7]"),
        ("bad_write_behind", "out of 20 bytes was written out of bounds, at byte 20"),
        ("bad_write_before", "at byte -4"),
        ("bad_write_nobody_looks_for", "a buffer of 5 bytes was written out of bounds, at byte 5 [n = 5]"),
        ("bad_error_left", "left cudaErrorInvalidValue"),
        ("bad_error_found_later", "the case left cudaErrorInvalidValue"),
    ],
)
def test_a_failure_says_what_and_where(program, case, message):
    assert message in run(program, f"--case={case}")[1]


def test_ending_the_process_early_is_not_a_pass(program):
    assert run(program, "--case=bad_exit")[0] == 1


def test_no_case_is_not_a_pass(program):
    assert run(program, "--case=there_is_none")[0] == 1


def test_one_failure_fails_the_run_and_the_rest_still_runs(program):
    code, output = run(program, "--case=bad_w")
    assert code == 1
    assert output.count("FAIL  bad_w") == 3


def test_a_sticky_error_ends_the_run(program):
    code, output = run(program, "--case=zz_")
    assert code == 1
    assert "zz_sticky_error_again" not in output
    assert "0 of 1 passed; the run ended early" in output


def test_the_seed_repeats_a_run(program):
    def first(seed: str, case: str) -> str:
        output = run(program, f"--case={case}", CE_SEED=seed)[1]
        assert f"CE_SEED: {seed}\n" in output
        return output[output.index("first") :][:22]

    alone, among_others = first("17", "good_random_numbers"), first("17", "good_")
    assert alone == among_others
    assert first("18", "good_random_numbers") != alone


def test_a_fresh_seed_is_printed_and_differs(program):
    outputs = {run(program, "--case=good_calls")[1].partition("\n")[0] for _ in range(3)}
    assert len(outputs) == 3
    assert all(re.fullmatch(r"CE_SEED: \d+", line) for line in outputs)


def test_a_bad_seed_is_refused(program):
    code, output = run(program, "--case=good_calls", CE_SEED="12x")
    assert code == 1
    assert "CE_SEED is not a decimal number" in output


def coverage_to(report: Path, token: str = "t") -> dict[str, str]:
    return {"COMPUTE_EVAL_SANITIZER_REPORT": str(report), "COMPUTE_EVAL_SANITIZER_TOKEN": token}


def test_coverage_counts_the_calls_of_cases_that_passed(program, tmp_path):
    report = tmp_path / "report.json"
    assert run(program, "--case=good_calls", **coverage_to(report, 'a"b\\c'))[0] == 0
    assert json.loads(report.read_text()) == {"token": 'a"b\\c', "target_launches": 3}


def test_a_failed_run_leaves_no_coverage_report(program, tmp_path):
    report = tmp_path / "report.json"
    assert run(program, "--case=bad_error_left", **coverage_to(report))[0] == 1
    assert not report.exists()


def test_a_report_that_cannot_be_written_fails_the_run(program, tmp_path):
    code, output = run(program, "--case=good_calls", **coverage_to(tmp_path / "none" / "report.json"))
    assert code == 1
    assert "coverage report" in output


def test_exact_bounds_in_a_sanitized_run(program):
    code, output = run(program, "--case=good_buffers", "--sanitized")
    assert code == 0, output


def test_what_a_sanitized_run_skips_is_said(program):
    code, output = run(program, "--case=bad_unless_sanitized", "--sanitized")
    assert code == 0
    assert "SKIP  bad_unless_sanitized: a reason\n" in output


def test_a_benchmark_reports_its_time_once_it_has_passed(program):
    code, output = run(program, "--bench", "--case=good")
    assert code == 0
    assert re.search(r"range region\nPASS  good_bench .*\nCOMPUTE_EVAL_TIME_MS: [\d.]+\n", output)
    code, output = run(program, "--bench", "--case=bad")
    assert code == 1
    assert "COMPUTE_EVAL_TIME_MS" not in output
