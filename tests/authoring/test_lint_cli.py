"""ce-author lint: which problems it looks at, how it prints, how it ends."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lint_support import write_problem

from ce_author.cli import cli
from ce_author.lint import engine, lint_paths
from ce_author.lint.registry import all_rules
from ce_schema.cli import run_main


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A corpus of two problems: cuda-kernels/1 with a warning, cub/1 sound."""
    (tmp_path / "corpus.yaml").write_text("name: test\n")
    write_problem(tmp_path / "problems" / "cuda-kernels", spec={"30.0": "0.5"})
    write_problem(
        tmp_path / "problems" / "cccl", "cub-1", {'"cuda-kernels/1"': '"cub/1"', "cuda-kernels\n": "cccl\n"}
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        run_main(cli, "ce-author", arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code


def _break(corpus: Path) -> Path:
    spec = corpus / "problems" / "cccl" / "cub-1" / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace("test_command:", "tset_command:"))
    return spec


def test_text(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("lint") == 0
    assert capsys.readouterr().out == (
        "problems/cuda-kernels/cuda-kernels-1/problem-spec.yaml\n"
        "  15:18  warning  0.5 s is shorter than nvcc takes  [limits.timeout]\n"
        "      timeout_seconds: 0.5\n"
        "                       ^\n"
        "      fix: allow ten times what the reference needs\n"
        "\n"
        "2 problems, 0 errors, 1 warning\n"
    )


def test_exit_codes(corpus: Path) -> None:
    assert _run("lint", "--all") == 0
    assert _run("lint", "--all", "--strict") == 1
    assert _run("lint", "cub/1", "--strict") == 0
    _break(corpus)
    assert _run("lint", "--all") == 1
    assert _run("lint", "cub") == 1
    assert _run("lint", "cuda-kernels") == 0
    assert _run("lint", "--all", "--ignore", "schema,limits", "--strict") == 0


def test_bare_lint_means_the_problem_around_here(
    corpus: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(corpus / "problems" / "cuda-kernels" / "cuda-kernels-1" / "test")
    assert _run("lint", "--strict") == 1
    assert "1 problem, 0 errors, 1 warning" in capsys.readouterr().out
    assert _run("lint", "--all") == 0
    assert "2 problems" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cuub"], "'cuub' is neither a task nor a group here. Did you mean cub"),
        (["cub/1", "--all"], "exclude one another"),
        (["--select", "schem"], "Did you mean schema"),
        (["--ignore", "limits.timeot"], "Did you mean limits.timeout"),
        (["--explain", "limits.timeot"], "Did you mean limits.timeout"),
        (["--format", "xml"], "'xml' is not one of"),
        (["--corpus", "nowhere"], "no corpus.yaml at nowhere"),
    ],
)
def test_usage(corpus: Path, arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("lint", *arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_nothing_to_check_is_never_all_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run("lint") == 2
    assert "no corpus.yaml" in capsys.readouterr().err
    (tmp_path / "corpus.yaml").write_text("name: empty\n")
    assert _run("lint", "--all") == 2
    assert "there is no problem" in capsys.readouterr().err
    (tmp_path / "problems" / "cuda-kernels").mkdir(parents=True)
    assert _run("lint", "problems/cuda-kernels") == 2


def test_paths_need_no_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_problem(tmp_path / "somewhere")
    monkeypatch.chdir(tmp_path)
    assert _run("lint", "somewhere/cuda-kernels-1") == 0
    assert _run("lint", "somewhere") == 0


def test_json(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _break(corpus)
    assert _run("lint", "--json", "cub") == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["problems"], data["errors"], data["warnings"]) == (1, 2, 0)
    assert {(item["rule"], item["line"]) for item in data["findings"]} == {
        ("schema.unknown-key", 10),
        ("schema.missing-key", 1),
    }


def test_statistics(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("lint", "--statistics") == 0
    assert capsys.readouterr().out == "rule            severity  findings\nlimits.timeout  warning   1\n"
    assert _run("lint", "--statistics", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [
        {"rule": "limits.timeout", "severity": "warning", "count": 1}
    ]


def test_rules_are_listed_and_explained(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run("lint", "--list-rules") == 0
    assert all(rule in capsys.readouterr().out for rule in ["yaml.syntax"])
    assert _run("lint", "--list-rules", "--json") == 0
    assert [rule["id"] for rule in json.loads(capsys.readouterr().out)] == list(all_rules())
    assert _run("lint", "--explain", "timing.region") == 0
    out = capsys.readouterr().out
    assert "timing.region (warning)" in out
    assert "Why: " in out
    assert "# ce-lint: ignore=timing.region REASON" in out


def test_sarif(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _break(corpus)
    assert _run("lint", "--format", "sarif") == 1
    log = json.loads(capsys.readouterr().out)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == list(all_rules())
    assert {result["level"] for result in run["results"]} == {"error", "warning"}
    for result in run["results"]:
        _check_sarif_result(result, rules)


def _check_sarif_result(result: dict[str, Any], rules: list[dict[str, Any]]) -> None:
    """What SARIF 2.1.0 asks of a result with a place."""
    assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    assert result["message"]["text"]
    (location,) = result["locations"]
    physical = location["physicalLocation"]
    assert not physical["artifactLocation"]["uri"].startswith("/")
    assert physical["region"]["startLine"] >= 1
    assert physical["region"]["startColumn"] >= 1


def test_a_finding_about_a_whole_folder_has_no_line(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (corpus / "problems" / "cccl" / "cub-1" / "solution" / "solution.cu").unlink()
    assert _run("lint", "cub") == 1
    out = capsys.readouterr().out
    assert "problems/cccl/cub-1\n  error  has no reference solution" in out
    assert _run("lint", "cub", "--format", "sarif") == 1
    result = json.loads(capsys.readouterr().out)["runs"][0]["results"][0]
    assert "region" not in result["locations"][0]["physicalLocation"]


def test_lines_are_safe_for_a_terminal(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = corpus / "problems" / "cccl" / "cub-1" / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace("[kernels]", f'["\x1b[2J{"x" * 300}", 3]'))
    assert _run("lint", "cub") == 1
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert max(len(line) for line in out.splitlines() if "fix" not in line) < 200


# The test runner has threads of its own; the command has none.
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_many_problems_are_checked_alike_in_several_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = []
    for number in range(1, 13):
        spec = {'"cuda-kernels/1"': f'"cuda-kernels/{max(number, 2)}"', "30.0": f"0.{number}"}
        name = f"cuda-kernels-{number}"
        paths.append((write_problem(tmp_path, name, spec), name))
    monkeypatch.setattr(engine, "_WORTH_A_POOL", 4)
    alone = lint_paths(paths, processes=1)
    assert lint_paths(paths, processes=2) == alone
    assert [item.rule for item in alone].count("identity.duplicate-task") == 2
    assert [item.rule for item in alone].count("limits.timeout") == 12
