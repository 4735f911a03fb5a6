from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_support import Workshop, run
from strategies import problems
from support import make_problem

from ce_release.diff import Kind, diff_sides, field_changes, side_of
from ce_release.packs import PackedTask, line_behaviour
from ce_schema.lines import encode_line
from ce_schema.problem import CudaPythonProblem, Metadata, Problem
from ce_schema.solution import FileSolution, SourceFile


def tasks(*items: Problem) -> dict[str, PackedTask]:
    return {item.task_id: PackedTask(encode_line(item), item) for item in items}


def names(before: Problem, after: Problem) -> list[tuple[str, str]]:
    return [(change.name, str(change.kind)) for change in field_changes(before, after)]


PACKS = st.lists(problems(), max_size=4, unique_by=lambda item: item.task_id)


@settings(max_examples=40, deadline=None)
@given(PACKS)
def test_a_pack_does_not_differ_from_itself(items: list[Problem]) -> None:
    side = side_of(tasks(*items))
    difference = diff_sides(side, side)
    assert not difference
    assert difference.same == len(items)


@settings(max_examples=40, deadline=None)
@given(PACKS, PACKS)
def test_the_way_back_is_the_mirror_image(one: list[Problem], other: list[Problem]) -> None:
    before, after = side_of(tasks(*one)), side_of(tasks(*other))
    there, back = diff_sides(before, after), diff_sides(after, before)
    assert (there.added, there.removed, there.same) == (back.removed, back.added, back.same)
    assert [(c.task_id, c.kind) for c in there.changed] == [(c.task_id, c.kind) for c in back.changed]
    assert len(there.removed) + len(there.changed) + there.same == len(before)


@settings(max_examples=60, deadline=None)
@given(problems(st.just("cub/1")), problems(st.just("cub/1")))
def test_a_behaviour_hash_differs_just_when_a_behaviour_field_does(one: Problem, other: Problem) -> None:
    kinds = {change.kind for change in field_changes(one, other)}
    twins = any(
        len({file.path for file in files}) < len(files)
        for item in (one, other)
        for files in (item.context_files, item.test_files, getattr(item.baseline_solution, "files", []))
    )
    if not twins:
        assert (line_behaviour(one) != line_behaviour(other)) == (Kind.BEHAVIOUR in kinds)


@settings(max_examples=40, deadline=None)
@given(problems(st.just("cub/1")), problems(st.just("cub/1")))
def test_lines_differ_just_when_a_change_with_a_field_is_shown(one: Problem, other: Problem) -> None:
    difference = diff_sides(side_of(tasks(one)), side_of(tasks(other)))
    assert bool(difference.changed) == (encode_line(one) != encode_line(other))
    assert all(change.fields for change in difference.changed)


BASE = make_problem()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"prompt": "Other."}, [("prompt", "behaviour")]),
        ({"timeout_seconds": 9.0}, [("timeout_seconds", "behaviour")]),
        (
            {"test_files": [SourceFile(path="test/new.sh", content="")]},
            [("test_files/test/check.sh", "behaviour"), ("test_files/test/new.sh", "behaviour")],
        ),
        ({"metadata": Metadata(releases=["2026-1", "2026-2"])}, [("metadata.releases", "inert")]),
        ({"metadata": Metadata(releases=["2026-1"], tags=["x"])}, [("metadata.tags", "inert")]),
        ({"metadata": Metadata(releases=["2026-1"], tolerance=1)}, [("metadata.tolerance", "behaviour")]),  # type: ignore[call-arg]
        ({"date": "2026-02-02"}, [("date", "inert")]),
        (
            {
                "baseline_solution": FileSolution(
                    task_id="numba-cuda/1", files=[SourceFile(path="a", content="")]
                )
            },
            [
                ("baseline/a", "behaviour"),
                ("baseline_solution.schema_version", "inert"),
                ("baseline_solution.type", "inert"),
                ("baseline_solution.task_id", "inert"),
            ],
        ),
    ],
)
def test_changed_fields_are_named(changes: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert names(BASE, make_problem(**changes)) == expected


def test_bytes_that_differ_without_content_are_inert() -> None:
    data = json.loads(encode_line(BASE))
    del data["base_image"]
    raw = (json.dumps(data) + "\n").encode()
    older = {"numba-cuda/1": PackedTask(raw, CudaPythonProblem.model_validate(data))}
    [change] = diff_sides(side_of(older), side_of(tasks(BASE))).changed
    assert (change.kind, change.fields[0].name, change.fields[0].after) == (
        Kind.INERT,
        "keys",
        ["base_image"],
    )
    spelt = {"numba-cuda/1": PackedTask(encode_line(BASE).replace(b":", b": ", 1), BASE)}
    [change] = diff_sides(side_of(spelt), side_of(tasks(BASE))).changed
    assert (change.kind, change.fields[0].name) == (Kind.INERT, "order or spelling")


@pytest.fixture
def revised(released: Workshop) -> Workshop:
    """2026-1 with two revisions, and 2026-2 with one task less and one more."""
    released.problem("cub/1", group="cccl", test="int main() {\n  return 1;\n}\n", metadata="  topic: cub\n")
    released.commit()
    assert released.cut("2026-1", "--revision", "--reason", "cub/1=wrong").code == 0
    released.commit()
    run("plan", "2026-2", "cub/1", "cuda-kernels/2")
    released.problem("cub/2", group="cccl", releases=("2026-2",))
    released.commit()
    assert released.cut("2026-2").code == 0
    return released


def test_compares_releases_and_revisions(revised: Workshop) -> None:
    result = run("diff", "2026-1", "2026-2", "--packs", revised.packs)
    assert result.code == 0
    assert [line.split() for line in result.out.splitlines()[1:]] == [
        ["added", "cub/2"],
        ["removed", "cuda-kernels/10"],
        ["inert", "cub/1", "metadata.releases"],
        ["inert", "cuda-kernels/2", "metadata.releases"],
    ]
    counts = "1 added, 1 removed, 0 changed in behaviour, 2 inertly, 0 the same"
    assert f"2026-1@2 → 2026-2@1: {counts}" in result.err
    assert run("diff", "2026-1", "2026-2", "--packs", revised.packs, "--exit-code").code == 1
    assert run("diff", "2026-1", "2026-1", "--packs", revised.packs, "--exit-code").code == 0


def test_shows_texts_as_unified_diffs(revised: Workshop) -> None:
    result = run("diff", "2026-1@1", "2026-1@2", "--packs", revised.packs, "--text")
    assert "behaviour  cub/1  test_files/main.cu" in result.out
    assert "-int main() { return 0; }\n+int main() {\n+  return 1;\n+}\n" in result.out
    data = run("diff", "2026-1@1", "2026-1@2", "--packs", revised.packs, "--text", "--json").json
    assert data["changed"][0]["fields"][0]["diff"].startswith("--- test_files/main.cu\n")


def test_compares_by_hashes_where_a_pack_is_not_at_hand(revised: Workshop) -> None:
    result = run("diff", "2026-1@1", "2026-2")
    assert result.code == 0
    assert "comparing by the hashes" in result.err
    assert "behaviour  cub/1" in result.out
    assert "(no pack at hand)" in result.out


def test_compares_pack_files_without_a_corpus(
    revised: Workshop, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    one, other = revised.pack(), revised.pack("2026-2-problems.tar.gz")
    data = run("diff", one, other, "--json").json
    assert data["added"] == ["cub/2"]
    assert {row["task"]: row["kind"] for row in data["changed"]} == {
        "cub/1": "behaviour",
        "cuda-kernels/2": "inert",
    }


def test_a_pack_that_is_not_what_the_manifest_froze_is_not_compared(revised: Workshop) -> None:
    revised.pack("2026-1-r2-problems.tar.gz").write_bytes(revised.pack().read_bytes())
    result = run("diff", "2026-1", "2026-2", "--packs", revised.packs)
    assert result.code == 2
    assert "is not the pack that the manifest froze as 2026-1@2" in result.err


@pytest.mark.parametrize("name", ["2026-9", "2026-1@5", "nonsense", "no.tar.gz"])
def test_names_that_mean_nothing(revised: Workshop, name: str) -> None:
    assert run("diff", name, "2026-1").code == 2
