"""Run one command as a supervised child: a deadline, bounded output, its own session, no orphans.

Nothing here blocks on a full pipe and nothing grows with what a command prints. One run uses the calling thread
alone (a `poll` over the output pipe, a pidfd and the cancel descriptor), so any number of threads may call
`Supervisor.run` at once. Every descriptor is close-on-exec; children inherit what `pass_fds` names and no more.
"""

from __future__ import annotations

import contextlib
import os
import resource
import secrets
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ce_eval.sandbox import processes
from ce_eval.sandbox.output import BoundedOutput

MARKER = "CE_RUN"
"""Environment variable that names a run; a process that carries it belongs to that run, wherever it hides."""

_READ_BYTES = 65536
# A memory or process limit is enforced by looking, so this is how long an excess can last.
_SAMPLE_SECONDS = 0.1
# How long a killed process may take to die. Longer means that it is stuck in the kernel (a hung driver).
_DEATH_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What one command may use.

    Attributes:
        wall_seconds: time from start to exit; past it the whole process tree is killed.
        output_bytes: stdout and stderr together; past it the tree is killed.
        kept_output_bytes: how much of the head, and of the tail, of that output is kept.
        memory_bytes: resident memory of all processes together, sampled; None for no limit.
        file_bytes: size of any one file (`RLIMIT_FSIZE`).
        processes: processes and threads at once.
        open_files: descriptors of one process.
        scratch_bytes: size of the private /tmp, where the sandbox has one.

    There is no `RLIMIT_AS`: CUDA reserves more address space than any machine has memory.
    """

    wall_seconds: float = 60.0
    output_bytes: int = 16 << 20
    kept_output_bytes: int = 64 << 10
    memory_bytes: int | None = None
    file_bytes: int = 8 << 30
    processes: int = 1024
    open_files: int = 4096
    scratch_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a command ended and what it took.

    Exactly one of ``exit_code`` and ``signal`` is set unless ``spawn_error`` is. A shell reports a child killed
    by signal n as exit code 128 + n; that is undone here, so a program that itself exits with 139 reads as a
    segmentation fault. Either way it did not exit with 0.

    Attributes:
        timed_out, output_limit_hit, memory_limit_hit, process_limit_hit, cancelled: why it was killed, if it was.
        oom: the kernel killed it for want of memory.
        cpu_seconds: user and system time of the command and all its waited-for descendants.
        peak_memory_bytes: largest resident size seen: of the tree together when sampled, else of one process.
            0 where the run was too short to sample and no larger than the evaluator itself, whose size Linux
            carries over into a child's high-water mark.
        output: stdout and stderr in order of arrival, head and tail, UTF-8; what is not shows as U+FFFD.
        dropped_bytes: how many bytes of output were left out between head and tail.
        spawn_error: why the command could not be run at all: the machine's fault, never the command's.
    """

    exit_code: int | None = None
    signal: int | None = None
    timed_out: bool = False
    output_limit_hit: bool = False
    memory_limit_hit: bool = False
    process_limit_hit: bool = False
    cancelled: bool = False
    oom: bool = False
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_memory_bytes: int = 0
    output: str = ""
    dropped_bytes: int = 0
    spawn_error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the command ran, ended by itself and exited with 0."""
        return self.exit_code == 0 and not self.was_killed and self.spawn_error is None

    @property
    def was_killed(self) -> bool:
        """Whether the supervisor ended it."""
        return (
            self.timed_out
            or self.output_limit_hit
            or self.memory_limit_hit
            or self.process_limit_hit
            or self.cancelled
        )


def shell_status(return_code: int) -> tuple[int | None, int | None]:
    """(exit code, None) or (None, signal) of a return code of a shell: -n and 128 + n both mean signal n."""
    number = -return_code if return_code < 0 else return_code - 128
    if 0 < number < signal.NSIG:
        return None, number
    return return_code, None


class Cancel:
    """A switch that ends every run that watches it, from any thread or signal handler, once and for all."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._set = False

    def set(self) -> None:
        """Kill what runs; what is started later ends at once as cancelled."""
        self._set = True
        os.eventfd_write(self._fd, 1)

    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._set

    def fileno(self) -> int:
        """A descriptor that turns readable when the switch is set."""
        return self._fd

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)


class Supervisor:
    """Starts and watches commands; one object serves any number of threads."""

    def __init__(self, cancel: Cancel | None = None) -> None:
        self.cancel = cancel or Cancel()
        self.token = secrets.token_hex(8)
        self._null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        self._runs = 0
        self._oom_kills = processes.oom_kill_count()

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._null)

    def run(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        limits: Limits,
        cwd: Path | str | None = None,
        pass_fds: Sequence[int] = (),
        kill: Callable[[int], None] | None = None,
        sweep: bool = True,
    ) -> Completed:
        """Run ``argv`` to its end, or to its limits, and leave nothing of it behind.

        Args:
            argv: program (a path, or a name on the evaluator's own PATH) and arguments.
            env: the whole environment; a marker of this run is added.
            limits: wall time, output, memory and process limits are applied here; the others are the caller's.
            cwd: working folder of the child.
            pass_fds: descriptors that the child inherits under the same numbers.
            kill: ends everything of the run, given the child's pid. Default: SIGKILL to its process group.
            sweep: look for processes that left the group as well (a pid namespace makes that unnecessary).

        Raises:
            KeyboardInterrupt: in the main thread, after the run was killed.
        """
        if self.cancel.is_set():
            return Completed(cancelled=True, spawn_error="not started: cancelled")
        with self._lock:
            self._runs += 1
            marker = f"{self.token}.{self._runs}"
        reader, writer = os.pipe2(os.O_CLOEXEC)
        start = time.monotonic()
        try:
            child = subprocess.Popen(  # noqa: S603
                argv,
                stdin=self._null,
                stdout=writer,
                stderr=writer,
                cwd=cwd,
                env={**env, MARKER: marker},
                pass_fds=pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reader)
            return Completed(spawn_error=f"could not start {argv[0]}: {error}")
        finally:
            os.close(writer)
        run = _Run(child, reader, limits, start, kill or processes.kill_group)
        try:
            run.watch(self.cancel)
        except BaseException:
            run.kill()
            raise
        finally:
            run.settle(marker if sweep else None)
        oom = run.signal == signal.SIGKILL and not run.reason and self._oom_happened()
        return run.completed(oom)

    def _oom_happened(self) -> bool:
        with self._lock:
            before, self._oom_kills = self._oom_kills, processes.oom_kill_count()
            return self._oom_kills > before


class _Run:
    """One child from start to reaped. ``reason`` is the field of `Completed` that says why it was killed."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        reader: int,
        limits: Limits,
        start: float,
        kill: Callable[[int], None],
    ) -> None:
        self.child = child
        self.limits = limits
        self.start = start
        self.reason: str | None = None
        self.signal: int | None = None
        self.exit_code: int | None = None
        self._kill = kill
        self._reader = reader
        self._pidfd = os.pidfd_open(child.pid)
        self._output = BoundedOutput(limits.kept_output_bytes)
        self._at_end = False
        self._sampled_bytes = 0
        self._cpu_seconds = 0.0
        self._peak_bytes = 0
        self._wall_seconds = 0.0
        self._stuck = False
        os.set_blocking(reader, False)

    def watch(self, cancel: Cancel) -> None:
        """Return when the child has ended or was killed for a reason."""
        poller = select.poll()
        for descriptor in (self._reader, self._pidfd, cancel.fileno()):
            poller.register(descriptor, select.POLLIN)
        deadline = self.start + self.limits.wall_seconds
        next_sample = self.start + _SAMPLE_SECONDS
        while self.reason is None:
            now = time.monotonic()
            if now >= deadline:
                self.reason = "timed_out"
                break
            if now >= next_sample:
                self._sample()
                next_sample = now + _SAMPLE_SECONDS
                continue
            ready = dict(poller.poll(int((min(deadline, next_sample) - now) * 1000) + 1))
            if self._reader in ready and not self._read():
                poller.unregister(self._reader)
            if self._pidfd in ready:
                return
            if cancel.fileno() in ready:
                self.reason = "cancelled"
        self.kill()

    def kill(self) -> None:
        """End everything of this run that the kill function reaches."""
        self._kill(self.child.pid)

    def settle(self, marker: str | None) -> None:
        """Kill what is left, take the last output, reap the child, close every descriptor.

        The child is reaped last: until then its pid, which is also the group's, cannot be used again.
        """
        try:
            self._stuck = not processes.wait_readable(self._pidfd, _DEATH_SECONDS)
            self._wall_seconds = time.monotonic() - self.start
            if marker is not None:
                processes.kill_group(self.child.pid)
                processes.sweep(f"{MARKER}={marker}", self.child.pid)
            while not self._at_end and self.reason is None and self._read():
                pass
            if not self._stuck:
                self._reap()
        finally:
            os.close(self._pidfd)
            os.close(self._reader)

    def completed(self, oom: bool) -> Completed:
        """The run as data."""
        stuck = (
            f"still alive {_DEATH_SECONDS:.0f} s after SIGKILL, stuck in the kernel" if self._stuck else None
        )
        return Completed(
            exit_code=self.exit_code,
            signal=self.signal,
            timed_out=self.reason == "timed_out",
            output_limit_hit=self.reason == "output_limit_hit",
            memory_limit_hit=self.reason == "memory_limit_hit",
            process_limit_hit=self.reason == "process_limit_hit",
            cancelled=self.reason == "cancelled",
            oom=oom,
            wall_seconds=self._wall_seconds,
            cpu_seconds=self._cpu_seconds,
            peak_memory_bytes=max(self._sampled_bytes, self._peak_bytes),
            output=self._output.text(),
            dropped_bytes=self._output.dropped_bytes,
            spawn_error=stuck,
        )

    def _read(self) -> bool:
        """Take what the pipe holds, up to 64 KiB; False when there is no more to come for now."""
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._at_end = True
            return False
        self._output.add(data)
        if self._output.total_bytes > self.limits.output_bytes:
            self.reason = "output_limit_hit"
        return True

    def _sample(self) -> None:
        usage = processes.tree_usage(self.child.pid)
        self._sampled_bytes = max(self._sampled_bytes, usage.resident_bytes)
        if self.limits.memory_bytes is not None and usage.resident_bytes > self.limits.memory_bytes:
            self.reason = "memory_limit_hit"
        elif usage.threads > self.limits.processes:
            self.reason = "process_limit_hit"

    def _reap(self) -> None:
        _, status, usage = os.wait4(self.child.pid, 0)
        self.child.returncode = os.waitstatus_to_exitcode(status)
        self.exit_code, self.signal = shell_status(self.child.returncode)
        if self.reason is not None:
            self.exit_code, self.signal = None, int(signal.SIGKILL)
        self._cpu_seconds = usage.ru_utime + usage.ru_stime
        # exec keeps the high-water mark of the memory it leaves, which after vfork is the evaluator's own.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > own else 0
