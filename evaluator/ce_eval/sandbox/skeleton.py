"""The root folder of a sandbox: empty mount points, the links of the system, and a handful of files in /etc."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from pathlib import Path

from ce_eval.sandbox.paths import SYSTEM_ROOTS

SHELL = "/.ce-sh"
"""The shell that runs jobs, inside the sandbox."""

# What compilers, the dynamic linker and Python read of /etc; no accounts, keys or configuration of the host.
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf")
_DEVICE_FILES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
    "shm": "/tmp",
}


class Skeleton:
    """A folder for `--ro-bind SKELETON /`, made once for many runs. Mount points can be added at any time."""

    def __init__(self) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="ce-sandbox-"))
        self._finalizer = weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)
        self._ready: set[Path] = set()
        self.root.chmod(0o755)
        for name in ("proc", "tmp", "sys", "dev", "etc", "workspace"):
            (self.root / name).mkdir()
        self.binds = [path for path in SYSTEM_ROOTS if self._system(path)]
        self._fill_etc()
        for name, target in _DEVICE_LINKS.items():
            (self.root / "dev" / name).symlink_to(target)
        self.devices = [path for name in _DEVICE_FILES if (path := Path("/dev", name)).exists()]
        for device in self.devices:
            self.add_file(device)
        self._copy_shell()

    def add_folder(self, path: Path) -> None:
        """Make a mount point for a folder."""
        self._inside(path).mkdir(parents=True, exist_ok=True)

    def add_file(self, path: Path) -> None:
        """Make a mount point for a file."""
        if path not in self._ready:
            inside = self._inside(path)
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.touch()
            self._ready.add(path)

    def close(self) -> None:
        """Remove the folder."""
        self._finalizer()

    def _inside(self, path: Path) -> Path:
        return self.root / path.relative_to("/")

    def _system(self, path: Path) -> bool:
        """Repeat a link of the system, or make a mount point; whether there is something to mount."""
        if path.is_symlink():
            self._inside(path).symlink_to(path.readlink())
        elif path.is_dir():
            self.add_folder(path)
            return True
        return False

    def _fill_etc(self) -> None:
        etc = self.root / "etc"
        for name in _ETC:
            source = Path("/etc", name)
            if source.is_dir():
                shutil.copytree(source, etc / name, symlinks=True, ignore_dangling_symlinks=True)
            elif source.exists():
                shutil.copy(source, etc / name, follow_symlinks=False)
        user, group = os.getuid(), os.getgid()
        (etc / "passwd").write_text(f"ce:x:{user}:{group}:ce:/tmp:/bin/sh\n", encoding="ascii")
        (etc / "group").write_text(f"ce:x:{group}:\n", encoding="ascii")
        (etc / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")

    def _copy_shell(self) -> None:
        """Copy /bin/sh as a file that may be run and not read.

        The shell carries the exit code of the command. The kernel does not let a process of the same user trace
        a program that this user may not read, nor open its memory or its descriptors, so the command cannot
        make the shell report success.
        """
        shell = self._inside(Path(SHELL))
        shutil.copyfile("/bin/sh", shell)
        shell.chmod(0o111)
