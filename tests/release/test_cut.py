from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest
from release_support import Workshop, run

from ce_corpus.manifests import encode_manifest
from ce_release import candidates as candidate_reading
from ce_release import cut as cutting
from ce_release.candidates import read_candidate, reading
from ce_release.packs import load_pack, tar_sha256
from ce_schema.certificate import Machine, RungStatus
from ce_schema.lines import line_md5

COMMAND = [sys.executable, "-c", "from ce_release.cli import main; main()"]


# The test runner has threads of its own; a command line has none when it forks.
FORKS = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")


def test_a_cut_freezes_exactly_the_planned_problems(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", releases=("2026-2",))
    workshop.problem("cub/3", group="cccl", metadata="  do_not_release: true\n")
    workshop.commit()
    result = workshop.cut()
    assert (result.code, result.out) == (0, f"{workshop.pack()}\n")
    assert "left out, being do_not_release: cub/3" in result.err
    assert "3 problems; now commit" in result.err
    pack = load_pack(workshop.pack())
    # Groups as groups.yaml has them, then by number.
    assert list(pack.tasks) == ["cuda-kernels/2", "cuda-kernels/10", "cub/1"]
    assert pack.metadata.release == "2026-1"
    assert pack.metadata.model_extra == {"revision": 1, "commit": workshop.git("rev-parse", "HEAD").strip()}


def test_the_manifest_records_what_was_frozen(workshop: Workshop) -> None:
    result = workshop.cut("2026-1", "--description", "The first.", "--json")
    data = result.json
    manifest = workshop.manifest()
    revision = manifest.latest
    pack = load_pack(workshop.pack())
    assert data["manifest"] == str(workshop.root / "manifests" / "2026-1.json")
    assert Path(data["manifest"]).read_text() == encode_manifest(manifest)
    assert revision.pack.file == workshop.pack().name
    assert revision.pack.sha256 == hashlib.sha256(workshop.pack().read_bytes()).hexdigest() == data["sha256"]
    assert revision.pack.tar_sha256 == tar_sha256(workshop.pack()) == data["tar_sha256"]
    assert {task: record.md5 for task, record in revision.tasks.items()} == {
        task: line_md5(packed.raw) for task, packed in pack.tasks.items()
    }
    assert revision.created_at == pack.metadata.created_at == "2026-02-02T02:41:00+00:00"
    assert revision.description == pack.metadata.description == "The first."
    assert revision.policy == {"rungs": ["lint", "build", "test"], "test_passes": 20}
    assert revision.groups == data["groups"] == {"cuda-kernels": 2, "cccl": 1}
    assert [(m.gpu, m.tasks) for m in revision.certified_on.machines] == [("Synthetic GPU", 3)]
    assert revision.commit == workshop.git("rev-parse", "HEAD").strip()
    assert revision.reasons == {}


def test_says_where_certificates_were_earned_outside_the_base_image(workshop: Workshop) -> None:
    workshop.problem("cuda-kernels/3", more='base_image: "img:1"\n')
    workshop.problem("cuda-kernels/4", more='base_image: "img:1"\n', certified=False)
    workshop.certify(
        "cuda-kernels/4", machine=Machine(gpu="Other GPU", mode="podman", image_digest="sha256:1")
    )
    workshop.commit()
    workshop.cut()
    certified = workshop.manifest().latest.certified_on
    assert [(m.gpu, m.tasks) for m in certified.machines] == [("Synthetic GPU", 4), ("Other GPU", 1)]
    assert certified.differs_from_base_image == {
        "cuda-kernels/3": "base_image is img:1; certified with CUDA toolkit 13.0 of the host (mode sandbox)"
    }


def test_lines_list_the_releases_up_to_the_one_cut(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", releases=("2026-10", "2026-1", "2025-2", "2026-9", "internal"))
    workshop.commit()
    assert workshop.cut("2026-9").code == 0
    task = load_pack(workshop.pack("2026-9-problems.tar.gz")).tasks["cub/2"]
    assert task.problem.metadata.releases == ["internal", "2025-2", "2026-1", "2026-9"]


def test_an_unchanged_problem_differs_between_releases_in_that_list_alone(workshop: Workshop) -> None:
    workshop.problem("cub/1", group="cccl", releases=("2026-1", "2026-2"), metadata="  topic: cub\n")
    workshop.commit()
    workshop.cut("2026-1")
    workshop.commit()
    workshop.cut("2026-2")
    one, two = (
        load_pack(workshop.pack(f"{name}-problems.tar.gz")).tasks["cub/1"].raw
        for name in ("2026-1", "2026-2")
    )
    assert two.replace(b'["2026-1","2026-2"]', b'["2026-1"]') == one
    behaviour = {
        workshop.manifest(name).latest.tasks["cub/1"].behaviour_sha256 for name in ("2026-1", "2026-2")
    }
    assert len(behaviour) == 1


def test_an_earlier_release_cut_late_is_warned_about(workshop: Workshop) -> None:
    workshop.problem("cub/1", group="cccl", releases=("2026-1", "2026-2"))
    workshop.commit()
    workshop.cut("2026-2")
    workshop.commit()
    assert "later release 2026-2 was cut before" in workshop.cut("2026-1").err


@pytest.mark.parametrize("name", ["2026", "2026-0", "26-1", "2026-01", "internal", "2026-1 "])
def test_refuses_bad_names_with_the_form(workshop: Workshop, name: str) -> None:
    result = workshop.cut(name)
    assert result.code == 2
    assert "no release name" in result.err
    assert "YYYY-N, such as 2026-3" in result.err


def test_refuses_an_existing_release(released: Workshop) -> None:
    before = released.pack().read_bytes()
    result = released.cut()
    assert result.code == 1
    assert "release 2026-1 exists (revision 1, 3 problems)" in result.err
    assert "--revision" in result.err
    assert released.pack().read_bytes() == before


def test_a_release_stays_cut_when_its_manifest_is_deleted(released: Workshop) -> None:
    (released.root / "manifests" / "2026-1.json").unlink()
    released.commit()
    result = released.cut()
    assert result.code == 1
    assert "release 2026-1 was cut before: commit" in result.err
    assert "bring the manifest back from git" in result.err


def test_refuses_a_release_without_problems(workshop: Workshop) -> None:
    result = workshop.cut("2026-7")
    assert result.code == 1
    assert "no problem is in release 2026-7" in result.err
    assert "ce-release plan 2026-7" in result.err


def test_refuses_a_corpus_outside_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus.yaml").write_text("name: synthetic\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    result = run("cut", "2026-1")
    assert result.code == 2
    assert "no git repository" in result.err


def test_reports_all_that_is_missing_at_once(workshop: Workshop) -> None:
    workshop.problem("cub/2", group="cccl", certified=False)
    workshop.problem("cub/3", group="cccl")
    workshop.problem("cub/3", group="cccl", prompt="Changed.", certified=False)
    workshop.problem("cub/4", group="cccl", certified=False)
    workshop.certify("cub/4", lint=RungStatus.FAILED, build=RungStatus.NOT_RUN)
    workshop.problem("cub/5", group="cccl", certified=False)
    workshop.certify("cub/5", passes=19)
    broken = workshop.problem("cub/6", group="cccl")
    (broken / "test" / "main.cu").write_bytes(b"caf\xe9\n")
    unreadable = workshop.problem("cub/7", group="cccl")
    (unreadable / "problem-spec.yaml").write_text("a: [")
    (workshop.problem("cub/8", group="cccl") / "solution" / "solution.cu").unlink()
    workshop.certify("cub/8")
    workshop.problem("cub/9", group="cub")
    (workshop.root / "certificates" / "cub-1.json").write_text("{}")
    workshop.problem("cuda-kernels/11").rename(workshop.root / "problems" / "cuda-kernels-12")
    workshop.commit()
    workshop.problem("cuda-kernels/2", test="int main() { return 1; }\n")
    result = workshop.cut("2026-1", "--json")
    assert result.code == 1
    assert not workshop.packs.exists()
    found = [(item["task"], item["rule"], item["message"]) for item in result.json["findings"]]
    expected = [
        ("", "dirty-tree", "certificates/cuda-kernels-2.json: changed"),
        ("", "dirty-tree", "problems/cuda-kernels/cuda-kernels-2/test/main.cu: changed"),
        ("cuda-kernels/11", "defect", "the folder is not named after the task"),
        ("cub/1", "defect", "is no certificate"),
        ("cub/2", "certificate-missing", "has no certificate"),
        ("cub/3", "certificate-stale", "changed since its certificate was earned (2026-01-03)"),
        ("cub/4", "rung", "rung lint failed"),
        ("cub/4", "rung", "rung build was not run"),
        ("cub/5", "test-passes", "its reference passed 19 times; a release asks for 20"),
        ("cub/6", "defect", "problems/cub/cub-6/test/main.cu:1:4: is not UTF-8"),
        ("cub/8", "reference", "has no reference solution"),
        ("cub/9", "defect", "there is no group 'cub'"),
        ("cub-7", "defect", "problems/cub/cub-7/problem-spec.yaml:2:1: while parsing"),
    ]
    for task, rule, message in expected:
        assert any((t, r) == (task, rule) and message in m for t, r, m in found), (task, rule, message)
    assert len(found) == len(expected)
    table = workshop.cut().out
    assert "cub/5" in table
    assert "ce-author validate cub/5 --passes 20" in table


def test_two_folders_with_one_task_are_refused(workshop: Workshop) -> None:
    other = workshop.root / "problems" / "elsewhere" / "cub-1"
    other.parent.mkdir()
    subprocess.run(["cp", "-r", workshop.folder("cub/1"), other], check=True)
    workshop.commit()
    result = workshop.cut()
    assert result.code == 1
    assert result.out.count("another folder holds this task too") == 2


def test_a_spec_whose_membership_cannot_be_read_is_not_left_out_quietly(workshop: Workshop) -> None:
    spec = workshop.problem("cub/2", group="cccl") / "problem-spec.yaml"
    spec.write_text(spec.read_text().replace('["2026-1"]', '"2026-1"'))
    workshop.commit()
    result = workshop.cut()
    assert result.code == 1
    assert "metadata.releases" in result.out


def test_a_draft_needs_neither_certificates_nor_a_clean_tree(bare: Workshop) -> None:
    bare.problem("cub/1", group="cccl", certified=False)
    result = bare.cut("2026-1", "--draft")
    path = bare.pack("2026-1-draft-problems.tar.gz")
    assert (result.code, result.out) == (0, f"{path}\n")
    assert "DRAFT" in result.err
    metadata = load_pack(path).metadata
    assert str(metadata.description).startswith("DRAFT of 2026-1, not a release: uncommitted work")
    assert metadata.model_extra == {"draft": True}
    assert not (bare.root / "manifests").exists()
    assert bare.cut("2026-1", "--draft").code == 0


def test_a_draft_of_a_commit_is_dated_by_it_and_still_asks_for_sound_folders(workshop: Workshop) -> None:
    workshop.cut("2026-1", "--draft")
    metadata = load_pack(workshop.pack("2026-1-draft-problems.tar.gz")).metadata
    assert metadata.created_at == "2026-02-02T02:41:00+00:00"
    (workshop.folder("cub/1") / "test" / "main.cu").write_bytes(b"\xff")
    result = workshop.cut("2026-1", "--draft")
    assert result.code == 1
    assert "is not UTF-8" in result.out


def test_contradicting_options_are_usage_errors(workshop: Workshop) -> None:
    for arguments in (["--draft", "--revision"], ["--reason", "cub/1=x"], ["--previous", "x"]):
        assert workshop.cut("2026-1", *arguments).code == 2


def test_the_same_commit_gives_the_same_bytes_anywhere(workshop: Workshop, tmp_path: Path) -> None:
    places = [
        (tmp_path / "a", {"TZ": "Asia/Tokyo", "LC_ALL": "C", "PYTHONHASHSEED": "1"}, 0o000),
        (
            tmp_path / "deep" / "down" / "b ü",
            {"TZ": "UTC+11", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "2"},
            0o077,
        ),
    ]
    made = []
    for place, environment, mask in places:
        place.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "-q", str(workshop.root), str(place)], check=True)
        out = place.parent / "out"
        result = subprocess.run(
            [*COMMAND, "cut", "2026-1", "--output-dir", str(out)],
            cwd=place / "problems",
            env=os.environ | environment,
            umask=mask,
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, result.stderr
        made.append(
            (
                (out / "2026-1-problems.tar.gz").read_bytes(),
                (place / "manifests" / "2026-1.json").read_bytes(),
            )
        )
    assert made[0] == made[1]


def test_interrupted_between_pack_and_manifest_a_rerun_completes(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(cutting, "write_manifest", interrupt)
        assert workshop.cut().code == 130
    assert workshop.pack().exists()
    assert not (workshop.root / "manifests").exists()
    before = workshop.pack().read_bytes()
    assert workshop.cut().code == 0
    assert workshop.pack().read_bytes() == before
    assert workshop.manifest().latest.pack.sha256 == hashlib.sha256(before).hexdigest()
    assert [path.name for path in workshop.packs.iterdir()] == [workshop.pack().name]


def test_a_file_of_the_same_name_is_never_replaced(workshop: Workshop) -> None:
    workshop.packs.mkdir()
    workshop.pack().write_bytes(b"downloaded from elsewhere")
    result = workshop.cut()
    assert result.code == 1
    assert "holds something else than this cut" in result.err
    assert workshop.pack().read_bytes() == b"downloaded from elsewhere"
    assert not (workshop.root / "manifests").exists()
    assert [path.name for path in workshop.packs.iterdir()] == [workshop.pack().name]


def test_a_full_disk_loses_nothing(workshop: Workshop) -> None:
    noise = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(400))
    workshop.problem("cub/2", group="cccl", test=f"// {noise}\n")
    workshop.commit()
    limited = ["sh", "-c", 'ulimit -f 8; exec "$@"', "sh", *COMMAND]  # files of at most 4 KiB
    command = [*limited, "cut", "2026-1", "--output-dir", str(workshop.packs)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2, result.stderr
    assert "cannot be written: File too large" in result.stderr
    assert "Traceback" not in result.stderr
    assert list(workshop.packs.iterdir()) == []
    assert not (workshop.root / "manifests").exists()
    assert workshop.cut().code == 0


def test_places_that_cannot_be_written_are_named(workshop: Workshop) -> None:
    blocked = workshop.root.parent / "file"
    blocked.write_text("no folder")
    result = run("cut", "2026-1", "--output-dir", blocked / "below")
    assert result.code == 2
    assert "cannot be written: Not a directory" in result.err
    (workshop.root / "corpus.yaml").write_text(f"name: synthetic\nmanifests: {'m' * 300}\n")
    workshop.commit()
    result = workshop.cut()
    assert result.code == 2
    assert "File name too long" in result.err


@FORKS
def test_a_reader_that_is_killed_is_told(bare: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1, 101):
        bare.problem(f"cuda-kernels/{number}", certified=False)
    bare.commit()
    monkeypatch.setattr(candidate_reading, "read_candidate", lambda *_: os._exit(9))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    result = bare.cut()
    assert result.code == 3
    assert "was killed" in result.err


@FORKS
def test_many_problems_are_read_side_by_side_with_the_same_result(
    bare: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(1, 121):
        bare.problem(f"cuda-kernels/{number}", certified=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    with reading(bare.corpus, "2026-1") as candidates:
        together = candidates()
    alone = [
        read_candidate(
            bare.folder(f"cuda-kernels/{number}"),
            f"problems/cuda-kernels/cuda-kernels-{number}",
            bare.root / "certificates",
            "2026-1",
        )
        for number in range(1, 121)
    ]
    assert together == sorted((item for item in alone if item), key=lambda item: item.order)
