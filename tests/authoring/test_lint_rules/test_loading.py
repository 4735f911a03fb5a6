from __future__ import annotations

from pathlib import Path

import pytest
from lint_support import SPEC, Case, check, lint, table, write_problem

from ce_author.lint.registry import all_rules

HEADER = "context/include/scale.h"
SPEC_FILE = "problem-spec.yaml"


@table(
    Case("text.bom", files={SPEC_FILE: b"\xef\xbb\xbf" + SPEC.encode()}, at="problem-spec.yaml:1:1"),
    Case("text.bom", files={HEADER: b"\xef\xbb\xbfvoid f();\n"}, at=f"{HEADER}:1:1", fix="without BOM"),
    Case("text.crlf", files={SPEC_FILE: SPEC.replace("\n", "\r\n")}, at="problem-spec.yaml:1:26"),
    Case("text.crlf", files={HEADER: "a\nbc\r\n"}, at=f"{HEADER}:2:3", says="byte offset 4"),
    Case("text.nul", files={SPEC_FILE: SPEC + "\0"}, at="problem-spec.yaml:25:1"),
    Case("text.nul", files={HEADER: "a\0"}, at=f"{HEADER}:1:2", says="byte offset 1"),
    Case("text.not-utf8", files={SPEC_FILE: SPEC.encode() + b"# \xff"}, at="problem-spec.yaml:25:3"),
    Case("text.not-utf8", files={HEADER: "// é\n".encode("latin-1")}, at=f"{HEADER}:1:4", says="0xe9"),
    Case("text.too-large", files={HEADER: "x" * (5 << 20)}, at=HEADER, says="4 MiB"),
    Case("yaml.syntax", files={SPEC_FILE: "a: [1\n"}, at="problem-spec.yaml:2:1"),
    Case("yaml.syntax", files={SPEC_FILE: "a:\n\tb: 1\n"}, at="problem-spec.yaml:2:1", fix="spaces"),
    Case(
        "yaml.duplicate-key",
        files={SPEC_FILE: SPEC + "group: cccl\n"},
        at="problem-spec.yaml:25:1",
        says="first in line 4",
    ),
    Case(
        "yaml.duplicate-key",
        spec={"  tags: [kernels]": "  tags: [kernels]\n  tags: []"},
        at="problem-spec.yaml:23:3",
    ),
    Case(
        "yaml.ambiguous-scalar",
        spec={'"2024-12-19"': "2024-12-19"},
        at="problem-spec.yaml:2:7",
        says="a date",
        fix='"2024-12-19"',
    ),
    Case("yaml.ambiguous-scalar", spec={"[kernels]": "[on]"}, at="problem-spec.yaml:22:10", fix='"on"'),
    Case("yaml.ambiguous-scalar", spec={"[kernels]": "[012]"}, at="problem-spec.yaml:22:10", says="octal"),
    Case("yaml.ambiguous-scalar", spec={"[kernels]": "[12:30]"}, at="problem-spec.yaml:22:10"),
    Case("yaml.ambiguous-scalar", spec={"[kernels]": "[1e3]"}, at="problem-spec.yaml:22:10"),
    Case("yaml.ambiguous-scalar", spec={"[kernels]": '["on", plain, 2025-1]'}),
    Case("yaml.alias", spec={"[kernels]": "&a [kernels]"}, at="problem-spec.yaml:22:9"),
    Case("yaml.tag", spec={"[kernels]": "!!set {a}"}, at="problem-spec.yaml:22:9"),
    Case("yaml.key", files={SPEC_FILE: SPEC + "1: a\n"}, at="problem-spec.yaml:25:1", fix="quote"),
    Case("yaml.empty", files={SPEC_FILE: "# nothing\n"}, at="problem-spec.yaml"),
    Case("yaml.documents", files={SPEC_FILE: SPEC + "---\na: 1\n"}, at="problem-spec.yaml:25:1"),
    Case("yaml.depth", files={SPEC_FILE: "a: " + "[" * 80 + "]" * 80}, at="problem-spec.yaml:1:67"),
    Case("spec.schema", files={SPEC_FILE: "- a\n"}, at="problem-spec.yaml:1:1", says="mapping"),
    Case("files.path", files={"context/a\x01b.h": "int x;\n"}, at="context/a\x01b.h", says="control"),
)
def test_rules(case: Case, tmp_path: Path) -> None:
    check(case, tmp_path)


def test_links_in_and_out(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (tmp_path / "outside.cu").write_text("// outside\n")
    (folder / "solution" / "extra.cu").symlink_to(tmp_path / "outside.cu")
    (folder / "context" / "again.h").symlink_to("include/scale.h")
    (folder / "baseline").symlink_to(folder / "solution")
    found = [item.location.path for item in lint(folder, "files.link")]
    assert found == ["P/baseline", "P/context/again.h", "P/solution/extra.cu"]


def test_a_linked_spec(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "problem-spec.yaml").rename(tmp_path / "spec")
    (folder / "problem-spec.yaml").symlink_to(tmp_path / "spec")
    assert [str(item.location) for item in lint(folder, "files.link")] == ["P/problem-spec.yaml"]


def test_a_pipe_is_no_file(tmp_path: Path) -> None:
    import os

    folder = write_problem(tmp_path)
    os.mkfifo(folder / "test" / "pipe")
    assert [str(item.location) for item in lint(folder, "files.special")] == ["P/test/pipe"]


def test_too_many_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ce_corpus.folder.MAX_FILES", 2)
    folder = write_problem(tmp_path, files={f"context/{n}.h": "int x;\n" for n in range(4)})
    assert [str(item.location) for item in lint(folder, "files.too-many")] == ["P/context"]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    folder = write_problem(tmp_path)
    (folder / "problem-spec.yaml").unlink()
    assert [str(item.location) for item in lint(folder, "text.unreadable")] == ["P/problem-spec.yaml"]


def test_every_id_that_loading_reports_is_a_rule() -> None:
    import re

    import ce_corpus

    sources = Path(ce_corpus.__file__).parent
    text = "".join((sources / f"{name}.py").read_text() for name in ("folder", "textfile", "yamltext"))
    reported = set(re.findall(r'"((?:yaml|text|files|spec)\.[a-z0-9-]+)"', text))
    assert len(reported) >= 20
    assert reported <= set(all_rules())
