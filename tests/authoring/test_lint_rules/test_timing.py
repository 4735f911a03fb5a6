from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, table

BENCH = '"./test.out --bench"'
MODE = 'timing_mode:\n  type: region\n  include: ["scale*"]\n'
CUSTOM = {MODE: "timing_mode: {type: custom}\n"}


@table(
    Case("timing.unused", spec={BENCH: "null"}, at="problem-spec.yaml:13:3"),
    Case("timing.unused", spec={BENCH: "null", MODE: ""}),
    Case("timing.unused"),
    Case("timing.default", spec={MODE: ""}, at="problem-spec.yaml:11:20", fix="NVTX"),
    Case("timing.default", spec={MODE: "timing_mode: {type: process}\n"}, at="problem-spec.yaml:11:20"),
    Case("timing.default"),
    Case("timing.custom", spec=CUSTOM, at="problem-spec.yaml:12:21", says="COMPUTE_EVAL_TIME_MS"),
    Case("timing.custom", spec=CUSTOM, files={"test/a.cu": 'printf("COMPUTE_EVAL_TIME_MS: %f", t);\n'}),
    Case(
        "timing.region",
        spec={'["scale*"]': '["scale*", "copy_*"]'},
        at="problem-spec.yaml:14:23",
        says="copy_*",
    ),
    Case("timing.region", spec={'["scale*"]': '["*loop", "sca?e_loop", "*"]'}),
    Case("timing.region", spec={"type: region": "type: kernels", '["scale*"]': '["nothing"]'}),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
