"""The root folder of a sandbox: empty mount points, the links of the system, and a little of /etc."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from ce_eval.sandbox.paths import SYSTEM_ROOTS
from ce_eval.sandbox.scratch import ScratchFolder

SHELL = "/.ce/sh"
"""The shell that runs jobs, inside the sandbox. Shells behave by the name they are called by, so it is sh."""

_SYSTEM_SHELL = "/bin/sh"

# What compilers, the dynamic linker and Python read of /etc; no accounts, keys or settings of the host.
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "nsswitch.conf")
# The greater part of /etc/alternatives: manual pages.
_NOT_NEEDED = "*.gz"
# Few, as each is a mount of its own, and every mount costs 2 % of the sandbox.
_DEVICE_FILES = ("null", "zero", "urandom")
_DEVICE_LINKS = {
    "random": "urandom",
    "shm": "/tmp",
    "fd": "/proc/self/fd",
    "stdin": "/proc/self/fd/0",
    "stdout": "/proc/self/fd/1",
    "stderr": "/proc/self/fd/2",
}


class Skeleton:
    """A folder for `--ro-bind FOLDER /`, made once for many runs.

    Attributes:
        root: the folder, on the host.
        binds: folders of the system to mount at their own paths.
        devices: device files to mount at their own paths.
    """

    def __init__(self, mount_points: Iterable[Path]) -> None:
        self._folder = ScratchFolder("ce-sandbox-", _executable_folder())
        self.root = self._folder.path
        self._files: set[Path] = set()
        self.root.chmod(0o755)
        for name in ("dev", "etc", "proc", "sys", "tmp"):
            (self.root / name).mkdir()
        for path in mount_points:
            self._inside(path).mkdir(parents=True, exist_ok=True)
        self.binds = [path for path in SYSTEM_ROOTS if self._add_system(path)]
        self._fill_etc()
        for name, target in _DEVICE_LINKS.items():
            (self.root / "dev" / name).symlink_to(target)
        self.devices = [Path("/dev", name) for name in _DEVICE_FILES]
        for device in self.devices:
            self.add_file(device)
        self._copy_shell()

    def add_file(self, path: Path) -> None:
        """Make a mount point for a file, at any time."""
        if path not in self._files:
            inside = self._inside(path)
            inside.parent.mkdir(parents=True, exist_ok=True)
            inside.touch()
            self._files.add(path)

    def close(self) -> None:
        """Remove the folder."""
        self._folder.close()

    def _inside(self, path: Path) -> Path:
        return self.root / path.relative_to("/")

    def _add_system(self, path: Path) -> bool:
        """Repeat a link of the system, or make a mount point; whether there is something to mount."""
        inside = self._inside(path)
        if path.is_symlink():
            inside.symlink_to(path.readlink())
            return False
        if path.is_dir():
            inside.mkdir(parents=True, exist_ok=True)
            return True
        return False

    def _fill_etc(self) -> None:
        etc = self.root / "etc"
        for name in _ETC:
            source = Path("/etc", name)
            if source.is_dir():
                shutil.copytree(source, etc / name, symlinks=True, ignore=shutil.ignore_patterns(_NOT_NEEDED))
            elif source.exists():
                shutil.copy(source, etc / name, follow_symlinks=False)
        user, group = os.getuid(), os.getgid()
        (etc / "passwd").write_text(f"ce:x:{user}:{group}:ce:/tmp:/bin/sh\n", encoding="ascii")
        (etc / "group").write_text(f"ce:x:{group}:\n", encoding="ascii")
        (etc / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n", encoding="ascii")

    def _copy_shell(self) -> None:
        """Copy /bin/sh to a file that may be run and not read.

        The shell carries the exit code of the command. The kernel lets no process trace a program that its
        user may not read, nor write its memory, nor open its descriptors, so the command cannot make the
        shell report success.
        """
        shell = self._inside(Path(SHELL))
        shell.parent.mkdir()
        shutil.copyfile(_SYSTEM_SHELL, shell)
        shell.chmod(0o111)


def _executable_folder() -> Path:
    """A folder for temporary files from which programs may be started: some mount /tmp without."""
    temporary = Path(tempfile.gettempdir())
    if not os.statvfs(temporary).f_flag & os.ST_NOEXEC:
        return temporary
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "compute-eval")
    cache.mkdir(parents=True, exist_ok=True)
    return cache
