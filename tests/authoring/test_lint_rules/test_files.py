from __future__ import annotations

from pathlib import Path

from lint_support import FILES, Case, check, table

SOLUTION, TEST, HEADER = "solution/solution.cu", "test/test/test_main.cu", "context/include/scale.h"
EDITABLE = {"metadata:": "metadata:\n  editable: [include/scale.h, gone.cu]"}
PATCH = "--- a/include/scale.h\n+++ b/include/scale.h\n@@ -1 +1 @@\n-{old}\n+void scale(int);\n"
GOOD_PATCH = PATCH.format(old="void scale(float* data, int n);")


@table(
    Case("files.missing-solution", files={SOLUTION: None}, at="", fix="solution/"),
    Case("files.missing-solution"),
    Case("files.missing-solution", files={SOLUTION: b"\xff"}),
    Case("files.missing-test", files={TEST: None}, at=""),
    Case("files.missing-test"),
    Case("files.missing-header", files={HEADER: None}, at=""),
    Case("files.missing-header", files={HEADER: None, "context/a.cuh": "int x;\n"}),
    Case("files.missing-header", files={HEADER: None}, spec={"cuda_cpp": "cuda_python"}),
    Case("files.mixed-solution", files={"solution/a.patch": "x\n"}, at="solution/a.patch"),
    Case("files.mixed-solution", files={SOLUTION: None, "solution/a.patch": GOOD_PATCH}),
    Case(
        "files.patch",
        files={SOLUTION: None, "solution/a.patch": PATCH.format(old="void other();")},
        at="solution/a.patch",
        says="does not apply",
    ),
    Case("files.patch", files={SOLUTION: None, "solution/a.patch": "@@ nonsense\n"}, at="solution/a.patch"),
    Case("files.patch", files={SOLUTION: None, "solution/a.patch": GOOD_PATCH}),
    Case(
        "files.replaces-test",
        files={"solution/test/test_main.cu": "int main() {}\n"},
        at="solution/test/test_main.cu",
    ),
    Case(
        "files.replaces-test",
        files={"solution/test/TEST_main.cu": "int x;\n"},
        at="solution/test/TEST_main.cu",
    ),
    Case(
        "files.replaces-test",
        files={"solution/test/a/b.cu": "int x;\n"},
        at="solution/test/a/b.cu",
        says="test/",
    ),
    Case("files.replaces-test", files={"solution/tests/other.cu": "int x;\n"}),
    Case(
        "files.replaces-context",
        files={"solution/include/scale.h": "int x;\n"},
        at="solution/include/scale.h",
        says="the header",
    ),
    Case("files.replaces-context", files={"solution/a.cu": "int x;\n", "context/a.cu": "int y;\n"}),
    Case("files.replaces-context", files={"solution/include/scale.h": "int x;\n"}, spec=EDITABLE),
    Case(
        "files.replaces-context",
        files={"solution/a.cu": "int x;\n", "context/a.cu": "int y;\n"},
        spec=EDITABLE,
        at="solution/a.cu",
        says="editable",
    ),
    Case("files.editable", spec=EDITABLE, at="problem-spec.yaml:21:31", says="no file gone.cu"),
    Case("files.editable", spec=EDITABLE, files={"context/gone.cu": "int x;\n"}),
    Case("files.shadowed-context", files={"test/include/scale.h": "int x;\n"}, at="test/include/scale.h"),
    Case("files.shadowed-context"),
    Case(
        "files.clash",
        files={"solution/include": "int x;\n"},
        at="context/include/scale.h",
        says="solution/include",
    ),
    Case(
        "files.clash", files={"solution/Include/scale.h": "x\n"}, at="solution/Include/scale.h", says="case"
    ),
    Case("files.clash"),
    Case("files.replaces-context", files={"solution/include/scale.h": FILES[HEADER]}),
    Case("files.hidden", files={"test/.secret": "x\n"}, at="test/.secret"),
    Case("files.hidden", files={"context/.d/x.h": "x\n"}, at="context/.d/x.h"),
    Case("files.hidden"),
    Case("files.empty", files={"context/a.h": " \n"}, at="context/a.h"),
    Case("files.empty", files={"context/p/__init__.py": ""}),
    Case("files.stray", files={"tests/a.cu": "int x;\n"}, at="tests", says="Did you mean test"),
    Case("files.stray", files={"solution.cu": "int x;\n"}, at="solution.cu"),
    Case(
        "files.stray",
        files={"NOTES.md": "n\n", "solutions/rejected/a/b.cu": "x\n", "baseline/solution.cu": "x\n"},
    ),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)
