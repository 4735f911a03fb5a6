"""Which folders of this machine a command must see: the system, this Python, the CUDA toolkit."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from ce_eval.machine import Gpu, find_nvcc

# Where Linux distributions keep programs and libraries; on most, all but /usr (and /nix) are links into it.
SYSTEM_ROOTS = tuple(
    Path(root) for root in ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store")
)

_FALLBACK_PATH = (Path("/usr/local/bin"), Path("/usr/bin"), Path("/bin"))
# Build tools that are often installed outside /usr, as <installation>/bin/<tool>.
_TOOLS = ("nvcc", "compute-sanitizer", "ncu", "nvdisasm", "cuobjdump", "g++", "clang++", "cmake", "ninja")


def search_path() -> list[Path]:
    """The folders of PATH for commands: this Python's, the CUDA toolkit's, then the evaluator's own.

    pyenv's shims are left out: they choose a Python by folder, and it is the one that runs the evaluator
    which has the packages that tests need.
    """
    folders = [Path(sys.prefix, "bin"), Path(sys.base_prefix, "bin")]
    folders += [root / "bin" for root in _cuda_roots()]
    if shutil.which("nvcc") is None and (nvcc := find_nvcc()):
        folders.append(Path(nvcc).parent)
    folders += [path for path in map(Path, os.get_exec_path()) if path.is_absolute() and not _is_shims(path)]
    return list(dict.fromkeys([*folders, *_FALLBACK_PATH]))


def visible_search_path(visible: Iterable[Path]) -> list[Path]:
    """`search_path` without the folders that lie outside the system roots and ``visible``."""
    roots = [*SYSTEM_ROOTS, *visible]
    return [folder for folder in search_path() if _within_any(folder, roots)]


def needed_roots() -> list[Path]:
    """The folders outside the system roots that commands must be able to read; none lies in another.

    They are this Python (its environment and the installation below it), the CUDA toolkit, the folders of
    LD_LIBRARY_PATH (but for one that holds the home folder), and the installation of each build tool that
    PATH finds elsewhere. A path that goes through links is listed as it is named and as it resolves, because
    programs use both.
    """
    wanted = [Path(sys.prefix), Path(sys.base_prefix), *_cuda_roots()]
    libraries = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    wanted += [folder for folder in libraries if not Path.home().is_relative_to(folder)]
    for tool in _TOOLS:
        if found := shutil.which(tool, path=":".join(map(str, search_path()))):
            wanted += [_installation(Path(found)), _installation(Path(found).resolve())]
    wanted += [path.resolve() for path in wanted]
    return _outermost(
        path
        for path in wanted
        if path.is_absolute() and path.is_dir() and not _within_any(path.resolve(), SYSTEM_ROOTS)
    )


def device_nodes(gpus: Sequence[Gpu]) -> list[Path]:
    """The device files that CUDA needs for these GPUs, or for all of them where a number is unknown."""
    numbers = [gpu.minor for gpu in gpus if gpu.minor is not None]
    chosen = [f"nvidia{number}" for number in numbers] if len(numbers) == len(gpus) > 0 else ["nvidia[0-9]*"]
    shared = ["nvidiactl", "nvidia-uvm*", "nvidia-modeset", "nvidia-caps/*", "dxg"]
    return sorted(path for pattern in [*chosen, *shared] for path in Path("/dev").glob(pattern))


def _is_shims(folder: Path) -> bool:
    return folder.name == "shims" and ".pyenv" in folder.parts


def _cuda_roots() -> list[Path]:
    """The CUDA toolkit that CUDA_HOME or CUDA_PATH names, where there is one."""
    named = [Path(root) for name in ("CUDA_HOME", "CUDA_PATH") if (root := os.environ.get(name))]
    return [root for root in dict.fromkeys(named) if root.is_dir()]


def _installation(program: Path) -> Path:
    """The folder that holds a program and what it needs: the parent of its bin folder, else its own folder.

    The parent of a bin folder in a home folder holds the user's data, so there it is the bin folder alone.
    """
    folder = program.parent
    personal = {Path.home(), Path.home() / ".local", Path.home() / ".cargo", Path("/"), Path("/root")}
    if folder.name != "bin" or folder.parent in personal:
        return folder
    return folder.parent


def _within_any(path: Path, roots: Iterable[Path]) -> bool:
    return any(path.is_relative_to(root) for root in roots)


def _outermost(paths: Iterable[Path]) -> list[Path]:
    """The paths that lie in none of the others, sorted."""
    kept: list[Path] = []
    for path in sorted(set(paths)):
        if not _within_any(path, kept):
            kept.append(path)
    return kept
