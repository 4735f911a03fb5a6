from __future__ import annotations

import json
from pathlib import Path

import pytest
from release_support import Workshop

from ce_corpus.certificates import CertificateState
from ce_release.candidates import Candidate
from ce_release.packs import PackedTask, load_pack
from ce_release.revise import revised_lines
from ce_schema.lines import encode_line, problem_adapter
from ce_schema.problem import CudaCppProblem, Metadata
from ce_schema.solution import FileSolution, SourceFile

REASON = "cub/1=the test accepted anything"


def fix(workshop: Workshop, task: str = "cub/1") -> None:
    workshop.problem(task, group="cccl", test="int main() { return 3; }\n", metadata="  topic: cub\n")
    workshop.commit()


def test_a_revision_changes_what_it_says_and_nothing_else(released: Workshop) -> None:
    fix(released)
    result = released.cut("2026-1", "--revision", "--reason", REASON, "--json")
    assert result.code == 0
    assert result.json["changed"] == ["cub/1"]
    path = released.pack("2026-1-r2-problems.tar.gz")
    before, after = load_pack(released.pack()), load_pack(path)
    assert list(before.tasks) == list(after.tasks)
    assert [t for t in after.tasks if after.tasks[t].raw != before.tasks[t].raw] == ["cub/1"]
    assert (after.metadata.model_extra or {})["revision"] == 2
    manifest = released.manifest()
    assert [revision.revision for revision in manifest.revisions] == [1, 2]
    assert manifest.latest.reasons == {"cub/1": "the test accepted anything"}
    assert manifest.latest.pack.file == path.name


def test_a_third_revision_builds_on_the_second(released: Workshop) -> None:
    fix(released)
    released.cut("2026-1", "--revision", "--reason", REASON)
    released.commit()
    released.problem("cuda-kernels/2", prompt="Write k() well.")
    released.commit()
    result = released.cut("2026-1", "--revision", "--reason", "cuda-kernels/2=ambiguous")
    assert result.code == 0, result.out + result.err
    assert [sorted(revision.reasons) for revision in released.manifest().revisions] == [
        [],
        ["cub/1"],
        ["cuda-kernels/2"],
    ]


def test_reasons_come_from_a_file_too(released: Workshop) -> None:
    fix(released)
    file = released.root.parent / "reasons.yaml"
    file.write_text("cub/1: the test accepted anything\n")
    assert released.cut("2026-1", "--revision", "--reasons", file).code == 0
    assert released.manifest().latest.reasons == {"cub/1": "the test accepted anything"}


@pytest.mark.parametrize(
    ("text", "message"),
    [("- cub/1\n", "no mapping"), ("cub/1: 3\n", "reasons.yaml:1:8"), ("a: [", "reasons.yaml:2:1")],
)
def test_a_bad_file_of_reasons_is_placed(released: Workshop, text: str, message: str) -> None:
    file = released.root.parent / "reasons.yaml"
    file.write_text(text)
    result = released.cut("2026-1", "--revision", "--reasons", file)
    assert result.code == 2
    assert message in result.err


@pytest.mark.parametrize("reasons", [["cub/1"], ["cub/1= "], ["=x"], ["cub/1=a", "cub/1=b"]])
def test_reasons_have_a_form(released: Workshop, reasons: list[str]) -> None:
    arguments = [part for reason in reasons for part in ("--reason", reason)]
    assert released.cut("2026-1", "--revision", *arguments).code == 2


def test_each_changed_problem_needs_a_reason_and_no_other_may_have_one(released: Workshop) -> None:
    fix(released)
    result = released.cut("2026-1", "--revision", "--reason", "cuda-kernels/2=because")
    assert result.code == 1
    assert "changed, and no reason is given" in result.out
    assert "has a reason but did not change" in result.out
    assert len(released.manifest().revisions) == 1
    assert not released.pack("2026-1-r2-problems.tar.gz").exists()


def test_refuses_added_removed_and_renamed_tasks(released: Workshop) -> None:
    released.problem("cub/9", group="cccl", prompt="Something new.")
    released.drop("cuda-kernels/2")
    # cub/1 comes back as cub/5 with all else as it was.
    old = released.folder("cub/1")
    old.rename(released.folder("cub/5"))
    spec = released.folder("cub/5") / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace("cub/1", "cub/5"))
    released.certify("cub/5")
    spec = released.folder("cuda-kernels/10") / "problem-spec.yaml"
    spec.write_text(spec.read_text() + "  do_not_release: true\n")
    released.problem("cuda-kernels/3")
    released.commit()
    result = released.cut("2026-1", "--revision", "--json")
    assert result.code == 1
    found = {(item["task"], item["rule"]): item["message"] for item in result.json["findings"]}
    assert found["cub/1", "removed"].startswith("was renamed to cub/5")
    assert found["cuda-kernels/2", "removed"].startswith("is gone")
    assert found["cuda-kernels/10", "removed"].startswith("is do_not_release now")
    assert found["cub/9", "added"] == "is new; a release never gains a task"
    assert ("cub/5", "added") not in found


def test_refuses_when_nothing_changed(released: Workshop) -> None:
    result = released.cut("2026-1", "--revision")
    assert result.code == 1
    assert "nothing changed since revision 1 of 2026-1" in result.err


def test_joining_another_release_changes_nothing(released: Workshop) -> None:
    spec = released.folder("cub/1") / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace('["2026-1"]', '["2025-1", "2026-1", "2026-2"]'))
    released.commit()
    assert "nothing changed" in released.cut("2026-1", "--revision").err


def test_refuses_what_was_never_cut(workshop: Workshop) -> None:
    result = workshop.cut("2026-1", "--revision")
    assert result.code == 2
    assert "nothing to revise" in result.err


def test_needs_the_previous_pack_and_that_very_one(released: Workshop) -> None:
    fix(released)
    elsewhere = released.root.parent / "kept.tar.gz"
    released.pack().rename(elsewhere)
    result = released.cut("2026-1", "--revision", "--reason", REASON)
    assert result.code == 2
    assert "--previous PACK" in result.err
    released.cut("2026-1", "--draft")
    draft = released.pack("2026-1-draft-problems.tar.gz")
    result = released.cut("2026-1", "--revision", "--reason", REASON, "--previous", draft)
    assert result.code == 2
    assert "is not the pack that the manifest froze as revision 1" in result.err
    draft.write_bytes(b"no archive at all")
    result = released.cut("2026-1", "--revision", "--reason", REASON, "--previous", draft)
    assert result.code == 2
    assert "is no sound archive: Not a gzipped file" in result.err
    result = released.cut("2026-1", "--revision", "--reason", REASON, "--previous", elsewhere)
    assert result.code == 0


def test_a_changed_problem_needs_its_certificate(released: Workshop) -> None:
    released.problem("cub/1", group="cccl", prompt="Clearer.", metadata="  topic: cub\n", certified=False)
    released.commit()
    result = released.cut("2026-1", "--revision", "--reason", REASON)
    assert result.code == 1
    assert "changed since its certificate was earned" in result.out


def test_a_stricter_policy_binds_what_changes_from_then_on(released: Workshop) -> None:
    config = released.root / "corpus.yaml"
    config.write_text(config.read_text().replace("test_passes: 20", "test_passes: 30"))
    fix(released)
    result = released.cut("2026-1", "--revision", "--reason", REASON, "--json")
    assert [(item["task"], item["rule"]) for item in result.json["findings"]] == [("cub/1", "test-passes")]
    released.certify("cub/1", passes=30)
    released.commit()
    assert released.cut("2026-1", "--revision", "--reason", REASON).code == 0
    assert [revision.policy["test_passes"] for revision in released.manifest().revisions] == [20, 30]


def test_a_dirty_tree_is_refused_as_in_any_cut(released: Workshop) -> None:
    fix(released)
    (released.root / "corpus.yaml").write_text("name: synthetic\n")
    result = released.cut("2026-1", "--revision", "--reason", REASON)
    assert result.code == 1
    assert "corpus.yaml: changed" in result.out


def old_line(problem: CudaCppProblem) -> bytes:
    """The line as it was before the format had ``base_image``, with files in another order."""
    data = json.loads(encode_line(problem))
    del data["base_image"]
    data["test_files"].reverse()
    return (json.dumps(data, separators=(",", ":")) + "\n").encode()


def candidate(problem: CudaCppProblem) -> Candidate:
    return Candidate(
        task_id=problem.task_id,
        label=problem.task_id,
        group=problem.group,
        do_not_release=False,
        base_image=None,
        line=encode_line(problem),
        behaviour_sha256="0" * 64,
        state=CertificateState.CURRENT,
        certificate=None,
    )


def test_a_line_of_an_older_format_keeps_its_bytes() -> None:
    files = [SourceFile(path=name, content=name) for name in ("a", "b")]
    problem = CudaCppProblem(
        task_id="cub/1",
        date="2026-01-01",
        prompt="p",
        metadata=Metadata(releases=["2025-1"]),
        group="cccl",
        test_files=files,
        test_command="t",
        baseline_solution=FileSolution(task_id="cub/1", files=files),
    )
    raw = old_line(problem)
    previous = {"cub/1": PackedTask(raw, problem_adapter().validate_json(raw))}
    same = revised_lines(previous, {"cub/1": candidate(problem)})
    assert (same.lines, same.changed) == ({"cub/1": raw}, [])
    fixed = problem.model_copy(update={"prompt": "q"})
    other = revised_lines(previous, {"cub/1": candidate(fixed)})
    assert (other.lines, other.changed) == ({"cub/1": encode_line(fixed)}, ["cub/1"])


def test_an_interrupted_revision_is_completed_by_a_rerun(
    released: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ce_release import cut as cutting

    fix(released)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cutting, "write_manifest", interrupt)
        assert released.cut("2026-1", "--revision", "--reason", REASON).code == 130
    left: Path = released.pack("2026-1-r2-problems.tar.gz")
    before = left.read_bytes()
    assert released.cut("2026-1", "--revision", "--reason", REASON).code == 0
    assert left.read_bytes() == before
