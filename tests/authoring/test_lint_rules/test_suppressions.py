from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, lint, table, write_problem

BAD = {"30.0": "0.5"}
RULE = "limits.timeout"
SPEC_LINE = "timeout_seconds: 30.0"


def _on_line(comment: str) -> dict[str, str]:
    return {SPEC_LINE: f"timeout_seconds: 0.5  # ce-lint: {comment}"}


@table(
    Case("suppress.no-reason", spec=_on_line(f"ignore={RULE}"), at="problem-spec.yaml:15:23"),
    Case("suppress.no-reason", spec=_on_line(f"ignore={RULE} it is fast")),
    Case(
        "suppress.bad-rule",
        spec=_on_line("ignore=limits.timout x"),
        at="problem-spec.yaml:15:23",
        says="limits.timeout",
    ),
    Case(
        "suppress.bad-rule",
        spec=_on_line("ignore=yaml.alias x"),
        at="problem-spec.yaml:15:23",
        says="cannot be ignored",
    ),
    Case(
        "suppress.bad-rule", spec=_on_line("ignroe=x y"), at="problem-spec.yaml:15:23", says="means anything"
    ),
    Case("suppress.bad-rule", spec=_on_line("ignore=limits x")),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def _rules(folder: Path, *select: str) -> list[str]:
    return [item.rule for item in lint(folder, *select)]


def test_a_comment_on_the_line_ignores(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, spec=_on_line(f"ignore={RULE} tiny"))
    assert _rules(folder, "limits", "suppress") == []


def test_a_comment_on_the_line_above_ignores_the_next_line_only(tmp_path: Path) -> None:
    comment = f"# ce-lint: ignore={RULE},limits.toolkit both on purpose\n# another comment\n"
    folder = write_problem(tmp_path, spec={SPEC_LINE: f"{comment}timeout_seconds: 0.5", '"12.0"': '"11.0"'})
    assert _rules(folder, "limits", "suppress") == ["limits.toolkit"]


def test_an_area_can_be_ignored(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, spec=_on_line("ignore=limits tiny"))
    assert _rules(folder, "limits", "suppress") == []


def test_a_whole_file_can_be_ignored(tmp_path: Path) -> None:
    spec = {"task_id:": f"# ce-lint: ignore-file={RULE} generated\ntask_id:", **BAD}
    assert _rules(write_problem(tmp_path, spec=spec), "limits", "suppress") == []


def test_the_spec_speaks_for_the_folder(tmp_path: Path) -> None:
    spec = {"task_id:": "# ce-lint: ignore-file=files.missing-solution not written yet\ntask_id:"}
    folder = write_problem(tmp_path, spec=spec, files={"solution/solution.cu": None})
    assert _rules(folder, "files", "suppress") == []


def test_sources_take_comments_of_their_language(tmp_path: Path) -> None:
    header = "// ce-lint: ignore-file=files.shadowed-context the test needs more of it\nvoid scale();\n"
    python = "# ce-lint: ignore-file=files.hidden wanted\n"
    folder = write_problem(tmp_path, files={"test/include/scale.h": header, "test/.x.py": python})
    assert _rules(folder, "files", "suppress") == []


def test_an_unused_comment_is_told(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, spec={SPEC_LINE: f"{SPEC_LINE}  # ce-lint: ignore={RULE} old"})
    found = lint(folder, "limits", "suppress.unused")
    assert [str(item.location) for item in found] == ["P/problem-spec.yaml:15:24"]
    assert RULE in found[0].message


def test_a_comment_for_a_rule_that_did_not_run_is_not_called_unused(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, spec={SPEC_LINE: f"{SPEC_LINE}  # ce-lint: ignore={RULE} old"})
    assert _rules(folder, "suppress", "files") == []


def test_what_cannot_be_read_cannot_be_ignored(tmp_path: Path) -> None:
    line = "timeout_seconds: 1_000  # ce-lint: ignore=yaml.ambiguous-scalar I like it"
    folder = write_problem(tmp_path, spec={SPEC_LINE: line})
    assert "yaml.ambiguous-scalar" in _rules(folder, "yaml")
