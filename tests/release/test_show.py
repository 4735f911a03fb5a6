from __future__ import annotations

from release_support import Workshop, run


def test_no_release_yet(workshop: Workshop) -> None:
    result = run("show")
    assert (result.code, result.out) == (0, "")
    assert "no release was cut" in result.err
    assert run("show", "--json").json == []


def test_lists_the_releases(released: Workshop) -> None:
    line = run("show").out.splitlines()[1]
    assert line.split()[:4] == ["2026-1", "1", "3", "2026-02-02"]
    assert line.endswith("cuda-kernels 2, cccl 1")
    row = run("show", "--json").json[0]
    assert (row["release"], row["problems"], row["revisions"]) == ("2026-1", 3, 1)


def test_shows_a_revision_with_its_reasons_and_machines(released: Workshop) -> None:
    released.problem("cub/1", group="cccl", prompt="Clearer.", metadata="  topic: cub\n")
    released.commit()
    released.cut("2026-1", "--revision", "--reason", "cub/1=ambiguous")
    text = run("show", "2026-1").out
    assert "2026-1, revision 2 of 2" in text
    assert "Synthetic GPU, driver 1.2.3, CUDA 13.0, mode sandbox: 3 problems" in text
    assert "cub/1: ambiguous" in text
    assert "ambiguous" not in run("show", "2026-1@1").out
    assert run("show", "2026-1", "--json").json["reasons"] == {"cub/1": "ambiguous"}


def test_shows_a_pack(released: Workshop) -> None:
    text = run("show", released.pack()).out
    assert "release       2026-1" in text
    assert "cuda-kernels 2, cccl 1" in text
    data = run("show", released.pack(), "--json").json
    assert data["groups"] == {"cuda-kernels": 2, "cccl": 1}
    assert set(data["tasks"]) == {"cub/1", "cuda-kernels/2", "cuda-kernels/10"}


def test_unknown_releases_and_files(released: Workshop) -> None:
    result = run("show", "2026-2")
    assert result.code == 2
    assert "was never cut here" in result.err
    assert "2026-1" in result.err
    assert run("show", "2026-1@3").code == 2
    assert run("show", "nowhere.tar.gz").code == 2
