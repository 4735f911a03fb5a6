"""Packs and lines against the public evaluator's own reader and writer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from strategies import PUBLIC_RELEASES, problems, solutions

from ce_schema.datapack import (
    open_problem_pack,
    open_solution_pack,
    verify_pack,
    write_problem_pack,
    write_solution_pack,
)
from ce_schema.lines import encode_line, line_md5, problem_adapter
from ce_schema.problem import CudaCppProblem, Metadata, Problem
from ce_schema.solution import FileSolution, SourceFile

if TYPE_CHECKING:
    from conftest import Peer

pytestmark = pytest.mark.peer

CREATED = "2026-03-04T05:06:07"
EXAMPLES = 500
# Where ways to write a number, and to escape a character, part.
FLOATS = [
    0.0,
    -0.0,
    60.0,
    0.1,
    1 / 3,
    1e-5,
    1e-7,
    123456789.0,
    1e15,
    1e16,
    1e17,
    1e22,
    5e-324,
    1.7976931348623157e308,
]
TRICKY = [0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFF, 0x1F600, 0x10FFFF]


def examples[T](strategy: st.SearchStrategy[T]) -> list[T]:
    """Several hundred values, the same each time."""
    found: list[T] = []

    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(value: T) -> None:
        found.append(value)

    collect()
    return found


@pytest.fixture(scope="module")
def varied() -> list[Problem]:
    """Problems with every field in every form, each with an id of its own."""
    items = examples(problems())
    items += [items[0].model_copy(update={"timeout_seconds": number}) for number in FLOATS]
    items.append(items[0].model_copy(update={"prompt": "".join(map(chr, [*range(0x300), *TRICKY]))}))
    return [
        item.model_copy(update={"task_id": f"{item.group}/{number}"}) for number, item in enumerate(items)
    ]


@pytest.fixture(scope="module")
def rewritten(peer: Peer, varied: list[Problem], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A pack of those problems, read and written by the public evaluator."""
    folder = tmp_path_factory.mktemp("packs")
    write_problem_pack(folder / "ours.tar.gz", varied, release="2026-2", created_at=CREATED)
    peer.call("rewrite_problems", folder / "ours.tar.gz", folder / "theirs.tar.gz", "2026-2")
    return folder / "theirs.tar.gz"


def test_same_problem_same_line_same_hash(rewritten: Path, varied: list[Problem]) -> None:
    with open_problem_pack(rewritten) as theirs:
        lines = [record.raw for record in theirs]
        hashes = theirs.metadata.task_id_hashes
    assert lines == [encode_line(item) for item in varied]
    assert hashes == {item.task_id: line_md5(encode_line(item)) for item in varied}
    assert len(lines) >= EXAMPLES


def test_examples_cover_the_format(varied: list[Problem]) -> None:
    """The comparison above is worth as much as what it compared."""
    text = b"".join(map(encode_line, varied)).decode()
    assert {item.timing_mode.type for item in varied} == {"process", "kernels", "region", "gpu", "custom"}
    assert {item.type for item in varied} == {"cuda_cpp", "cuda_python"}
    assert {item.baseline_solution and item.baseline_solution.type for item in varied} == {
        None,
        "file",
        "patch",
    }
    for field in ("source_references", "base_image", "timeout_seconds", "min_cuda_toolkit", "build_command"):
        assert len({getattr(item, field) is None for item in varied}) == 2, field
    for part in ('"any":null,"all":[', '"any":[', "e-", "e+", "\\u0000", "\u2028", "\U0001f600", '"x-'):
        assert part in text, part


def test_their_problem_pack_is_in_order(rewritten: Path, varied: list[Problem]) -> None:
    assert [f.message for f in verify_pack(rewritten) if f.rule not in {"pack-path", "pack-task-id"}] == []
    with open_problem_pack(rewritten) as theirs:
        assert [record.item for record in theirs] == varied
        assert theirs.metadata.description == "rewritten"
        assert theirs.metadata.total_count == len(varied)


def test_same_layout_of_metadata(peer: Peer, tmp_path: Path) -> None:
    """From the same facts, the metadata are the same to the byte."""
    item = CudaCppProblem(
        task_id="cccl/1", date="2026-01-01", prompt="é", metadata=Metadata(), group="cccl", test_command="t"
    )
    answer = FileSolution(task_id="cccl/1", files=[SourceFile(path="a.cu", content="x\n")])
    ours, theirs, again = tmp_path / "ours.tar.gz", tmp_path / "theirs.tar.gz", tmp_path / "again.tar.gz"
    write_problem_pack(ours, [item], release="2026-2", created_at=CREATED)
    peer.call("rewrite_problems", ours, theirs, "2026-2")
    created, metadata = _metadata(theirs)
    write_problem_pack(again, [item], release="2026-2", created_at=created, description="rewritten")
    assert _metadata(again)[1] == metadata
    write_solution_pack(ours, [answer], release="2026-1", created_at=CREATED, groups=["cccl"], overwrite=True)
    peer.call("rewrite_solutions", ours, theirs, "2026-1", "cccl")
    created, metadata = _metadata(theirs)
    write_solution_pack(
        again, [answer], release="2026-1", created_at=created, groups=["cccl"], overwrite=True
    )
    assert _metadata(again)[1] == metadata


def _metadata(path: Path) -> tuple[str, bytes]:
    import tarfile

    with tarfile.open(path) as tar:
        content = tar.extractfile("metadata.json").read()  # type: ignore[union-attr]
    return json.loads(content)["created_at"], content


def test_same_solution_same_line(peer: Peer, tmp_path: Path) -> None:
    items = examples(solutions())
    write_solution_pack(
        tmp_path / "ours.tar.gz",
        items,
        release="2026-2",
        created_at=CREATED,
        groups=["cccl"],
        task_ids=["cccl/1"],
    )
    peer.call("rewrite_solutions", tmp_path / "ours.tar.gz", tmp_path / "theirs.tar.gz", "2026-2", "cccl")
    with open_solution_pack(tmp_path / "theirs.tar.gz") as theirs:
        lines = [record.raw for record in theirs]
        assert theirs.metadata.groups == ["cccl"]
    # Their reader notes on each solution where it came from, as a key like those of the solution's maker.
    noted = [item.model_copy(update={"datapack_name": "ours.tar.gz"}) for item in items]
    assert lines == [encode_line(item) for item in noted]
    assert verify_pack(tmp_path / "theirs.tar.gz") == []


@pytest.mark.parametrize("release", PUBLIC_RELEASES)
def test_our_packs_load(peer: Peer, tmp_path: Path, varied: list[Problem], release: str) -> None:
    some = varied[:20]
    path = tmp_path / "problems.tar.gz"
    write_problem_pack(
        path, some, release=release, created_at=CREATED, description="é", extra_metadata={"revision": 3}
    )
    read = peer.call("read_problems", path, release)
    assert read["items"] == [json.loads(encode_line(item)) for item in some]
    hashes = {item.task_id: line_md5(encode_line(item)) for item in some}
    assert read["metadata"] == {
        "release": release,
        "total_count": len(some),
        "created_at": CREATED,
        "description": "é",
        "task_id_hashes": hashes,
    }


def test_our_solution_packs_load(peer: Peer, tmp_path: Path) -> None:
    path = tmp_path / "solutions.tar.gz"
    answer = FileSolution(task_id="cccl/1", files=[SourceFile(path="a.cu", content="x\n")], model="m")
    common: dict[str, Any] = {"release": "2026-2", "created_at": CREATED, "overwrite": True}
    write_solution_pack(path, [answer, answer], groups=["cccl"], task_ids=["cccl/1"], **common)
    read = peer.call("read_solutions", path)
    noted = json.loads(encode_line(answer)) | {"datapack_name": path.name}
    assert read["items"] == [noted, noted]
    assert read["metadata"]["groups"] == ["cccl"]
    write_solution_pack(path, [], groups=None, **common)
    assert peer.call("read_solutions", path)["metadata"]["groups"] is None


def test_lines_of_an_older_vintage_are_carried_over(
    peer: Peer, varied: list[Problem], tmp_path: Path
) -> None:
    """A pack as releases up to 2026-1 have it; their writer adds a key to its lines, ours need not."""
    older = []
    for item in varied[:100]:
        data = json.loads(encode_line(item))
        del data["base_image"]
        older.append(encode_line(problem_adapter().validate_python(data), keep_vintage=True))
    assert all(b'"base_image"' not in line for line in older)
    write_problem_pack(tmp_path / "older.tar.gz", older, release="2025-3", created_at=CREATED)
    with open_problem_pack(tmp_path / "older.tar.gz") as pack:
        hashes = pack.metadata.task_id_hashes
        kept = [encode_line(record.item, keep_vintage=True) for record in pack]
        renewed = [encode_line(record.item) for record in pack]
    assert kept == older
    assert hashes == {json.loads(line)["task_id"]: line_md5(line) for line in older}
    peer.call("rewrite_problems", tmp_path / "older.tar.gz", tmp_path / "theirs.tar.gz", "2025-3")
    with open_problem_pack(tmp_path / "theirs.tar.gz") as theirs:
        assert [record.raw for record in theirs] == renewed


def test_our_packs_are_graded(peer: Peer, tmp_path: Path) -> None:
    """The whole way: a pack of ours, solutions of ours, their command line."""
    items = [
        CudaCppProblem(
            task_id=f"cuda-runtime/{number}",
            date="2026-01-01",
            prompt="Write answer.sh, which prints the answer.",
            metadata=Metadata(releases=["2026-2"]),
            group="cuda-runtime",
            context_files=[SourceFile(path="hint.txt", content="a number\n")],
            test_files=[SourceFile(path="test/check.sh", content='test "$(sh answer.sh)" = 42\n')],
            test_command="sh test/check.sh",
            compute_capability=None,
        )
        for number in (1, 2)
    ]
    write_problem_pack(tmp_path / "p.tar.gz", items, release="2026-2", created_at=CREATED)
    answers = [
        FileSolution(task_id=item.task_id, files=[SourceFile(path="answer.sh", content=f"echo {said}\n")])
        for item, said in zip(items, ("42", "41"), strict=True)
    ]
    pack = tmp_path / "m-solutions.tar.gz"
    write_solution_pack(pack, answers, release="2026-2", created_at=CREATED, groups=["cuda-runtime"])
    summary = peer.evaluate(
        tmp_path, release="2026-2", problems_source=tmp_path / "p.tar.gz", solutions_datapack=pack
    )
    assert summary["pass_at_k"] == {"skipped": 0, "pass@1": 0.5}
    (graded,) = tmp_path.glob("*graded-solutions.jsonl")
    grades = [json.loads(line) for line in graded.read_text().splitlines()]
    assert {grade["task_id"]: grade["passed"] for grade in grades} == {
        "cuda-runtime/1": True,
        "cuda-runtime/2": False,
    }
