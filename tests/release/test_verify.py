from __future__ import annotations

import gzip
import json
import os
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from release_support import Workshop, run
from strategies import problems
from support import make_problem, make_solution

from ce_release.packs import load_pack
from ce_release.verify import MAX_FINDINGS, verify_release_pack
from ce_schema.datapack import write_problem_pack, write_solution_pack
from ce_schema.problem import Metadata
from ce_schema.solution import FileSolution, SourceFile

WHEN = "2026-01-01T00:00:00+00:00"


def pack_of(folder: Path, *problems: Any, name: str = "2026-1-problems.tar.gz", **options: Any) -> Path:
    path = folder / name
    write_problem_pack(path, problems, **({"release": "2026-1", "created_at": WHEN} | options))
    return path


def found(path: Path) -> list[tuple[str, str]]:
    return [(item.rule, str(item.severity)) for item in verify_release_pack(path, None)]


def test_a_cut_pack_is_sound_and_what_its_manifest_says(released: Workshop) -> None:
    result = run("verify", released.pack())
    assert (result.code, result.out) == (0, "")
    assert "sound, checked against" in result.err
    data = run("verify", released.pack(), "--json").json
    assert (data["sound"], data["findings"]) == (True, [])
    assert data["manifest"].endswith("2026-1.json")


def test_without_a_manifest_it_says_so(
    released: Workshop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(released.packs)  # outside the corpus, and no folder below is called corpus
    result = run("verify", released.pack())
    assert result.code == 0
    assert "no manifest" in result.err
    explicit = run("verify", released.pack(), "--manifest", released.root / "manifests" / "2026-1.json")
    assert "checked against" in explicit.err
    assert "no manifest" in run("verify", released.pack(), "--no-manifest", "--corpus", released.root).err
    assert run("verify", released.pack(), "--corpus", tmp_path / "nowhere").code == 2
    assert run("verify", released.pack(), "--manifest", tmp_path / "nowhere.json").code == 2


def test_a_pack_that_was_written_anew_is_found_by_the_manifest(released: Workshop) -> None:
    pack = load_pack(released.pack())
    lines = [task.raw for task in pack.tasks.values()]
    lines[0] = lines[0].replace(b"return 0;", b"return 1;")  # behaviour
    lines[1] = lines[1].replace(b'"synthetic"', b'"other"')  # inert
    write_problem_pack(released.pack(), lines[:2], release="2026-1", created_at=WHEN, overwrite=True)
    result = run("verify", released.pack())
    assert result.code == 1
    assert "task cuda-kernels/2 differs from revision 1, in behaviour" in result.out
    assert "task cuda-kernels/10 differs from revision 1, only in what no grade depends on" in result.out
    assert "task cub/1 is missing; revision 1 holds it" in result.out
    assert "is not the archive that was frozen as revision 1" in result.out
    one_more = make_problem("numba-cuda/1").model_copy(update={"group": "cccl"})
    lines = [*(task.raw for task in pack.tasks.values()), one_more]
    write_problem_pack(released.pack(), lines, release="2026-1", created_at=WHEN, overwrite=True)
    assert "task numba-cuda/1 was added" in run("verify", released.pack()).out


def test_other_compression_is_remarked_on_and_fine(released: Workshop) -> None:
    tar = gzip.decompress(released.pack().read_bytes())
    released.pack().write_bytes(gzip.compress(tar, 1, mtime=0))
    result = run("verify", released.pack())
    assert result.code == 0
    assert "was compressed anew" in result.out


def test_an_older_revision_is_sound_and_said_to_be_old(released: Workshop) -> None:
    released.problem("cub/1", group="cccl", prompt="Clearer.", metadata="  topic: cub\n")
    released.commit()
    released.cut("2026-1", "--revision", "--reason", "cub/1=ambiguous")
    result = run("verify", released.pack())
    assert result.code == 0
    assert "is revision 1; the newest is 2" in result.out
    assert run("verify", released.pack("2026-1-r2-problems.tar.gz")).out == ""


def test_claims_that_the_manifest_does_not_know(released: Workshop, tmp_path: Path) -> None:
    pack = pack_of(tmp_path, make_problem(), name="2026-1-r7-problems.tar.gz", extra_metadata={"revision": 7})
    assert "claims to be a revision that the manifest does not know" in run("verify", pack).out
    manifest = released.root / "manifests" / "2026-1.json"
    other = pack_of(tmp_path, make_problem(), name="2026-4-problems.tar.gz", release="2026-4")
    assert (
        "the manifest is of release 2026-1, the pack of 2026-4"
        in run("verify", other, "--manifest", manifest).out
    )


def test_a_draft_is_a_draft_by_name_and_mark(workshop: Workshop) -> None:
    workshop.cut("2026-1", "--draft")
    draft = workshop.pack("2026-1-draft-problems.tar.gz")
    assert found(draft) == [("draft", "warning")]
    shutil.copy(draft, workshop.pack())
    assert found(workshop.pack()) == [("draft", "warning"), ("release-name", "error")]


@pytest.mark.parametrize(
    ("name", "severity"),
    [
        ("2026-1-problems.tar.gz", None),
        ("anything.tar.gz", "warning"),
        ("2026-2-problems.tar.gz", "error"),
        ("2026-1-draft-problems.tar.gz", "error"),
        ("2026-1-r2-problems.tar.gz", "error"),
    ],
)
def test_the_name_must_say_what_is_inside(tmp_path: Path, name: str, severity: str | None) -> None:
    pack = pack_of(tmp_path, make_problem(), name=name, extra_metadata={"revision": 1})
    assert found(pack) == ([("release-name", severity)] if severity else [])


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"metadata": Metadata(releases=["2025-1"])}, ("membership", "warning")),
        ({"metadata": Metadata(releases=["2026-1"], do_not_release=True)}, ("membership", "error")),
        ({"group": "quantum"}, ("group", "warning")),
        ({"test_files": [SourceFile(path="context.txt/x", content="")]}, ("files", "error")),
        ({"test_files": [SourceFile(path="context.txt", content="")]}, ("pack-path", "error")),
        ({"test_files": [SourceFile(path="../x", content="")]}, ("pack-path", "error")),
    ],
)
def test_lines_must_be_what_a_release_holds(
    tmp_path: Path, changes: dict[str, Any], rule: tuple[str, str]
) -> None:
    assert found(pack_of(tmp_path, make_problem(**changes))) == [rule]


def test_solutions_that_travel_must_stay_off_the_tests(tmp_path: Path) -> None:
    def solution(path: str) -> FileSolution:
        return FileSolution(task_id="numba-cuda/1", files=[SourceFile(path=path, content="x")])

    own = Metadata(releases=["2026-1"], reference_solution=solution("/etc/x").model_dump())  # type: ignore[call-arg]
    problem = make_problem(baseline_solution=solution("test/check.sh"), metadata=own)
    messages = [item.message for item in verify_release_pack(pack_of(tmp_path, problem), None)]
    assert messages == [
        "task numba-cuda/1: baseline_solution replaces the test file 'test/check.sh'",
        "task numba-cuda/1: metadata.reference_solution: the path '/etc/x' is absolute",
    ]


def test_damage_ends_the_search_with_one_finding(released: Workshop) -> None:
    released.pack().write_bytes(released.pack().read_bytes()[:-40])
    result = run("verify", released.pack())
    assert result.code == 1
    assert len(result.out.strip().splitlines()) == 1
    assert run("verify", "nowhere.tar.gz").code == 2


def test_solution_packs_are_checked_for_structure(tmp_path: Path) -> None:
    path = tmp_path / "model-solutions.tar.gz"
    write_solution_pack(path, [make_solution()], release="2026-1", created_at=WHEN, groups=None)
    assert found(path) == []


def test_a_flood_of_findings_ends(tmp_path: Path) -> None:
    metadata = Metadata(releases=["2026-1"], do_not_release=True)
    many = [make_problem(f"numba-cuda/{n}", metadata=metadata) for n in range(MAX_FINDINGS + 5)]
    assert len(verify_release_pack(pack_of(tmp_path, *many), None)) == MAX_FINDINGS


def test_messages_move_no_cursor(tmp_path: Path) -> None:
    lines = [
        json.dumps({**json.loads(make_problem().model_dump_json()), "task_id": "a\x1b[2J", "group": "\x07"})
    ]
    body = (lines[0] + "\n").encode()
    (tmp_path / "problems.jsonl").write_bytes(body)
    (tmp_path / "metadata.json").write_text('{"release": "2026-1", "total_count": 1}')
    path = tmp_path / "2026-1-problems.tar.gz"
    with tarfile.open(path, "w:gz") as tar:
        for name in ("metadata.json", "problems.jsonl"):
            tar.add(tmp_path / name, name)
    os.chdir(tmp_path)
    result = run("verify", path)
    assert result.code == 1
    assert result.out.replace("\n", "").isprintable()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(problems(), min_size=1, max_size=3, unique_by=lambda item: item.task_id), st.data())
def test_any_damage_is_findings_and_never_a_crash(
    tmp_path: Path, items: list[Any], data: st.DataObject
) -> None:
    path = pack_of(tmp_path, *items, overwrite=True)
    tar = bytearray(gzip.decompress(path.read_bytes()))
    for _ in range(data.draw(st.integers(0, 3))):
        tar[data.draw(st.integers(0, len(tar) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(gzip.compress(bytes(tar), 1))
    assert all(str(item.location) for item in verify_release_pack(path, None))


@pytest.mark.parametrize("changes", [{"test_command": ""}, {"timeout_seconds": -1.0}])
def test_settings_that_say_nothing_about_a_solution(tmp_path: Path, changes: dict[str, Any]) -> None:
    path = pack_of(tmp_path, make_problem(**changes))
    (finding,) = verify_release_pack(path, None)
    assert finding.rule == "settings"
