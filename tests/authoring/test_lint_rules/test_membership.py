from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, lint, table, write_problem

RELEASES = "[2025-1, 2025-2]"


@table(
    Case("membership.duplicate", spec={RELEASES: "[2025-1, 2025-1]"}, at="problem-spec.yaml:23:22"),
    Case("membership.duplicate"),
    Case(
        "membership.order", spec={RELEASES: "[2025-10, 2025-9]"}, at="problem-spec.yaml:23:23", fix="oldest"
    ),
    Case("membership.order", spec={RELEASES: "[2025-1, internal]"}, at="problem-spec.yaml:23:22"),
    Case("membership.order", spec={RELEASES: "[internal, 2025-9, 2025-10]"}),
    Case(
        "membership.withheld", spec={": false": ": true"}, at="problem-spec.yaml:24:19", says="2025-1, 2025-2"
    ),
    Case("membership.withheld", spec={": false": ": true", RELEASES: "[internal]"}),
    Case("membership.withheld"),
    Case("membership.canary"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_a_corpus_with_a_canary_wants_it(tmp_path: Path) -> None:
    (tmp_path / "corpus.yaml").write_text('name: c\ncanary: "c0ffee"\n')
    problems = tmp_path / "problems" / "cuda-kernels"
    without = write_problem(problems)
    (found,) = lint(without, "membership.canary")
    assert str(found.location) == "P/problem-spec.yaml:20:1"
    assert found.fix == 'write canary: "c0ffee" there'
    other = write_problem(problems, "cuda-kernels-2", {"metadata:": "metadata:\n  canary: other"})
    assert [str(item.location) for item in lint(other, "membership.canary")] == ["P/problem-spec.yaml:21:11"]
    right = write_problem(problems, "cuda-kernels-3", {"metadata:": "metadata:\n  canary: c0ffee"})
    assert not lint(right, "membership.canary")
