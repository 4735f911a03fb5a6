from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, lint, table, write_problem

UNKNOWN, TYPE, ENUM = "schema.unknown-key", "schema.type", "schema.enum"


@table(
    Case(
        UNKNOWN,
        spec={"timeout_seconds:": "timeout_secnds:"},
        at="problem-spec.yaml:15:1",
        says="timeout_seconds?",
    ),
    Case(
        UNKNOWN,
        spec={"group:": "topic: x\ngroup:"},
        at="problem-spec.yaml:4:1",
        fix="move topic under metadata",
    ),
    Case(UNKNOWN, spec={"group:": "mine: x\ngroup:"}, at="problem-spec.yaml:4:1", fix="under metadata"),
    Case(UNKNOWN, spec={"  include:": "  includ:"}, at="problem-spec.yaml:14:3", says="Did you mean include"),
    Case(
        UNKNOWN,
        spec={"type: region": "type: gpu"},
        at="problem-spec.yaml:14:3",
        says="'gpu' takes no include",
    ),
    Case(UNKNOWN, spec={"  all:": "  some:"}, at="problem-spec.yaml:19:3", fix="any, all"),
    Case(UNKNOWN, spec={"  difficulty: medium": "  difficulty: medium\n  own: {a: 1}"}),
    Case(
        "schema.missing-key",
        spec={'test_command: "./test.out"\n': ""},
        at="problem-spec.yaml:1:1",
        says="'test_command'",
    ),
    Case(
        "schema.missing-key",
        spec={"  type: region\n": ""},
        at="problem-spec.yaml:13:3",
        says="in timing_mode",
    ),
    Case("schema.missing-key", spec={"timeout_seconds: 30.0\n": ""}),
    Case(
        TYPE,
        spec={'"12.0"': "12.10"},
        at="problem-spec.yaml:16:19",
        says="the number 12.1",
        fix='write "12.10"',
    ),
    Case(TYPE, spec={"[kernels]": "[3]"}, at="problem-spec.yaml:22:10", says="metadata.tags[0]", fix='"3"'),
    Case(TYPE, spec={"[kernels]": "kernels"}, at="problem-spec.yaml:22:9", fix="write [kernels]"),
    Case(TYPE, spec={"30.0": '"30"'}, at="problem-spec.yaml:15:18", fix="write 30 without quotes"),
    Case(TYPE, spec={": false": ': "false"'}, at="problem-spec.yaml:24:19", fix="write false without quotes"),
    Case(TYPE, spec={'"./test.out"': "null"}, at="problem-spec.yaml:10:15", says="must be text, not null"),
    Case(TYPE, spec={"cuda-kernels\n": "[a]\n"}, at="problem-spec.yaml:4:8", says="not a list"),
    Case(TYPE, spec={"[cudaMemcpyAsync]": "[true]"}, at="problem-spec.yaml:19:9", says="the boolean true"),
    Case(TYPE, spec={"30.0": "null", '"8.0"': "null"}),
    Case(
        ENUM,
        spec={"cuda-kernels\n": "cuda-kernel\n"},
        at="problem-spec.yaml:4:8",
        says="Did you mean cuda-kernels",
    ),
    Case(
        ENUM,
        spec={"cuda-kernels\n": "cub\n"},
        at="problem-spec.yaml:4:8",
        says="topic of the group cccl",
        fix="group: cccl",
    ),
    Case(ENUM, spec={"medium": "middle"}, at="problem-spec.yaml:21:15", fix="easy, medium, hard"),
    Case(ENUM, spec={"cuda_cpp": "cuda_c"}, at="problem-spec.yaml:3:15", says="cuda_cpp"),
    Case(ENUM, spec={"medium": "null"}),
    Case(
        "schema.pattern",
        spec={'"cuda-kernels/1"': '"cuda kernels/1"'},
        at="problem-spec.yaml:1:10",
        says="words of letters",
    ),
    Case("schema.pattern", spec={"2025-2]": '"2025"]'}, at="problem-spec.yaml:23:22", says="YYYY-N"),
    Case("schema.pattern", spec={'"12.0"': '"12"'}, at="problem-spec.yaml:16:19", says='such as "12.4"'),
    Case("schema.pattern", spec={"2025-2]": "internal]"}),
    Case("schema.range", spec={"30.0": "0"}, at="problem-spec.yaml:15:18", says="more than 0"),
    Case("schema.range", spec={"30.0": "100000"}, at="problem-spec.yaml:15:18", says="at most 86400"),
    Case("schema.range", spec={'"./test.out"': '""'}, at="problem-spec.yaml:10:15", says="not be empty"),
    Case(
        "schema.range", spec={'"cuda-kernels/1"': f'"{"a" * 256}"'}, at="problem-spec.yaml:1:10", says="255"
    ),
    Case(
        "schema.range", spec={"[cudaMemcpyAsync]": "null"}, at="problem-spec.yaml:19:3", says="name nothing"
    ),
    Case("schema.range", spec={"30.0": "86400"}),
    Case("spec.model", spec={'"2024-12-19"': "|\n  2024-12-19"}, at="problem-spec.yaml:2:7", says="date"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_a_wrong_type_is_told_once(tmp_path: Path) -> None:
    folder = write_problem(tmp_path, spec={"cuda-kernels\n": "3\n"})
    assert [item.rule for item in lint(folder, "schema")] == [TYPE]
