from __future__ import annotations

from pathlib import Path

from lint_support import Case, check, table

import ce_eval

SHIPPED = (Path(ce_eval.__file__).with_name("harness") / "ce_harness.hpp").read_text()
SHIPPED_PY = (Path(ce_eval.__file__).with_name("harness") / "ce_harness.py").read_text()
COPY, COPY_PY = "test/test/ce_harness.hpp", "test/test/ce_harness.py"
CURRENT = SHIPPED.split('#define CE_HARNESS_VERSION "')[1].split('"')[0]
LINE = SHIPPED[: SHIPPED.index("#define CE_HARNESS_VERSION")].count("\n") + 1
OLD = SHIPPED.replace(f'CE_HARNESS_VERSION "{CURRENT}"', 'CE_HARNESS_VERSION "0.9"')
LABEL = {"metadata:": 'metadata:\n  harness: "ce_harness.hpp 0.9"'}


@table(
    Case(
        "harness.version",
        files={COPY: OLD},
        at=f"{COPY}:{LINE}:29",
        says=f"version 0.9; current is {CURRENT}",
    ),
    Case("harness.version", files={COPY: SHIPPED, COPY_PY: SHIPPED_PY}),
    Case("harness.version"),
    Case("harness.edited", files={COPY: SHIPPED.replace("\n", " \n", 1)}, at=f"{COPY}:1:1"),
    Case("harness.edited", files={COPY: OLD, COPY_PY: SHIPPED_PY}),
    Case("harness.label", spec=LABEL, at="problem-spec.yaml:21:12", says="no ce_harness.hpp"),
    Case("harness.label", spec=LABEL, files={COPY: SHIPPED}, at="problem-spec.yaml:21:12", fix=CURRENT),
    Case("harness.label", spec=LABEL, files={COPY: OLD}),
    Case("harness.label", spec={"metadata:": "metadata:\n  harness: my own"}),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
