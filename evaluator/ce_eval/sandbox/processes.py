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
    """Resident memory (shared pages counted once per process) and thread count of a process and its descendants."""

    resident_bytes: int
    threads: int


def tree_usage(pid: int, max_processes: int = 65536) -> TreeUsage:
    """What ``pid`` and its descendants use now; processes that end meanwhile count as nothing.

    Processes whose parent has ended are not descendants any more, except in a pid namespace.
    """
    resident = threads = 0
    waiting = [pid]
    seen = 0
    while waiting and seen < max_processes:
        current = waiting.pop()
        seen += 1
        with contextlib.suppress(OSError, ValueError, IndexError):
            resident += int(_read(f"/proc/{current}/statm").split()[1])
            for task in os.listdir(f"/proc/{current}/task"):
                threads += 1
                waiting += map(int, _read(f"/proc/{current}/task/{task}/children").split())
    return TreeUsage(resident * _PAGE_BYTES, threads)


def kill_group(pid: int) -> None:
    """SIGKILL to the process group ``pid`` leads, if anyone is left in it."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)


def sweep(marker: str, oldest: int) -> int:
    """Kill every process started since ``oldest`` whose environment holds ``marker``; return how many.

    Finds what left its process group or lost its parent, unless it also replaced its environment.
    """
    killed = 0
    sought = marker.encode()
    give_up = time.monotonic() + _SWEEP_SECONDS
    while time.monotonic() < give_up:
        found = [pid for pid in _pids_since(oldest) if _carries(pid, sought)]
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed += len(found)
        # What was just killed may have forked just before.
        if not found:
            break
    return killed


def _pids_since(oldest: int) -> list[int]:
    """The pids given out after ``oldest``; the last field of /proc/loadavg is the newest one."""
    newest = int(_read("/proc/loadavg").split()[-1])
    if newest == oldest:
        return []
    pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    if newest > oldest:
        return [pid for pid in pids if oldest < pid <= newest]
    return [pid for pid in pids if pid > oldest or pid <= newest]


def _carries(pid: int, marker: bytes) -> bool:
    """Whether the environment of ``pid`` holds ``marker``; a zombie has none."""
    try:
        return marker in _read_bytes(f"/proc/{pid}/environ").split(b"\0")
    except OSError:
        return False


def wait_readable(descriptor: int, seconds: float) -> bool:
    """Whether ``descriptor`` (a pidfd: its process has ended) turns readable within ``seconds``."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


def oom_kill_count() -> int:
    """How often this kernel killed a process for want of memory since it started; 0 where it does not say."""
    with contextlib.suppress(OSError, ValueError):
        for line in _read("/proc/vmstat").splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0


def _read(path: str) -> str:
    return _read_bytes(path).decode("ascii", errors="replace")


def _read_bytes(path: str) -> bytes:
    """A whole file of /proc; plain system calls, as this runs for every process sampled."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, 65536):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def parent_of(pid: int) -> int:
    """The parent of a process.

    Raises:
        OSError: there is no such process.
    """
    # The command name, in parentheses, may hold anything; the fields after the last one are plain.
    return int(_read(f"/proc/{pid}/stat").rpartition(")")[2].split()[1])
