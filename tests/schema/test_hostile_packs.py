"""Packs made to harm: every one ends in a PackError, soon and in little memory, whatever the bytes."""

from __future__ import annotations

import gzip
import json
import os
import struct
import subprocess
import sys
import tarfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ce_schema.datapack import PackError, open_pack, read_jsonl, verify_pack
from ce_schema.diagnostics import Severity
from ce_schema.lines import encode_line, line_md5
from ce_schema.problem import CudaCppProblem, Metadata
from ce_schema.tarstream import MAX_EXTENDED_HEADER_BYTES, MAX_PADDING_BYTES

LINE = encode_line(
    CudaCppProblem(
        task_id="cccl/1", date="2026-01-01", prompt="p", metadata=Metadata(), group="cccl", test_command="t"
    )
)
METADATA = json.dumps(
    {"release": "2026-2", "total_count": 1, "task_id_hashes": {"cccl/1": line_md5(LINE)}}
).encode()
END = bytes(1024)


def member(name: str, content: bytes = b"", **fields: Any) -> bytes:
    """A tar member; ``fields`` overrides those of its header."""
    info = tarfile.TarInfo(name)
    info.size = len(content)
    for key, value in fields.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.GNU_FORMAT) + content + bytes(-len(content) % 512)


def extended(*records: bytes, name: str = "pax") -> bytes:
    body = b"".join(records)
    return member(name, body, type=tarfile.XHDTYPE)


def pax_header(size: int) -> bytes:
    return member("pax", type=tarfile.XHDTYPE, size=size)


def record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    while len(b"%d" % length) + len(key) + len(value) + 3 != length:
        length += 1
    return b"%d %s=%s\n" % (length, key, value)


M, P = member("metadata.json", METADATA), member("problems.jsonl", LINE)
GOOD = gzip.compress(M + P + END)


def read(path: Path, **limits: int) -> list[bytes]:
    with open_pack(path, **limits) as pack:
        return [record.raw for record in pack]


def refusal(tmp_path: Path, content: bytes, **limits: int) -> str:
    path = tmp_path / "pack.tar.gz"
    path.write_bytes(content)
    with pytest.raises(PackError) as error:
        read(path, **limits)
    assert str(path) in (error.value.where or "")
    if not limits:
        assert [f.severity for f in verify_pack(path)] == [Severity.ERROR]
    return error.value.what


NOT_A_FILE = "other than a regular file"
SPECIAL = {
    "hard link": tarfile.LNKTYPE,
    "symbolic link": tarfile.SYMTYPE,
    "fifo": tarfile.FIFOTYPE,
    "character device": tarfile.CHRTYPE,
    "block device": tarfile.BLKTYPE,
    "directory": tarfile.DIRTYPE,
    "sparse file": tarfile.GNUTYPE_SPARSE,
    "contiguous file": tarfile.CONTTYPE,
    "unknown type": b"Z",
}
TARS = {
    **{
        name: (M + member("problems.jsonl", type=kind, linkname="/etc/passwd"), NOT_A_FILE)
        for name, kind in SPECIAL.items()
    },
    "link beside": (M + P + member("x", type=tarfile.SYMTYPE, linkname="/"), "unexpected member 'x'"),
    # Names.
    "absolute": (M + member("/problems.jsonl", LINE), "unexpected member '/problems.jsonl'"),
    "dot dot": (M + member("../problems.jsonl", LINE), "unexpected member '../problems.jsonl'"),
    "dot slash": (M + member("./problems.jsonl", LINE), "unexpected member './problems.jsonl'"),
    "other file": (M + P + member("setup.py", b"x"), "unexpected member 'setup.py'"),
    "apple double": (member("._metadata.json", b"x") + M + P, r"unexpected member '._metadata.json'"),
    "control character": (M + member("\x1b[31mx", LINE), r"unexpected member '\x1b[31mx'"),
    "not utf-8": (M + member("problems.jsonl\udcff", LINE), "unexpected member"),
    "twice": (M + P + P, "'problems.jsonl' twice"),
    "metadata twice": (M + M + P, "'metadata.json' twice"),
    "metadata twice after": (M + P + M, "'metadata.json' twice"),
    "both kinds": (M + P + member("solutions.jsonl"), "unexpected member 'solutions.jsonl'"),
    "both kinds first": (P + member("solutions.jsonl") + M, "unexpected member 'problems.jsonl'"),
    # Extended headers.
    "long name": (M + member("././@LongLink", b"x", type=tarfile.GNUTYPE_LONGNAME) + P, "unexpected member"),
    "long link": (M + member("././@LongLink", b"x", type=tarfile.GNUTYPE_LONGLINK) + P, "unexpected member"),
    "global header": (member("pax_global_header", type=tarfile.XGLTYPE) + M + P, "unexpected member"),
    "pax path": (M + extended(record(b"path", b"/etc/x")) + P, "changes a member's path"),
    "pax size": (M + extended(record(b"size", b"1")) + P, "changes a member's size"),
    "pax link": (M + extended(record(b"linkpath", b"/x")) + P, "changes a member's linkpath"),
    "pax sparse": (M + extended(record(b"GNU.sparse.size", b"9")) + P, "changes a member's GNU.sparse.size"),
    "pax charset": (M + extended(record(b"hdrcharset", b"BINARY")) + P, "changes a member's hdrcharset"),
    "pax second record": (M + extended(record(b"mtime", b"1.5"), record(b"path", b"x")) + P, "member's path"),
    "pax twice": (M + extended() + extended() + P, "belongs to no member"),
    "pax at the end": (M + P + extended(record(b"mtime", b"1")), "belongs to no member"),
    "pax zeros": (M + extended(bytes(100)) + P, "malformed extended header"),
    "pax no length": (M + extended(b"mtime=1\n") + P, "malformed extended header"),
    "pax length too long": (M + extended(b"99 mtime=1\n") + P, "malformed extended header"),
    "pax length too short": (M + extended(b"3 mtime=1\n") + P, "malformed extended header"),
    "pax length nought": (M + extended(b"0 mtime=1\n") + P, "malformed extended header"),
    "pax no key": (M + extended(b"5 =x\n") + P, "malformed extended header"),
    "pax too big": (M + pax_header(MAX_EXTENDED_HEADER_BYTES + 1), "extended header of 1048577 bytes"),
    "pax of minus one": (M + pax_header(-1), "extended header of -1 bytes"),
    # Sizes.
    "huge": (M + member("problems.jsonl", size=9 << 30), "declares 9663676416 bytes"),
    "huge metadata": (member("metadata.json", size=5 << 30) + P, "declares 5368709120 bytes"),
    "minus one": (M + member("problems.jsonl", size=-1), "declares -1 bytes"),
    "beyond 64 bits": (M + member("problems.jsonl", size=1 << 70), "declares 1180591620717411303424 bytes"),
    # Ends.
    "nothing": (b"", "is truncated"),
    "no metadata": (P, "holds no metadata.json"),
    "no lines": (M, "holds no problems.jsonl or solutions.jsonl"),
    "garbage": (b"x" * 2048, "bad tar header"),
    "bad checksum": (M.replace(b"metadata", b"MetaData") + P, "bad tar header"),
    "data after the end": (M + P + END + b"x", "data after the end"),
    "member after the end": (M + P + END + member("x"), "data after the end"),
    "much padding": (M + P + bytes(MAX_PADDING_BYTES + 2048), "of padding"),
}  # fmt: skip


@pytest.mark.parametrize("name", TARS)
def test_archive_is_refused(tmp_path: Path, name: str) -> None:
    tar, message = TARS[name]
    ended = tar if name in {"nothing", "data after the end", "member after the end"} else tar + END
    assert message in refusal(tmp_path, gzip.compress(ended))


def gzip_header(flags: int) -> bytes:
    return b"\x1f\x8b\x08" + bytes([flags]) + bytes(6)


FILES = {
    "empty file": (b"", "is not a gzip file"),
    "plain tar": (M + P + END, "is not a gzip file"),
    "zip": (b"PK\x03\x04" + bytes(40), "is not a gzip file"),
    "half a header": (GOOD[:5], "is truncated"),
    "half a file": (GOOD[: len(GOOD) // 2], "is truncated"),
    "no checksum": (GOOD[:-8], "is truncated"),
    "half a checksum": (GOOD[:-3], "is truncated"),
    "bad checksum": (GOOD[:-8] + b"\0\0\0\0" + GOOD[-4:], "is corrupt"),
    "bad length": (GOOD[:-4] + b"\0\0\0\1", "is corrupt"),
    "bad block": (GOOD[:10] + b"\xff" * 20, "is corrupt"),
    "trailing byte": (GOOD + b"\0", "data after the end of the compressed archive"),
    "trailing archive": (GOOD + GOOD, "data after the end of the compressed archive"),
    "endless name": (gzip_header(8) + b"x" * 300_000, "is truncated"),
    "endless comment": (gzip_header(16) + b"x" * 300_000, "is truncated"),
    "unknown method": (b"\x1f\x8b\x07" + GOOD[3:], "is corrupt"),
    "reserved flags": (gzip_header(0xE0) + GOOD[10:], "is corrupt"),
    "tar cut at a member": (gzip.compress(M + P), "is truncated: the archive has no end mark"),
    "tar cut in a member": (gzip.compress(M + P[:600]), "is truncated: a member ends early"),
    "tar cut in a header": (gzip.compress(M + P[:100]), "is truncated"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_file_is_refused(tmp_path: Path, name: str) -> None:
    content, message = FILES[name]
    assert message in refusal(tmp_path, content)


@pytest.mark.parametrize("cut", range(1, len(GOOD), 7))
def test_truncated_anywhere(tmp_path: Path, cut: int) -> None:
    assert refusal(tmp_path, GOOD[:cut])


def test_good_archives_of_other_writers(tmp_path: Path) -> None:
    mtime = extended(record(b"mtime", b"1.5"), record(b"SCHILY.xattr.user.x", b"\0=\n" * 9))
    ends = [M + P + END, M + P + bytes(512), M + P + bytes(10240 * 50), P + M + END]
    for tar in (*ends, mtime + M + mtime + P + END):
        path = tmp_path / "pack.tar.gz"
        path.write_bytes(gzip.compress(tar))
        assert read(path) == [LINE]
        assert verify_pack(path) == []


def test_limits_can_be_set_and_are_exact(tmp_path: Path) -> None:
    size = len(M + P + END)
    path = tmp_path / "pack.tar.gz"
    path.write_bytes(GOOD)
    assert read(path, max_bytes=size, max_line_bytes=len(LINE)) == [LINE]
    assert "unfolds to more than" in refusal(tmp_path, GOOD, max_bytes=size - 1)
    tar = M + member("problems.jsonl", bytes(300_000))
    assert "declares" in refusal(tmp_path, gzip.compress(tar), max_bytes=300_000)
    assert "longer than" in refusal(tmp_path, GOOD, max_line_bytes=len(LINE) - 1)


def test_what_is_no_regular_file_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero")):
        for open_it in (open_pack, lambda path: list(read_jsonl(path))):
            with pytest.raises(PackError, match="is not a regular file"):
                open_it(path)
    with pytest.raises(PackError, match="No such file"):
        open_pack(tmp_path / "nothing")


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for name in ("no metadata", "symbolic link"):
        refusal(tmp_path, gzip.compress(TARS[name][0] + END))
    refusal(tmp_path, FILES["plain tar"][0])
    assert len(os.listdir("/proc/self/fd")) == before


# -- bombs -------------------------------------------------------------------------------------------------


def bomb(path: Path, parts: Iterator[tuple[bytes, int]]) -> None:
    """A gzip file of ``parts``, each some bytes as often as told: compressed once, written many times."""
    checksum = size = 0
    with path.open("wb") as file:
        file.write(gzip_header(0))
        for content, times in parts:
            # A full flush ends on a byte and forgets what came before, so the block can be repeated.
            deflate = zlib.compressobj(9 if times > 1 else 1, zlib.DEFLATED, -15)
            block = deflate.compress(content) + deflate.flush(zlib.Z_FULL_FLUSH)
            for _ in range(times):
                file.write(block)
            # The checksum of a repeated part would take long, and no reader may get that far.
            checksum = zlib.crc32(content, checksum) if times == 1 else 0
            size += len(content) * times
        file.write(b"\x03\x00" + struct.pack("<II", checksum, size & 0xFFFFFFFF))


MIB = 1 << 20
ZEROS, SPACES, BLANKS, LETTERS = bytes(16 * MIB), b" " * 16 * MIB, b"\n" * 16 * MIB, b"a" * 16 * MIB
GIB = 64  # in blocks of 16 MiB


def lines_of(size: int) -> bytes:
    return M + member("problems.jsonl", size=size)


def solution_with(extra: bytes, files: bytes = b"[]") -> bytes:
    """A pack of one solution with the key x and its value."""
    line = b'{"type":"file","task_id":"a/1","files":' + files + b',"x":' + extra + b"}\n"
    return member("metadata.json", b'{"release":"r","total_count":1}') + member("solutions.jsonl", line) + END


def array(value: bytes, times: int) -> bytes:
    return b"[" + (value + b",") * times + b"0]"


type Parts = list[tuple[bytes, int]]
BOMBS: dict[str, tuple[Callable[[], Parts], str]] = {
    "10 GiB of zeros": (lambda: [(ZEROS, 10 * GIB)], "of padding"),
    "10 GiB of padding": (lambda: [(M + P, 1), (ZEROS, 10 * GIB)], "of padding"),
    "10 GiB of letters": (lambda: [(LETTERS, 10 * GIB)], "bad tar header"),
    "10 GiB of long name": (
        lambda: [(member("x", type=tarfile.GNUTYPE_LONGNAME, size=10 << 30), 1), (LETTERS, 10 * GIB)],
        "unexpected member",
    ),
    "10 GiB of extended header": (
        lambda: [(pax_header(10 << 30), 1), (LETTERS, 10 * GIB)],
        "extended header of",
    ),
    "a million extended headers": (
        lambda: [(extended(record(b"comment", b"x" * 900)), 1_000_000)],
        "belongs to no member",
    ),
    "extended header of many records": (lambda: [(extended(b"6 a=b\n" * 170_000) + P, 1)], "no end mark"),
    "metadata of 5 GB": (
        lambda: [(member("metadata.json", size=5 << 30), 1), (SPACES, 5 * GIB)],
        "declares",
    ),
    "metadata of many values": (lambda: [(member("metadata.json", array(b"{}", MIB)) + P, 1)], "values"),
    "metadata of many objects": (
        lambda: [(member("metadata.json", array(b'{"a":[]}', 60_000)) + P, 1)],
        "Input should be an object",
    ),
    "one endless line": (lambda: [(lines_of(8_500_000_000), 1), (LETTERS, 8 * GIB)], "longer than"),
    "one endless line of spaces": (lambda: [(lines_of(8_500_000_000), 1), (SPACES, 8 * GIB)], "longer than"),
    "endless blank lines": (lambda: [(lines_of(8_500_000_000), 1), (BLANKS, 8 * GIB)], "blank lines"),
    "line of many objects": (lambda: [(solution_with(array(b"{}", 20 * MIB)), 1)], "values"),
    "line of many strings": (lambda: [(solution_with(array(b'""', 5 * MIB)), 1)], "values"),
    "line of many errors": (
        lambda: [(solution_with(b"0", array(b"1", 190_000)), 1)],
        "does not follow the format in 190001 places",
    ),
    "line of many keys": (
        lambda: [(solution_with(b"{" + b",".join(b'"%d":0' % n for n in range(190_000)) + b",,}"), 1)],
        "is not JSON",
    ),
    "line of quotes": (
        lambda: [(solution_with(array(b"", 300_000) + b'"' + b'\\"' * 5 * MIB), 1)],
        "more than 200000 values",
    ),
    "line of quotes after few values": (
        lambda: [(solution_with(array(b"", 100_000) + b'"' + b'\\"' * 5 * MIB + b'{"' * 150_000), 1)],
        "is not JSON",
    ),
    "deep line": (lambda: [(solution_with(b"[" * MIB * 8), 1)], "values"),
    "deep line of few": (lambda: [(solution_with(b"[" * 150_000), 1)], "recursion limit"),
    "line of one number": (lambda: [(solution_with(b"9" * 16 * MIB), 1)], "number out of range"),
}

# Opens each pack named on the command line; tells what was said, how long it took and the peak so far.
READER = """
import json, sys, time
from ce_schema.datapack import PackError, open_pack
for path in sys.argv[1:]:
    start = time.process_time()
    try:
        with open_pack(path) as pack:
            said = f"{sum(1 for _ in pack)} lines"
    except PackError as error:
        said = str(error)
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    peak = int(status["VmHWM"].split()[0]) / 1024
    print(json.dumps([said, time.process_time() - start, peak]), flush=True)
"""


def test_bombs_do_not_go_off(tmp_path: Path) -> None:
    paths = []
    for number, (make, _) in enumerate(BOMBS.values()):
        paths.append(tmp_path / f"{number}.tar.gz")
        bomb(paths[-1], iter(make()))
    told = subprocess.run([sys.executable, "-c", READER, *paths], capture_output=True, check=True, text=True)
    for (name, (_, message)), line in zip(BOMBS.items(), told.stdout.splitlines(), strict=True):
        said, seconds, peak_mib = json.loads(line)
        print(f"{name}: {seconds:.2f} s, {peak_mib:.0f} MiB: {said[:150]}")
        assert message in said, name
        # A second here; some more where the machine is busy.
        assert seconds < 4, name
        assert peak_mib < 150, name


# -- any bytes ---------------------------------------------------------------------------------------------

ANY = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
BYTES = st.one_of(
    st.binary(max_size=700),
    st.sampled_from([METADATA, LINE, LINE[:-1], LINE + LINE, b"", b"{}", b"\n"]),
    st.tuples(st.sampled_from([METADATA, LINE]), st.integers(0, 200), st.binary(max_size=3)).map(
        lambda parts: parts[0][: parts[1]] + parts[2] + parts[0][parts[1] + len(parts[2]) :]
    ),
)
HEADERS = st.fixed_dictionaries(
    {"name": st.sampled_from(["metadata.json", "problems.jsonl", "solutions.jsonl", "x", ""])},
    optional={
        "type": st.sampled_from([bytes([letter]) for letter in b"0\0xgLKS1257DXZ"]),
        "size": st.sampled_from([0, 1, 511, 512, 513, 10**7, 8**11 - 1, 8**11, 1 << 70, -1, -513]),
        "linkname": st.sampled_from(["", "metadata.json", "/etc/passwd"]),
    },
)


def survives(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "pack.tar.gz"
    path.write_bytes(content)
    messages = [finding.message for finding in verify_pack(path)]
    assert all(message.isprintable() and len(message) < 500 for message in messages)
    readers: list[Callable[[Path], object]] = [
        read,
        lambda path: list(read_jsonl(path)),
        lambda path: list(read_jsonl(path, "solutions")),
    ]
    for open_it in readers:
        with suppress(PackError):
            open_it(path)


@ANY
@given(st.lists(st.tuples(HEADERS, BYTES), max_size=4), st.binary(max_size=3), st.booleans())
def test_any_tar_is_read_or_refused(tmp_path: Path, parts: list[Any], rest: bytes, ended: bool) -> None:
    tar = b"".join(member(content=content, **fields) for fields, content in parts)
    survives(tmp_path, gzip.compress(tar + END * ended + rest, 1))


@ANY
@given(st.lists(st.tuples(st.integers(0, len(M + P)), st.integers(0, 255)), min_size=1, max_size=4))
def test_any_flipped_bytes_inside_are_read_or_refused(tmp_path: Path, flips: list[tuple[int, int]]) -> None:
    tar = bytearray(M + P + END)
    for place, value in flips:
        tar[place] = value
    survives(tmp_path, gzip.compress(bytes(tar), 1))


@ANY
@given(st.integers(0, len(GOOD) - 1), st.integers(1, 255))
def test_a_flipped_byte_outside_is_never_overlooked(tmp_path: Path, place: int, change: int) -> None:
    """Only the header's time, effort and system, which say nothing of the content, may differ."""
    content = bytearray(GOOD)
    content[place] ^= change
    survives(tmp_path, bytes(content))
    with suppress(PackError):
        assert read(tmp_path / "pack.tar.gz") == [LINE]
        assert place in range(3, 10)


@ANY
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    survives(tmp_path, content)
    survives(tmp_path, gzip.compress(content, 1))
    survives(tmp_path, gzip_header(0) + content)
