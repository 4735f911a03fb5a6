"""What commands leave behind is removed whole, however it was made to last."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ce_eval.sandbox.removal import remove_tree

NOBODY = 65534


def nest(top: Path, depth: int) -> None:
    """Folders in one another, deeper than a path can be long; each with a file."""
    here = os.open(top, os.O_RDONLY)
    for _ in range(depth):
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)


def test_any_depth(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    nest(top, 5000)
    remove_tree(top)
    assert not top.exists()


def test_depth_takes_no_descriptors(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    nest(top, 200)
    code = (
        "import resource, sys; from pathlib import Path; from ce_eval.sandbox.removal import remove_tree\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)); remove_tree(Path(sys.argv[1]))"
    )
    subprocess.run([sys.executable, "-c", code, str(top)], check=True)
    assert not top.exists()


def test_links_are_removed_and_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir(mode=0o500)
    (tmp_path / "file").write_text("x")
    top = tmp_path / "top"
    (top / "a").mkdir(parents=True)
    (top / "link").symlink_to(precious)
    (top / "a" / "link").symlink_to(tmp_path)
    (top / "a" / "dangling").symlink_to("nowhere")
    os.link(tmp_path / "file", top / "a" / "hard")
    remove_tree(top)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "precious"]
    assert precious.stat().st_mode & 0o777 == 0o500
    remove_tree(tmp_path / "file")
    (tmp_path / "link").symlink_to(precious)
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "gone")
    assert [path.name for path in tmp_path.iterdir()] == ["precious"]


def test_odd_names(tmp_path):
    top = tmp_path / "top"
    top.mkdir()
    for name in (b"\xff\xfe", b"-rf", b"a\nb", b" ", b"x" * 255, "\u202e".encode()):
        os.mkdir(os.path.join(os.fsencode(top), name))
        os.mkdir(os.path.join(os.fsencode(top), name, name))
    os.mkfifo(top / "pipe")
    remove_tree(top)
    assert not top.exists()


def _leave_unwritable(top: Path) -> None:
    for mode in (0o000, 0o500):
        folder = top / f"{mode:o}"
        (folder / "b" / "c").mkdir(parents=True)
        (folder / "b" / "c" / "file").touch()
        for path in (folder / "b" / "c", folder / "b", folder):
            path.chmod(mode)
    top.chmod(0)


def test_folders_that_their_owner_may_not_write(tmp_path):
    """In a child, which gives up root's right to write anywhere."""
    tmp_path.chmod(0o777)
    child = os.fork()
    if child == 0:
        try:
            # Folders above may be root's alone, so only a relative path will do.
            os.chdir(tmp_path)
            if os.geteuid() == 0:
                os.setgroups([])
                os.setgid(NOBODY)
                os.setuid(NOBODY)
            top = Path("top")
            top.mkdir()
            _leave_unwritable(top)
            remove_tree(top)
            os._exit(top.exists())
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
