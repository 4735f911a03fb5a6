from __future__ import annotations

from pathlib import Path

import pytest
from release_support import Workshop, run


def spec(workshop: Workshop, task: str) -> str:
    return (workshop.folder(task) / "problem-spec.yaml").read_text()


def test_adds_a_release_and_keeps_every_other_byte(workshop: Workshop) -> None:
    before = spec(workshop, "cub/1")
    result = run("plan", "2026-2", "cub/1")
    assert result.code == 0
    assert "cub/1  added   2026-1, 2026-2" in result.out
    assert "changed 1 of 1 problems" in result.err
    assert spec(workshop, "cub/1") == before.replace('["2026-1"]', '["2026-1", "2026-2"]')
    again = run("plan", "2026-2", "cub/1")
    assert "unchanged" in again.out
    assert "changed 0 of 1 problems" in again.err


def test_does_not_make_certificates_stale(workshop: Workshop) -> None:
    run("plan", "2026-2", "--all")
    workshop.commit()
    assert workshop.cut("2026-2").code == 0


def test_takes_groups_topics_folders_and_everything(workshop: Workshop) -> None:
    def planned(*names: object) -> list[str]:
        return [step["task"] for step in run("plan", "2026-2", *names, "--dry-run", "--json").json["steps"]]

    assert planned("cuda-kernels") == ["cuda-kernels/2", "cuda-kernels/10"]
    assert planned("cub") == ["cub/1"]
    assert planned(workshop.folder("cub/1")) == ["cub/1"]
    assert planned("--all") == ["cub/1", "cuda-kernels/2", "cuda-kernels/10"]


def test_removes_again_to_the_byte(workshop: Workshop) -> None:
    before = spec(workshop, "cub/1")
    run("plan", "2026-2", "cub/1")
    result = run("plan", "2026-2", "cub/1", "--remove")
    assert "removed" in result.out
    assert spec(workshop, "cub/1") == before


def test_a_dry_run_changes_nothing(workshop: Workshop) -> None:
    before = spec(workshop, "cub/1")
    result = run("plan", "2026-2", "--all", "--dry-run")
    assert "would change 3 of 3" in result.err
    assert spec(workshop, "cub/1") == before


def test_refuses_do_not_release_by_name_and_changes_nothing(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", metadata="  do_not_release: true\n", releases=())
    before = spec(workshop, "cub/1")
    result = run("plan", "2026-2", "cub/1", "cub/2")
    assert result.code == 1
    assert "is do_not_release" in result.out
    assert "nothing was changed" in result.err
    assert spec(workshop, "cub/1") == before


def test_leaves_do_not_release_out_of_a_group_and_goes_on(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", metadata="  do_not_release: true\n", releases=())
    result = run("plan", "2026-2", "cub")
    assert result.code == 0
    assert "left out" in result.out
    assert "2026-2" in spec(workshop, "cub/1")
    assert "2026-2" not in spec(workshop, "cub/2")


def test_refuses_defective_specs_with_the_place(workshop: Workshop) -> None:
    (workshop.folder("cub/1") / "problem-spec.yaml").write_text("task_id: [")
    result = run("plan", "2026-2", "--all")
    assert result.code == 1
    assert "problem-spec.yaml:2:1" in result.out


@pytest.mark.parametrize("remove", [[], ["--remove"]])
def test_refuses_a_release_that_was_cut(released: Workshop, remove: list[str]) -> None:
    result = run("plan", "2026-1", "cub/1", *remove)
    assert result.code == 1
    assert "its set of 3 problems is fixed" in result.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["2026-03", "cub/1"], "YYYY-N"),
        (["2026-2", "cub/17"], "neither a task nor a group"),
        (["2026-2", "cub/1", "--all"], "exclude one another"),
        (["2026-2", "--remove"], "no problem is named"),
    ],
)
def test_usage_errors(workshop: Workshop, arguments: list[str], message: str) -> None:
    result = run("plan", *arguments)
    assert result.code == 2
    assert message in result.err


def test_shows_the_plan_and_what_it_lacks(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", certified=False)
    workshop.problem("cub/3", group="cccl", metadata="  do_not_release: true\n")
    result = run("plan", "2026-1")
    assert result.code == 0
    assert result.out.splitlines()[0].split() == ["task", "group", "certificate", "lacks"]
    assert "cub/2            cccl          missing      has no certificate" in result.out
    assert "do_not_release: will be left out" in result.out
    assert "5 problems in the plan of 2026-1, 3 ready" in result.err
    rows = {row["task"]: row for row in run("plan", "2026-1", "--json").json["problems"]}
    assert rows["cub/1"]["lacks"] == []
    assert rows["cub/2"]["lacks"][0]["rule"] == "certificate-missing"


def test_a_plan_can_be_empty(workshop: Workshop) -> None:
    result = run("plan", "2026-5")
    assert (result.code, result.out) == (0, "")
    assert "0 problems in the plan" in result.err


def test_says_when_a_release_was_cut(released: Workshop) -> None:
    assert "2026-1 was cut (revision 1)" in run("plan", "2026-1").err


def test_outside_a_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("plan", "2026-1")
    assert result.code == 2
    assert "--corpus FOLDER" in result.err
