"""Process trees as /proc shows them: what they use, who belongs to whom, and how to end them."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import time
from dataclasses import dataclass

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# A tree that forks faster than it can be killed is given up on after this long.
_SWEEP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class TreeUsage:
    """What a process and its descendants use; ``threads`` counts every thread of every process."""

    memory_bytes: int
    threads: int


def tree_usage(pid: int, most_threads: int, *, prefer_for_oom: bool = False) -> TreeUsage:
    """What ``pid`` and its descendants use now, counted until there are more than ``most_threads``.

    Memory is each process's private resident pages, plus the largest set of pages that one of them shares
    with others or maps from files. A process whose parent has ended is no descendant, save in a pid
    namespace.

    Args:
        pid: the root of the tree.
        most_threads: where to stop counting.
        prefer_for_oom: also tell the kernel to take these processes first when memory runs out, and not the
            evaluator. What they start later inherits it.
    """
    private = shared = threads = 0
    waiting = [pid]
    while waiting and threads <= most_threads:
        current = waiting.pop()
        # Any of them may end meanwhile, and then counts for nothing.
        with contextlib.suppress(OSError, ValueError, IndexError):
            resident_pages, shared_pages = map(int, _read(f"/proc/{current}/statm").split()[1:3])
            private += resident_pages - shared_pages
            shared = max(shared, shared_pages)
            for task in _numbers(f"/proc/{current}/task"):
                threads += 1
                waiting += map(int, _read(f"/proc/{current}/task/{task}/children").split())
            if prefer_for_oom:
                _write(f"/proc/{current}/oom_score_adj", b"1000")
    return TreeUsage((private + shared) * _PAGE_BYTES, threads)


def kill_group(pid: int) -> None:
    """SIGKILL to the process group that ``pid`` leads, if anyone is left in it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def sweep(marker: str, oldest: int) -> int:
    """Kill every process started since ``oldest`` whose environment holds ``marker``; return how many.

    Finds what left its process group or lost its parent, unless it replaced its environment, too.
    """
    killed = 0
    sought = marker.encode()
    give_up = time.monotonic() + _SWEEP_SECONDS
    # Once more after each find: what was just killed may have forked just before.
    while time.monotonic() < give_up:
        found = [pid for pid in _pids_since(oldest) if _carries(pid, sought)]
        if not found:
            break
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed += len(found)
    return killed


def parent_of(pid: int) -> int:
    """The parent of a process.

    Raises:
        OSError: there is no such process.
    """
    # The command name, in parentheses, may hold anything; the fields after the last one are plain.
    return int(_read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])


def wait_readable(descriptor: int, seconds: float) -> bool:
    """Whether ``descriptor`` turns readable within ``seconds``; a pidfd does when its process has ended."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def oom_kill_count() -> int:
    """How often this kernel has killed a process for want of memory; 0 where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in _read("/proc/vmstat").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _pids_since(oldest: int) -> list[int]:
    """The pids given out after ``oldest``; the last field of /proc/loadavg is the newest one."""
    newest = int(_read("/proc/loadavg").split()[-1])
    if newest == oldest:
        return []
    pids = _numbers("/proc")
    if newest > oldest:
        return [pid for pid in pids if oldest < pid <= newest]
    return [pid for pid in pids if pid > oldest or pid <= newest]


def _carries(pid: int, marker: bytes) -> bool:
    """Whether the environment of ``pid`` holds ``marker``; a zombie has none."""
    try:
        return marker in _read_bytes(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False


def _numbers(folder: str) -> list[int]:
    """The names in a folder of /proc that are numbers."""
    with os.scandir(folder) as entries:
        return [int(entry.name) for entry in entries if entry.name.isdecimal()]


def _read(path: str) -> str:
    return _read_bytes(path).decode("ascii", errors="replace")


def _read_bytes(path: str) -> bytes:
    """A whole file of /proc; by plain system calls, as this runs for every process sampled."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def _write(path: str, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, data)
    finally:
        os.close(descriptor)
