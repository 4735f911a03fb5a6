"""Archives whose blocks are compressed side by side: one gzip stream, the same on any number of cores."""

from __future__ import annotations

import gzip
import hashlib
import os
import random
from pathlib import Path

import pytest

from ce_schema.tarwrite import memory_member, write_archive

BLOCK = 1 << 20


def text(size: int) -> bytes:
    rng = random.Random(size)
    words = [bytes(rng.choices(b"abcdefghijklmnop ", k=rng.randint(3, 30))) for _ in range(500)]
    data = b"".join(rng.choices(words, k=size // 10 + 10))
    return (data * (size // len(data) + 1))[:size]


@pytest.mark.parametrize("size", [0, 1, BLOCK - 1025, BLOCK, 3 * BLOCK + 17, 12 * BLOCK])
def test_any_size_is_one_good_stream(tmp_path: Path, size: int) -> None:
    data = text(size)
    path = tmp_path / "a.tar.gz"
    digests = write_archive(path, [memory_member("x", data)], mtime=0, overwrite=False)
    raw = path.read_bytes()
    tar = gzip.decompress(raw)
    assert digests == (hashlib.sha256(raw).hexdigest(), hashlib.sha256(tar).hexdigest())
    assert tar[512 : 512 + size] == data


def test_bytes_do_not_depend_on_the_number_of_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = set()
    for cores in (1, 3, 64):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)))
        path = tmp_path / f"{cores}.tar.gz"
        made.add(write_archive(path, [memory_member("x", text(9 * BLOCK))], mtime=0, overwrite=False))
    assert len(made) == 1


def test_blocks_cost_almost_no_compression(tmp_path: Path) -> None:
    data = text(8 * BLOCK)
    path = tmp_path / "a.tar.gz"
    write_archive(path, [memory_member("x", data)], mtime=0, overwrite=False)
    assert path.stat().st_size < 1.002 * len(gzip.compress(data, 5))
