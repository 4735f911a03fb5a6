"""Datapacks: written the same to the byte, read back whole, every broken promise of the metadata noticed."""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import json
import os
import tarfile
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import problems, solutions

from ce_schema import datapack, packlines
from ce_schema.datapack import (
    PackError,
    ProblemPack,
    SolutionPack,
    open_pack,
    open_problem_pack,
    open_solution_pack,
    read_jsonl,
    verify_pack,
    write_problem_pack,
    write_solution_pack,
)
from ce_schema.diagnostics import Severity
from ce_schema.errors import InputError
from ce_schema.lines import encode_line, line_md5
from ce_schema.problem import CudaCppProblem, Metadata, Problem
from ce_schema.solution import FileSolution, SourceFile

TAR_SHA256 = "1c5d5b13384479efde6daacc5d8b1327428744cba16560e15431ed07b4dbe1fb"
CREATED = "2026-03-04T05:06:07.890123"


def problem(n: int = 1, **changes: Any) -> CudaCppProblem:
    fields: dict[str, Any] = {
        "task_id": f"cccl/{n}",
        "date": "2026-01-01",
        "prompt": f"prompt {n}",
        "metadata": Metadata(releases=["2026-2"]),
        "group": "cccl",
        "test_command": "./test.out",
    }
    return CudaCppProblem(**(fields | changes))


def solution(n: int = 1) -> FileSolution:
    return FileSolution(task_id=f"cccl/{n}", files=[SourceFile(path="solution.cu", content="x\n")])


def archive(path: Path, members: list[tuple[str, bytes]]) -> Path:
    """An archive as the public writer makes it: with tarfile's defaults."""
    with tarfile.open(path, "w:gz") as tar:
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size, info.mtime = len(content), 1.5
            tar.addfile(info, io.BytesIO(content))
    return path


def pack(path: Path, lines: list[bytes], **metadata: Any) -> Path:
    """A problem pack that promises what ``metadata`` says."""
    promised = {"release": "2026-2", "total_count": len(lines), "created_at": CREATED, "description": None}
    promised["task_id_hashes"] = {json.loads(line)["task_id"]: line_md5(line) for line in lines}
    promised = {key: value for key, value in (promised | metadata).items() if value is not ...}
    return archive(
        path, [("metadata.json", json.dumps(promised).encode()), ("problems.jsonl", b"".join(lines))]
    )


LINES = [encode_line(problem(n)) for n in (1, 2, 3)]


# -- writing -----------------------------------------------------------------------------------------------


def test_archive_to_the_byte(tmp_path: Path) -> None:
    """Whatever machine, user, umask, path or time: this archive."""
    written = write_problem_pack(tmp_path / "a.tar.gz", [problem(1)], release="2026-2", created_at=CREATED)
    content = written.path.read_bytes()
    assert hashlib.sha256(content).hexdigest() == written.sha256
    assert content[:10] == b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    tar = gzip.decompress(content)
    assert len(tar) % tarfile.RECORDSIZE == 0
    assert hashlib.sha256(tar).hexdigest() == TAR_SHA256
    with tarfile.open(fileobj=io.BytesIO(tar)) as opened:
        members = opened.getmembers()
    assert [(m.name, m.mode, m.uid, m.gid, m.uname, m.gname, m.mtime, m.pax_headers) for m in members] == [
        (name, 0o644, 0, 0, "", "", 1772600767, {}) for name in ("metadata.json", "problems.jsonl")
    ]


def test_metadata_has_the_public_layout(tmp_path: Path) -> None:
    write_problem_pack(
        tmp_path / "p.tar.gz",
        [problem(1)],
        release="2026-2",
        created_at=CREATED,
        description="é",
        extra_metadata={"revision": 2},
    )
    with tarfile.open(tmp_path / "p.tar.gz") as tar:
        text = tar.extractfile("metadata.json").read().decode()  # type: ignore[union-attr]
    assert text == (
        '{\n  "release": "2026-2",\n  "total_count": 1,\n  "created_at": "2026-03-04T05:06:07.890123",\n'
        '  "description": "é",\n  "task_id_hashes": {\n    "cccl/1": "' + line_md5(LINES[0]) + '"\n  },\n'
        '  "revision": 2\n}'
    )


def test_solution_metadata_has_the_public_layout(tmp_path: Path) -> None:
    path = tmp_path / "s.tar.gz"
    common: dict[str, Any] = {"release": "2026-2", "created_at": CREATED, "overwrite": True}
    write_solution_pack(path, [solution(1)], groups=["cccl"], **common)
    with open_solution_pack(path) as written:
        assert list(json.loads(written.metadata.encode())) == [
            *("release", "total_count", "created_at", "description", "groups")
        ]
    write_solution_pack(path, [solution(1)], groups=None, task_ids=["cccl/1"], **common)
    with open_solution_pack(path) as written:
        assert written.metadata.groups is None
        assert written.metadata.task_ids == ["cccl/1"]
        assert list(json.loads(written.metadata.encode()))[-2:] == ["groups", "task_ids"]


@pytest.mark.parametrize(
    ("created", "seconds"),
    [
        ("2026-03-04T05:06:07.890123", 1772600767),
        ("2026-03-04T05:06:07Z", 1772600767),
        ("2026-03-04T07:06:07+02:00", 1772600767),
        (datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC), 1772600767),
        (datetime(2026, 3, 4, 7, 6, 7, tzinfo=timezone(timedelta(hours=2))), 1772600767),
        ("1969-12-31", 0),
    ],
)
def test_files_inside_carry_the_time_of_creation(
    tmp_path: Path, created: str | datetime, seconds: int
) -> None:
    write_problem_pack(tmp_path / "p.tar.gz", [], release="r", created_at=created)
    with tarfile.open(tmp_path / "p.tar.gz") as tar:
        assert {member.mtime for member in tar} == {seconds}


def test_large_pack_equals_one_made_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_problem_pack(tmp_path / "a.tar.gz", LINES, release="r", created_at=CREATED)
    monkeypatch.setattr("ce_schema.packwriter._IN_MEMORY", 1)
    write_problem_pack(tmp_path / "b.tar.gz", LINES, release="r", created_at=CREATED)
    assert (tmp_path / "a.tar.gz").read_bytes() == (tmp_path / "b.tar.gz").read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["a.tar.gz", "b.tar.gz"]


def test_existing_pack_stays_unless_told_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "p.tar.gz"
    write_problem_pack(path, LINES, release="r", created_at=CREATED)
    before = path.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        write_problem_pack(path, [], release="r", created_at=CREATED)
    assert path.read_bytes() == before
    write_problem_pack(path, [], release="r", created_at=CREATED, overwrite=True)
    assert path.read_bytes() != before
    link = tmp_path / "link.tar.gz"
    link.symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match="exists already"):
        write_problem_pack(link, [], release="r", created_at=CREATED)


def test_target_that_comes_up_meanwhile_stays(tmp_path: Path) -> None:
    path = tmp_path / "p.tar.gz"

    def lines() -> Any:
        yield LINES[0]
        path.write_bytes(b"mine")

    with pytest.raises(InputError, match="exists already"):
        write_problem_pack(path, lines(), release="r", created_at=CREATED)
    assert path.read_bytes() == b"mine"
    assert os.listdir(tmp_path) == ["p.tar.gz"]


def test_interrupted_writing_leaves_nothing(tmp_path: Path) -> None:
    def lines() -> Any:
        yield LINES[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_problem_pack(tmp_path / "p.tar.gz", lines(), release="r", created_at=CREATED)
    assert os.listdir(tmp_path) == []


def test_permissions_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_problem_pack(tmp_path / "p.tar.gz", [], release="r", created_at=CREATED)
    finally:
        os.umask(before)
    assert (tmp_path / "p.tar.gz").stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (LINES[0], "task cccl/1 comes twice"),
        (b"", "not one line"),
        (LINES[1][:-1], "not one line"),
        (LINES[1] + LINES[2], "not one line"),
        (b"{}\n", "cannot be written"),
        (LINES[1].replace(b"}\n", b',"x":NaN}\n'), "NaN"),
        (problem(2, prompt="\ud800"), "cannot be written"),
        (problem(2, timeout_seconds=1e999), "not finite"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(tmp_path: Path, item: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_problem_pack(tmp_path / "p.tar.gz", [LINES[0], item], release="r", created_at=CREATED)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"created_at": "yesterday"}, "ISO 8601"),
        ({"extra_metadata": {"release": "x"}}, "cannot set release"),
        ({"extra_metadata": {"task_ids": []}}, "cannot set task_ids"),
    ],
)
def test_unusable_metadata(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        write_problem_pack(
            tmp_path / "p.tar.gz", LINES, **({"release": "r", "created_at": CREATED} | changes)
        )


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder does not exist"):
        write_problem_pack(tmp_path / "no" / "p.tar.gz", LINES, release="r", created_at=CREATED)


@pytest.mark.parametrize("in_memory", [1, 1 << 20])
def test_full_disk_is_told_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, in_memory: int
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ce_schema.packwriter._IN_MEMORY", in_memory)
    monkeypatch.setattr("ce_schema.tarwrite.os.fsync", full)
    if in_memory == 1:
        monkeypatch.setattr("tempfile.SpooledTemporaryFile.rollover", full)
    path = tmp_path / "p.tar.gz"
    with pytest.raises(InputError, match="cannot be written: No space left") as error:
        write_problem_pack(path, LINES, release="r", created_at=CREATED)
    assert error.value.where == str(path)
    assert os.listdir(tmp_path) == []


# -- reading what was written ------------------------------------------------------------------------------


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(problems(), max_size=4, unique_by=lambda item: item.task_id))
def test_problems_come_back(tmp_path_factory: pytest.TempPathFactory, items: list[Problem]) -> None:
    path = tmp_path_factory.mktemp("pack") / "p.tar.gz"
    written = write_problem_pack(path, items, release="any name", created_at=CREATED)
    with open_problem_pack(path) as read:
        assert read.metadata == written.metadata
        assert [(r.line_number, r.raw, r.item) for r in read] == [
            (n, encode_line(item), item) for n, item in enumerate(items, 1)
        ]
    lines = tmp_path_factory.mktemp("lines") / "problems.jsonl"
    lines.write_bytes(b"".join(map(encode_line, items)))
    assert [record.item for record in read_jsonl(lines)] == items


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(solutions(), max_size=4))
def test_solutions_come_back(tmp_path_factory: pytest.TempPathFactory, items: list[Any]) -> None:
    path = tmp_path_factory.mktemp("pack") / "s.tar.gz"
    write_solution_pack(path, items, release="2026-2", created_at=CREATED, groups=None)
    with open_solution_pack(path) as read:
        assert [record.item for record in read] == items
    assert verify_pack(path) == []


def test_finished_lines_stay_as_they_are(tmp_path: Path) -> None:
    older = LINES[0].replace(b'"base_image":null,', b"")
    spaced = json.dumps(json.loads(LINES[1])).encode() + b"\n"
    write_problem_pack(tmp_path / "p.tar.gz", [older, spaced], release="r", created_at=CREATED)
    with open_problem_pack(tmp_path / "p.tar.gz") as read:
        assert [record.raw for record in read] == [older, spaced]
    write_problem_pack(
        tmp_path / "q.tar.gz",
        [record.item for record in read_jsonl(_lines(tmp_path, older))],
        release="r",
        created_at=CREATED,
    )
    with open_problem_pack(tmp_path / "q.tar.gz") as read:
        assert [record.raw for record in read] == [LINES[0]]


def _lines(folder: Path, *lines: bytes) -> Path:
    path = folder / "lines.jsonl"
    path.write_bytes(b"".join(lines))
    return path


def test_iterations_are_independent(tmp_path: Path) -> None:
    with open_problem_pack(pack(tmp_path / "p.tar.gz", LINES)) as read:
        assert [(a.line_number, b.line_number) for a, b in zip(read, read, strict=True)] == [
            (1, 1),
            (2, 2),
            (3, 3),
        ]
        assert next(iter(read)).line_number == 1
        assert len(list(read)) == 3


def test_kind_is_told_and_asked_for(tmp_path: Path) -> None:
    problem_path, solution_path = tmp_path / "p.tar.gz", tmp_path / "s.tar.gz"
    write_problem_pack(problem_path, LINES, release="r", created_at=CREATED)
    write_solution_pack(solution_path, [solution()], release="r", created_at=CREATED, groups=None)
    with open_pack(problem_path) as one, open_pack(solution_path) as other:
        assert (one.kind, other.kind) == ("problems", "solutions")
        assert isinstance(one, ProblemPack)
        assert isinstance(other, SolutionPack)
    with pytest.raises(PackError, match="holds solutions, not problems"):
        open_problem_pack(solution_path)
    with pytest.raises(PackError, match="holds problems, not solutions"):
        open_solution_pack(problem_path)


def test_order_of_members_is_the_writers(tmp_path: Path) -> None:
    metadata = json.dumps({"release": "r", "total_count": 3}).encode()
    path = archive(tmp_path / "p.tar.gz", [("problems.jsonl", b"".join(LINES)), ("metadata.json", metadata)])
    with open_problem_pack(path) as read:
        assert [record.raw for record in read] == LINES


def test_keys_of_the_future_are_kept(tmp_path: Path) -> None:
    path = pack(tmp_path / "p.tar.gz", LINES, release="2031-7", signed_by=["a", {"b": 1}])
    with open_problem_pack(path) as read:
        assert read.metadata.release == "2031-7"
        assert json.loads(read.metadata.encode())["signed_by"] == ["a", {"b": 1}]
    assert verify_pack(path) == []


def test_last_line_without_a_newline_and_blank_lines(tmp_path: Path) -> None:
    path = _lines(tmp_path, LINES[0], b"\n", LINES[1][:-1])
    assert [(r.line_number, r.raw) for r in read_jsonl(path)] == [(1, LINES[0]), (3, LINES[1][:-1])]


def test_disk_that_fails_while_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bytes:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    path = pack(tmp_path / "p.tar.gz", LINES)
    with open_problem_pack(path) as read:
        monkeypatch.setattr("ce_schema.tarstream.os.pread", fail)
        with pytest.raises(PackError, match="cannot be read: Input/output error"):
            list(read)


def test_closed_pack_is_an_error(tmp_path: Path) -> None:
    lines = [encode_line(problem(n, prompt="".join(map(str, range(n * 50_000))))) for n in (1, 2, 3)]
    with open_problem_pack(pack(tmp_path / "p.tar.gz", lines)) as read:
        begun = iter(read)
        next(begun)
    read.close()
    for lines in (begun, read):
        with pytest.raises(PackError, match="was closed"):
            list(lines)


# -- promises that are not kept ----------------------------------------------------------------------------


def read_all(path: Path, *, verify: bool = True) -> list[bytes]:
    with open_pack(path, verify=verify) as read:
        return [record.raw for record in read]


WRONG = "0" * 32
HASHES = {f"cccl/{n}": line_md5(line) for n, line in enumerate(LINES, 1)}


@pytest.mark.parametrize(
    ("metadata", "message", "place"),
    [
        (
            {"task_id_hashes": HASHES | {"cccl/2": WRONG}},
            f"task cccl/2 has the MD5 {HASHES['cccl/2']}, but {WRONG} is listed",
            "problems.jsonl:2:1",
        ),
        (
            {"task_id_hashes": {"cccl/1": HASHES["cccl/1"], "cccl/3": HASHES["cccl/3"]}},
            "no hash is listed for task cccl/2",
            "problems.jsonl:2:1",
        ),
        (
            {"task_id_hashes": HASHES | {"cccl/4": WRONG}},
            "listed for task 'cccl/4', which has no line",
            "problems.jsonl",
        ),
        ({"total_count": 2}, "holds 3 lines, but metadata.json counts 2", "problems.jsonl"),
        ({"total_count": 4}, "holds 3 lines, but metadata.json counts 4", "problems.jsonl"),
    ],
)
def test_broken_promise(tmp_path: Path, metadata: dict[str, Any], message: str, place: str) -> None:
    path = pack(tmp_path / "p.tar.gz", LINES, **metadata)
    with pytest.raises(PackError) as error:
        read_all(path)
    assert message in error.value.what
    assert error.value.where == f"{path}!{place}"
    assert [(f.message, str(f.location)) for f in verify_pack(path)] == [
        (error.value.what, error.value.where)
    ]
    assert read_all(path, verify=False) == LINES


def test_lines_before_the_changed_one_are_yielded(tmp_path: Path) -> None:
    path = pack(tmp_path / "p.tar.gz", LINES, task_id_hashes=HASHES | {"cccl/3": WRONG})
    seen = []
    with open_problem_pack(path) as read, pytest.raises(PackError):
        seen += [record.raw for record in read]
    iterator = iter(open_problem_pack(path))
    assert [next(iterator).raw, next(iterator).raw] == LINES[:2]


def test_one_flipped_bit_in_a_line_is_noticed(tmp_path: Path) -> None:
    changed = LINES[1].replace(b"prompt 2", b"prompt 0")
    path = pack(tmp_path / "p.tar.gz", [LINES[0], changed, LINES[2]], task_id_hashes=HASHES)
    with pytest.raises(PackError, match="task cccl/2 has the MD5"):
        read_all(path)


def test_task_that_comes_twice(tmp_path: Path) -> None:
    path = pack(tmp_path / "p.tar.gz", [*LINES, LINES[0]])
    for verify in (True, False):
        with pytest.raises(PackError, match="task cccl/1 stands on line 1 already") as error:
            read_all(path, verify=verify)
        assert error.value.where == f"{path}!problems.jsonl:4:1"
    with pytest.raises(PackError, match="stands on line 1 already"):
        list(read_jsonl(_lines(tmp_path, LINES[0], LINES[0])))


def test_several_solutions_of_a_task_are_samples(tmp_path: Path) -> None:
    path = tmp_path / "s.tar.gz"
    write_solution_pack(path, [solution()] * 3, release="r", created_at=CREATED, groups=["cccl"])
    assert len(read_all(path)) == 3
    assert verify_pack(path) == []


def test_bad_line_tells_archive_member_line_and_column(tmp_path: Path) -> None:
    bad = LINES[1].replace(b'"group"', b'"group" 1', 1)
    path = pack(tmp_path / "p.tar.gz", LINES)
    path = archive(
        path, [("metadata.json", b'{"release":"r","total_count":2}'), ("problems.jsonl", LINES[0] + bad)]
    )
    with pytest.raises(PackError, match="is not JSON: expected `:`") as error:
        read_all(path)
    assert error.value.where == f"{path}!problems.jsonl:2:{bad.find(b'"group" 1') + 9}"


def test_verify_reports_everything(tmp_path: Path) -> None:
    lines = [
        LINES[0],
        LINES[0],
        b"{}\n",
        encode_line(
            problem(2, context_files=[SourceFile(path="../x", content=""), SourceFile(path="a", content="")])
        ),
        encode_line(problem(3, test_files=[SourceFile(path="a", content="")] * 2, task_id="a b")),
    ]
    metadata = {"release": "r", "total_count": 9, "task_id_hashes": HASHES}
    metadata_json = json.dumps(metadata).encode()
    path = archive(
        tmp_path / "p.tar.gz", [("metadata.json", metadata_json), ("problems.jsonl", b"".join(lines))]
    )
    found = [(f.rule, f.location.line, f.severity) for f in verify_pack(path)]
    error = Severity.ERROR
    assert found == [
        ("pack-duplicate", 2, error),
        ("pack-line", 3, error),
        ("pack-hash", 4, error),
        ("pack-path", 4, error),
        ("pack-hash", 5, error),
        ("pack-task-id", 5, error),
        ("pack-path", 5, error),
        ("pack-count", 0, error),
        ("pack-hash", 0, error),
    ]


def test_verify_stops_at_a_thousand_findings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datapack, "MAX_FINDINGS", 10)
    metadata = b'{"release":"r","total_count":20}'
    path = archive(tmp_path / "s.tar.gz", [("metadata.json", metadata), ("solutions.jsonl", b"{}\n" * 20)])
    findings = verify_pack(path)
    assert len(findings) == 11
    assert "more than 10 findings" in findings[-1].message


def test_problem_pack_without_hashes_is_readable_with_a_warning(tmp_path: Path) -> None:
    path = pack(tmp_path / "p.tar.gz", LINES, task_id_hashes=...)
    assert read_all(path) == LINES
    assert [(f.rule, f.severity) for f in verify_pack(path)] == [("pack-hash", Severity.WARNING)]


def test_solution_outside_the_tasks_of_its_pack(tmp_path: Path) -> None:
    path = tmp_path / "s.tar.gz"
    items = [solution(1), solution(2)]
    write_solution_pack(path, items, release="r", created_at=CREATED, groups=["cccl"], task_ids=["cccl/1"])
    assert [(f.rule, f.location.line) for f in verify_pack(path)] == [("pack-task-id", 2)]


@pytest.mark.parametrize(
    ("metadata", "message", "place"),
    [
        (b"", "is not JSON", ":1:1"),
        (b"[]", "Input should be an object", ""),
        (b"{}", "release: Field required", ""),
        (b'{"release":"r","total_count":-1}', "total_count", ""),
        (b'{"release":"r","total_count":"1"}', "total_count", ""),
        (b'{"release":"r","total_count":1.0}', "total_count", ""),
        (b'{"release":"r","total_count":true}', "total_count", ""),
        (b'{"release":1,"total_count":1}', "release", ""),
        (b'{\n"release":"r",\n"total_count":1,\n "release":"s"}', "the key release twice", ":4:2"),
        (b'{"release":"r","total_count":1,"task_id_hashes":{"a":"x","a":"y"}}', "the key a twice", ":1:58"),
        (b'{"release":"r","total_count":1,"task_id_hashes":[]}', "task_id_hashes", ""),
        (b'{"release":"r","total_count":1,"x":Infinity}', "Infinity", ":1:36"),
        (b'{"release":"\xff","total_count":1}', "invalid unicode", ":1:13"),
    ],
)
def test_bad_metadata(tmp_path: Path, metadata: bytes, message: str, place: str) -> None:
    path = archive(tmp_path / "p.tar.gz", [("metadata.json", metadata), ("problems.jsonl", LINES[0])])
    with pytest.raises(PackError) as error:
        open_pack(path)
    assert message in error.value.what
    assert error.value.where == f"{path}!metadata.json{place}"
    assert [f.severity for f in verify_pack(path)] == [Severity.ERROR]


def test_limits_on_task_ids_and_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(PackError, match="longer than 255"):
        read_all(pack(tmp_path / "p.tar.gz", [encode_line(problem(task_id="x" * 256))]))
    monkeypatch.setattr(packlines, "MAX_PROBLEMS", 2)
    with pytest.raises(PackError, match="more than 2 problems"):
        read_all(pack(tmp_path / "p.tar.gz", LINES))
