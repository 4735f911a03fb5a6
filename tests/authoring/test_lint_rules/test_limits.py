from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, table

PYTHON = {"cuda_cpp": "cuda_python"}


@table(
    Case("limits.timeout", spec={"30.0": "0.5"}, at="problem-spec.yaml:15:18", says="shorter"),
    Case("limits.timeout", spec={"30.0": "7200"}, at="problem-spec.yaml:15:18", says="long time"),
    Case("limits.timeout", spec={"30.0": "600"}),
    Case("limits.timeout", spec={"30.0": "null"}),
    Case("limits.toolkit", spec={'"12.0"': '"11.8"'}, at="problem-spec.yaml:16:19", says="below 12.0"),
    Case("limits.toolkit", spec={'"12.0"': '"13.1.2"'}),
    Case("limits.capability", spec={'"8.0"': '"6.1"'}, at="problem-spec.yaml:17:21", fix='"7.5"'),
    Case("limits.capability", spec={'"8.0"': '"10.3"'}),
    Case(
        "limits.arch-list",
        spec={**PYTHON, "group:": "arch_list: [sm_80]\ngroup:"},
        at="problem-spec.yaml:4:12",
    ),
    Case("limits.arch-list", spec={"group:": "arch_list: [sm_80]\ngroup:"}),
    Case("limits.arch-list", spec={**PYTHON, "group:": "arch_list: []\ngroup:"}),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
