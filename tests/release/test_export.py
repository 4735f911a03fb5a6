from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from release_support import Workshop, run
from strategies import problems

from ce_release.export import export_records
from ce_release.packs import load_pack
from ce_schema.lines import encode_line
from ce_schema.packlines import Record
from ce_schema.problem import Problem


@pytest.fixture
def mixed(bare: Workshop) -> Path:
    """A pack of 2026-2 with a published and an extension group, and a line that names a later release."""
    bare.problem("cuda-kernels/1", releases=("2026-1", "2026-2"))
    folder = bare.problem(
        "cub/1", group="cccl", releases=("2025-9", "2026-2"), metadata="  topic: cub\n", certified=False
    )
    (folder / "baseline").mkdir()
    (folder / "baseline" / "solution.cu").write_text("void k() { }\n")  # the reference travels in metadata
    bare.certify("cub/1")
    bare.problem("triton/1", group="triton", releases=("2026-2",))
    bare.commit()
    assert bare.cut("2026-2").code == 0
    return bare.pack("2026-2-problems.tar.gz")


def test_leaves_out_what_the_public_evaluator_cannot_read_and_says_why(mixed: Path, tmp_path: Path) -> None:
    out = tmp_path / "public.tar.gz"
    result = run("export", mixed, "--output", out)
    assert (result.code, result.out) == (0, f"{out}\n")
    assert "left out 1 (group triton is an extension): triton/1" in result.err
    assert "dropped names of other releases from 1 problems" in result.err
    before, after = load_pack(mixed).tasks, load_pack(out).tasks
    assert list(after) == ["cuda-kernels/1", "cub/1"]
    assert after["cuda-kernels/1"].raw == before["cuda-kernels/1"].raw
    assert after["cub/1"].problem.metadata.releases == ["2026-2"]
    data = run("export", mixed, "--output", out, "--overwrite", "--json").json
    assert data["left_out"] == {"triton/1": "group triton is an extension"}
    assert (data["problems"], data["release_names_dropped"], data["release"]) == (2, 1, "2026-2")


def test_never_replaces_a_file_unasked(mixed: Path, tmp_path: Path) -> None:
    out = tmp_path / "public.tar.gz"
    run("export", mixed, "--output", out)
    result = run("export", mixed, "--output", out)
    assert result.code == 2
    assert "exists already" in result.err
    assert run("export", mixed, "--output", out, "--overwrite").code == 0


def test_the_release_must_have_a_public_name(workshop: Workshop, tmp_path: Path) -> None:
    workshop.problem("cub/2", group="cccl", releases=("2026-7",))
    workshop.commit()
    workshop.cut("2026-7")
    pack, out = workshop.pack("2026-7-problems.tar.gz"), tmp_path / "p.tar.gz"
    result = run("export", pack, "--output", out)
    assert result.code == 2
    assert "knows no release '2026-7'" in result.err
    assert "internal" in result.err
    result = run("export", pack, "--output", out, "--as-release", "2026-22")
    assert result.code == 2
    assert "Did you mean 2026-2" in result.err
    assert run("export", pack, "--output", out, "--as-release", "internal").code == 0
    assert load_pack(out).metadata.release == "internal"


def test_nothing_left_is_a_finding(bare: Workshop, tmp_path: Path) -> None:
    bare.problem("triton/1", group="triton", releases=("2026-2",))
    bare.commit()
    bare.cut("2026-2")
    result = run("export", bare.pack("2026-2-problems.tar.gz"), "--output", tmp_path / "p.tar.gz")
    assert result.code == 1
    assert (
        "no problem that the public evaluator can read (group triton is an extension: triton/1)" in result.err
    )
    assert not (tmp_path / "p.tar.gz").exists()


@settings(max_examples=40, deadline=None)
@given(st.lists(problems(), max_size=5, unique_by=lambda item: item.task_id))
def test_lines_with_public_names_alone_keep_their_bytes(items: list[Problem]) -> None:
    records = [Record(n, encode_line(item), item) for n, item in enumerate(items, 1)]
    exported = export_records(records)
    assert exported.lines == [record.raw for record in records]
    assert (exported.left_out, exported.renamed) == ({}, 0)
