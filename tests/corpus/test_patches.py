"""Patches: what applies gives exactly the diffed files; what does not, or asks for more, is refused whole."""

from __future__ import annotations

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ce_corpus import patches
from ce_corpus.patches import PatchError, apply_patch
from ce_schema.errors import InputError, MachineLacksError
from ce_schema.solution import SourceFile

LINES = "".join(f"line {n}\n" for n in range(1, 21))


def files(**contents: str) -> list[SourceFile]:
    return [
        SourceFile(path=path.replace("__", "/").replace("_", "."), content=text)
        for path, text in contents.items()
    ]


def as_dict(result: list[SourceFile]) -> dict[str, str]:
    return {file.path: file.content for file in result}


def diff(before: dict[str, str], after: dict[str, str]) -> str:
    """A unified diff made without git."""
    parts = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old == new:
            continue
        parts.append(f"diff --git a/{path} b/{path}\n")
        if old is None:
            parts.append("new file mode 100644\n")
        if new is None:
            parts.append("deleted file mode 100644\n")
        hunks = difflib.unified_diff(
            _lines(old or ""),
            _lines(new or ""),
            "/dev/null" if old is None else f"a/{path}",
            "/dev/null" if new is None else f"b/{path}",
        )
        parts += [
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in hunks
        ]
    return "".join(parts)


def _lines(text: str) -> list[str]:
    return [line + "\n" for line in text.split("\n")[:-1]] + (
        [text.split("\n")[-1]] if text.split("\n")[-1] else []
    )


def edit(old: str, new: str, text: str = LINES) -> str:
    return diff({"a.cu": text}, {"a.cu": text.replace(old, new)})


# -- what applies ------------------------------------------------------------------------------------------


def test_changed_file_comes_back_changed_and_others_as_they_were() -> None:
    context = files(x_h="keep\n", a_cu=LINES)
    result = apply_patch(context, edit("line 10\n", "LINE TEN\n"))
    assert [file.path for file in result] == ["x.h", "a.cu"]
    assert as_dict(result) == {"x.h": "keep\n", "a.cu": LINES.replace("line 10\n", "LINE TEN\n")}


def test_several_files_new_deleted_and_renamed() -> None:
    context = files(a_cu=LINES, gone_h="bye\n", src__old_cu="one\ntwo\nthree\n")
    patch = (
        edit("line 3\n", "line three\n")
        + diff({"gone.h": "bye\n"}, {"src/new.h": "hello\n"})
        + "diff --git a/src/old.cu b/src/moved.cu\nsimilarity index 66%\nrename from src/old.cu\n"
        "rename to src/moved.cu\n--- a/src/old.cu\n+++ b/src/moved.cu\n"
        "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    )
    assert as_dict(apply_patch(context, patch)) == {
        "a.cu": LINES.replace("line 3\n", "line three\n"),
        "src/new.h": "hello\n",
        "src/moved.cu": "one\n2\nthree\n",
    }


def test_plain_diff_without_git_headers_applies() -> None:
    patch = edit("line 10\n", "LINE\n").split("\n", 1)[1]
    assert patch.startswith("--- a/a.cu")
    assert "LINE\n" in apply_patch(files(a_cu=LINES), patch)[0].content


def test_moved_lines_apply_but_changed_context_does_not() -> None:
    patch = edit("line 10\n", "LINE\n")
    moved = apply_patch(files(a_cu="new first\n" + LINES), patch)
    assert moved[0].content == "new first\n" + LINES.replace("line 10\n", "LINE\n")
    for other in ("line  9\n", "Line 9\n", "line 9 \n"):
        with pytest.raises(PatchError, match="does not apply") as error:
            apply_patch(files(a_cu=LINES.replace("line 9\n", other)), patch)
        assert error.value.where == "a.cu:7"


def test_missing_final_newlines() -> None:
    for before, after in [("a\nb", "a\nb\n"), ("a\nb\n", "a\nb"), ("a\nb", "a\nc"), ("", "a"), ("a", "")]:
        assert as_dict(apply_patch(files(a_cu=before), diff({"a.cu": before}, {"a.cu": after}))) == {
            "a.cu": after
        }


def test_line_ends_are_content() -> None:
    crlf = LINES.replace("\n", "\r\n")
    patch = edit("line 10\r\n", "LINE\r\n", crlf)
    assert apply_patch(files(a_cu=crlf), patch)[0].content == crlf.replace("line 10\r\n", "LINE\r\n")
    with pytest.raises(PatchError):
        apply_patch(files(a_cu=LINES), patch)
    with pytest.raises(PatchError):
        apply_patch(files(a_cu=crlf), edit("line 10\n", "LINE\n"))


def test_modes_of_regular_files_have_no_effect() -> None:
    patch = "diff --git a/a.cu b/a.cu\nold mode 100644\nnew mode 100755\n"
    assert as_dict(apply_patch(files(a_cu=LINES), patch)) == {"a.cu": LINES}


def test_text_around_the_patch_is_ignored() -> None:
    patch = "Here is the fix:\n```diff\n" + edit("line 10\n", "LINE\n") + "```\n"
    assert "LINE\n" in apply_patch(files(a_cu=LINES), patch)[0].content


def test_trailing_whitespace_and_tabs_stay() -> None:
    after = LINES.replace("line 10\n", "line 10 \t \n\n \n")
    assert apply_patch(files(a_cu=LINES), diff({"a.cu": LINES}, {"a.cu": after}))[0].content == after


# -- what is refused ---------------------------------------------------------------------------------------

NEW = "--- /dev/null\n+++ b/{0}\n@@ -0,0 +1 @@\n+x\n"
LINK = (
    "diff --git a/{0} b/{0}\nnew file mode 120000\nindex 0000000..2e65efe\n--- /dev/null\n+++ b/{0}\n"
    "@@ -0,0 +1 @@\n+{1}\n\\ No newline at end of file\n"
)


@pytest.mark.parametrize(
    ("patch", "message"),
    [
        ("", "No valid patches|unrecognized input"),
        ("nothing of a patch", "No valid patches|unrecognized input"),
        (edit("line 10\n", "LINE\n")[:-20], "corrupt patch|does not apply|patch failed"),
        (NEW.format("../out.cu"), "invalid path"),
        (NEW.format("/abs.cu"), "invalid path|leading pathname"),
        (NEW.format("src/../../out.cu"), "invalid path"),
        (NEW.format(".git/config"), "invalid path"),
        (NEW.format(".GIT/config"), "invalid path"),
        (NEW.format("src/.git/hooks/post-checkout"), "invalid path"),
        (NEW.format("a.cu"), "already exists"),
        (LINK.format("l", "/etc/passwd"), "mode of a regular file"),
        (LINK.format("l", "/tmp") + NEW.format("l/x"), "mode of a regular file"),
        (LINK.format("l", "a.cu").replace("120000", "160000"), "mode of a regular file"),
        ("diff --git a/a.cu b/a.cu\nold mode 100644\nnew mode 120000\n", "mode of a regular file"),
        (
            "diff --git a/b b/b\nnew file mode 100644\nindex 0000000..1\nGIT binary patch\nliteral 1\nIcmZ\n",
            "binary",
        ),
        ("diff --git a/a.cu b/a.cu\nBinary files a/a.cu and b/a.cu differ\n", "binary"),
        (NEW.format("\ud800"), "surrogate"),
        (NEW.format('"b\\001.cu"').replace('b/"b', '"b/b'), "control character"),
        ("--- a.cu\n+++ a.cu\n@@ -1 +1 @@\n-line 1\n+x\n", "pathname component|find filename"),
        ("--- a/no.cu\n+++ b/no.cu\n@@ -1 +1 @@\n-line 1\n+x\n", "No such file"),
    ],
)
def test_refused(patch: str, message: str) -> None:
    with pytest.raises(PatchError, match=message):
        apply_patch(files(a_cu=LINES), patch)


def test_one_bad_file_refuses_the_whole() -> None:
    patch = edit("line 10\n", "LINE\n") + diff({"x.h": "wrong\n"}, {"x.h": "new\n"})
    with pytest.raises(PatchError, match=r"x\.h"):
        apply_patch(files(a_cu=LINES, x_h="keep\n"), patch)


def test_corrupt_patch_names_its_line() -> None:
    patch = "--- a/a.cu\n+++ b/a.cu\n@@ -1,3 +1,3 @@\n line 1\n*line 2\n"
    with pytest.raises(PatchError, match="corrupt") as error:
        apply_patch(files(a_cu=LINES), patch)
    assert error.value.where is not None
    assert error.value.where.startswith("patch:")


def test_copies_cannot_multiply_a_file() -> None:
    big = "x" * (1 << 20) + "\n"
    patch = "".join(
        f"diff --git a/a.cu b/{n}.cu\nsimilarity index 100%\ncopy from a.cu\ncopy to {n}.cu\n"
        for n in range(100)
    )
    with pytest.raises(PatchError, match="writes more than"):
        apply_patch(files(a_cu=big), patch)


def test_too_many_files_and_too_long_a_patch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "MAX_FILES", 3)
    with pytest.raises(PatchError, match="more than 3 files"):
        apply_patch([], "".join(NEW.format(n) for n in range(7)))
    monkeypatch.setattr(patches, "MAX_PATCH_BYTES", 10)
    with pytest.raises(PatchError, match="longer than 10 bytes"):
        apply_patch([], NEW.format("x"))


def test_patch_that_takes_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patches, "TIMEOUT_SECONDS", 0)
    with pytest.raises(PatchError, match="takes more than"):
        apply_patch(files(a_cu=LINES), edit("line 10\n", "LINE\n"))


def test_absolute_path_loses_its_root_as_any_first_component() -> None:
    patch = "--- /dev/null\n+++ /tmp/abs.cu\n@@ -0,0 +1 @@\n+x\n"
    assert as_dict(apply_patch([], patch)) == {"tmp/abs.cu": "x\n"}


def test_name_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(PatchError, match="control character or a lone surrogate"):
        apply_patch([], '--- /dev/null\n+++ "b/\\377.cu"\n@@ -0,0 +1 @@\n+x\n')


@pytest.mark.parametrize("path", ["/etc/x", "../x", "a//b", "", "a\nb"])
def test_hostile_context_path(path: str) -> None:
    with pytest.raises(PatchError, match="context file"):
        apply_patch([SourceFile(path=path, content="x\n")], NEW.format("y"))


def test_context_that_contradicts_itself() -> None:
    with pytest.raises(PatchError, match="twice"):
        apply_patch([SourceFile(path="a", content=""), SourceFile(path="a", content="")], NEW.format("y"))
    with pytest.raises(PatchError, match="cannot be written"):
        apply_patch(files(a="", a__b=""), NEW.format("y"))


def test_context_cannot_pose_as_a_repository(tmp_path: Path) -> None:
    """A context may hold the files of a repository; git must read no configuration from it."""
    witness = tmp_path / "witness"
    config = (
        f'[core]\n\tbare = false\n\tfsmonitor = touch {witness}\n[filter "f"]\n\tsmudge = touch {witness}\n'
    )
    for root in ("", ".git/"):
        context = [
            SourceFile(path=f"{root}HEAD", content="ref: refs/heads/main\n"),
            SourceFile(path=f"{root}config", content=config),
            SourceFile(path=f"{root}objects/x", content=""),
            SourceFile(path=f"{root}refs/x", content=""),
            SourceFile(
                path=".gitattributes", content="*.cu filter=f text eol=crlf working-tree-encoding=UTF-16\n"
            ),
            SourceFile(path="a.cu", content=LINES),
        ]
        result = as_dict(apply_patch(context, edit("line 10\n", "LINE\n")))
        assert result["a.cu"] == LINES.replace("line 10\n", "LINE\n")
        assert not witness.exists()


def test_works_inside_a_repository_whatever_its_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitconfig").write_text(
        "[core]\nautocrlf = true\n[apply]\nwhitespace = fix\nignoreWhitespace = change\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / ".git"))
    monkeypatch.setattr(patches.tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    after = LINES.replace("line 10\n", "line 10 \t\n")
    assert apply_patch(files(a_cu=LINES), diff({"a.cu": LINES}, {"a.cu": after}))[0].content == after
    assert {entry.name for entry in tmp_path.iterdir()} == {".git", ".gitconfig"}


def test_without_git_the_machine_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(MachineLacksError, match="needs git"):
        apply_patch(files(a_cu=LINES), edit("line 10\n", "LINE\n"))


# -- properties --------------------------------------------------------------------------------------------

TEXT = st.lists(
    st.sampled_from(
        [
            "",
            "a",
            "b",
            "  x",
            "\tint i;",
            "-",
            "+",
            "@@ -1 +1 @@",
            "\\ No newline",
            "é\u2028",
            "y\r",
            "diff --git",
        ]
    )
).flatmap(lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n" if lines else ""]))
# Names of which none is a folder in another.
FILE_SETS = st.dictionaries(
    st.sampled_from(["a.cu", "src/b.cu", "src/c.h", "d/e/f.cuh", "ü.cu", "with space.h"]), TEXT
)
SLOW = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@SLOW
@given(FILE_SETS, FILE_SETS)
def test_the_diff_of_two_file_sets_applied_to_one_gives_the_other(
    before: dict[str, str], after: dict[str, str]
) -> None:
    context = [SourceFile(path=path, content=text) for path, text in before.items()]
    if before == after:
        return
    assert as_dict(apply_patch(context, diff(before, after))) == after


def git(repository: Path, *words: str) -> str:
    command = ["git", "-c", "core.autocrlf=false", *words]
    return subprocess.run(command, cwd=repository, capture_output=True, check=True).stdout.decode()


def git_tree(repository: Path, contents: dict[str, str]) -> str:
    """The name of the git tree that holds these files."""
    git(repository, "read-tree", "--empty")
    for path, text in contents.items():
        (repository / path).parent.mkdir(parents=True, exist_ok=True)
        (repository / path).write_bytes(text.encode())
    if contents:
        git(repository, "add", *contents)
    return git(repository, "write-tree").strip()


@SLOW
@given(FILE_SETS, FILE_SETS)
def test_so_does_the_diff_that_git_makes(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, str], after: dict[str, str]
) -> None:
    repository = tmp_path_factory.mktemp("repository")
    subprocess.run(["git", "init", "-q", "."], cwd=repository, check=True)
    trees = [git_tree(repository, contents) for contents in (before, after)]
    if before == after:
        return
    patch = git(repository, "diff", "--text", "--find-renames", "--find-copies", *trees)
    context = [SourceFile(path=path, content=text) for path, text in before.items()]
    assert as_dict(apply_patch(context, patch)) == after


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_any_damage_to_a_patch_is_refused_or_stays_inside(data: st.DataObject) -> None:
    patch = edit("line 10\n", "LINE\n") + NEW.format("new.cu")
    start = data.draw(st.integers(0, len(patch)))
    end = data.draw(st.integers(start, min(len(patch), start + 10)))
    patch = patch[:start] + data.draw(st.text(max_size=8)) + patch[end:]
    try:
        result = apply_patch(files(a_cu=LINES), patch)
    except InputError:
        return
    assert all(patches.path_defect(file.path) is None for file in result)
