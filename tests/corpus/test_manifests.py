from __future__ import annotations

import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ce_corpus.manifests import (
    CertifiedOn,
    CertifyingMachine,
    Manifest,
    PackRecord,
    Revision,
    TaskRecord,
    changed_tasks,
    encode_manifest,
    manifest_path,
    natural_sorted,
    parse_manifest,
    read_manifest,
    read_manifests,
    write_manifest,
)
from ce_schema.errors import InputError

HEX = "0123456789abcdef"
MACHINE = CertifyingMachine(
    gpu="Synthetic GPU",
    compute_capability="9.0",
    driver="1.2",
    cuda_toolkit="13.0",
    image_digest=None,
    mode="sandbox",
    tasks=1,
)


def record(seed: str) -> TaskRecord:
    return TaskRecord(md5=seed * 32, behaviour_sha256=seed * 64)


def revision(number: int, tasks: dict[str, TaskRecord], reasons: dict[str, str] | None = None) -> Revision:
    return Revision(
        revision=number,
        created_at="2026-11-30T20:00:00+00:00",
        commit="a" * 40,
        toolkit_version="0.1.0",
        description=None,
        pack=PackRecord(file=f"r{number}.tar.gz", sha256="b" * 64, tar_sha256="c" * 64),
        policy={"rungs": ["lint"], "test_passes": 20},
        certified_on=CertifiedOn(machines=(MACHINE,)),
        groups={"cccl": len(tasks)},
        tasks=tasks,
        reasons=reasons or {},
    )


TWO = {"cub/2": record("1"), "cub/10": record("2")}
FIXED = {**TWO, "cub/2": record("3")}


def test_writes_keys_in_natural_order_whatever_the_order_at_hand(tmp_path: Path) -> None:
    path = write_manifest(tmp_path, Manifest(release="2026-2", revisions=(revision(1, TWO),)))
    backwards = dict(reversed(TWO.items()))
    assert path.read_text() == encode_manifest(
        Manifest(release="2026-2", revisions=(revision(1, backwards),))
    )
    assert list(json.loads(path.read_text())["revisions"][0]["tasks"]) == ["cub/2", "cub/10"]


def test_reads_what_it_wrote(tmp_path: Path) -> None:
    manifest = Manifest(
        release="2026-2", revisions=(revision(1, TWO), revision(2, FIXED, {"cub/2": "Größe war falsch"}))
    )
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path, "2026-2") == manifest
    assert read_manifest(tmp_path, "2026-1") is None


def test_reads_all_oldest_release_first(tmp_path: Path) -> None:
    for name in ("2026-10", "2026-9", "2025-3"):
        write_manifest(tmp_path, Manifest(release=name, revisions=(revision(1, TWO),)))
    assert list(read_manifests(tmp_path)) == ["2025-3", "2026-9", "2026-10"]
    assert read_manifests(tmp_path / "nowhere") == {}


@pytest.mark.parametrize(
    ("revisions", "message"),
    [
        ([], "at least 1"),
        ([revision(2, TWO)], "revision 2 stands where 1 belongs"),
        ([revision(1, TWO), revision(2, {"cub/2": record("3")}, {"cub/2": "x"})], "same tasks: cub/10"),
        ([revision(1, TWO), revision(2, FIXED)], "cub/2 changed without a reason"),
        ([revision(1, TWO), revision(2, TWO, {"cub/2": "x"})], "cub/2 has a reason but did not change"),
        ([revision(1, TWO, {"cub/2": "x"})], "can hold no reasons"),
    ],
)
def test_refuses_broken_promises(revisions: list[Revision], message: str) -> None:
    data = {
        "manifest_version": 1,
        "release": "2026-2",
        "revisions": [item.model_dump(mode="json") for item in revisions],
    }
    with pytest.raises(InputError, match=message) as caught:
        parse_manifest(json.dumps(data).encode(), "m.json")
    assert caught.value.where == "m.json"


def test_refuses_a_manifest_under_another_name_and_what_is_none(tmp_path: Path) -> None:
    path = write_manifest(tmp_path, Manifest(release="2026-2", revisions=(revision(1, TWO),)))
    path.rename(manifest_path(tmp_path, "2026-1"))
    with pytest.raises(InputError, match="speaks of release 2026-2"):
        read_manifest(tmp_path, "2026-1")
    path.write_text("{")
    with pytest.raises(InputError, match="no sound manifest"):
        read_manifest(tmp_path, "2026-2")


def test_finds_revisions_and_the_one_that_brought_a_line() -> None:
    manifest = Manifest(
        release="2026-2",
        revisions=(revision(1, TWO), revision(2, FIXED, {"cub/2": "x"}), revision(3, TWO, {"cub/2": "y"})),
    )
    assert manifest.find(None).revision == 3
    assert manifest.find(2).revision == 2
    assert manifest.origin("cub/2").revision == 3  # back to an older line is a change too
    assert manifest.origin("cub/10").revision == 1
    with pytest.raises(InputError, match="no revision 4") as caught:
        manifest.find(4)
    assert "1 to 3" in str(caught.value.fix)


def test_changed_tasks_are_those_of_both_with_another_line() -> None:
    assert changed_tasks(TWO, {**FIXED, "cub/3": record("4")}) == ["cub/2"]


TASK_IDS = st.from_regex(r"[A-Za-z][A-Za-z0-9._+-]{0,8}/[0-9]{1,3}", fullmatch=True)
RECORDS = st.builds(
    TaskRecord,
    md5=st.text(HEX, min_size=32, max_size=32),
    behaviour_sha256=st.text(HEX, min_size=64, max_size=64),
)


@st.composite
def manifests(draw: st.DrawFn) -> Manifest:
    tasks = draw(st.dictionaries(TASK_IDS, RECORDS, min_size=1, max_size=6))
    revisions = [revision(1, tasks)]
    for number in range(2, draw(st.integers(2, 4))):
        after = {**tasks, **draw(st.dictionaries(st.sampled_from(sorted(tasks)), RECORDS))}
        why = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
        revisions.append(revision(number, after, {t: draw(why) for t in changed_tasks(tasks, after)}))
        tasks = after
    return Manifest(release=draw(st.sampled_from(["2025-1", "2026-12"])), revisions=tuple(revisions))


@given(manifests())
def test_any_manifest_survives_writing(manifest: Manifest) -> None:
    text = encode_manifest(manifest)
    again = parse_manifest(text.encode(), "m")
    assert again == manifest
    assert encode_manifest(again) == text


@given(st.lists(st.text(string.ascii_letters + string.digits + "/-", max_size=12)))
def test_natural_order_is_total_and_independent_of_the_start(texts: list[str]) -> None:
    assert natural_sorted(texts) == natural_sorted(reversed(texts))
