"""Run one command as a supervised child: a deadline, bounded output, a session of its own, no orphans.

Nothing here blocks on a full pipe, and nothing grows with what a command prints. A run uses the calling
thread alone (one `poll` over the output pipe, a pidfd and the cancel descriptor), so any number of threads
may call `Supervisor.run` at once. Descriptors are close-on-exec; children inherit what ``pass_fds`` names.
"""

from __future__ import annotations

import contextlib
import itertools
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
# Memory and process limits are enforced by looking, so this is how long an excess can last.
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
    processes: int = 4096
    open_files: int = 4096
    scratch_bytes: int = 4 << 30


@dataclass(frozen=True, slots=True, kw_only=True)
class Completed:
    """How a command ended and what it took.

    Exactly one of ``exit_code`` and ``signal`` is set, unless ``spawn_error`` or ``violation`` is. A shell
    tells of a child that died of signal n by exit code 128 + n; that is undone here, so a program which
    itself exits with 139 reads as a segmentation fault. Neither is an exit with 0.

    Attributes:
        exit_code: how it ended by itself.
        signal: what it died of; SIGKILL where the supervisor ended it.
        timed_out, output_limit_hit, memory_limit_hit, process_limit_hit, cancelled: why the supervisor did.
        oom: the kernel killed it for want of memory.
        wall_seconds: from before the start to after the end.
        cpu_seconds: user and system time of the command and all descendants that were waited for.
        peak_memory_bytes: the largest resident size seen: of the tree together where it was sampled, else of
            one process. 0 for a run too short to be sampled and no larger than the evaluator, whose own size
            Linux carries over into the high-water mark of a child.
        output: stdout and stderr in order of arrival, head and tail, UTF-8; what is not shows as U+FFFD.
        dropped_bytes: how many bytes of output were left out between head and tail.
        violation: what a candidate did to the workspace so that the command cannot be run in it safely.
        spawn_error: why the command could not be run: the machine's fault, never the command's.
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
    violation: str | None = None
    spawn_error: str | None = None

    @property
    def ok(self) -> bool:
        """Whether the command ran, ended by itself and exited with 0."""
        return self.exit_code == 0 and not self.was_killed and self.spawn_error is None

    @property
    def was_killed(self) -> bool:
        """Whether the supervisor ended it, or the kernel did for want of memory."""
        return (
            self.timed_out
            or self.output_limit_hit
            or self.memory_limit_hit
            or self.process_limit_hit
            or self.cancelled
            or self.oom
        )


def shell_status(return_code: int) -> tuple[int | None, int | None]:
    """(exit code, None) or (None, signal) for a shell's return code: both -n and 128 + n mean signal n."""
    number = -return_code if return_code < 0 else return_code - 128
    if 0 < number < signal.NSIG:
        return None, number
    return return_code, None


class Cancel:
    """A switch that ends every run that watches it, from any thread or signal handler, once and for all."""

    def __init__(self) -> None:
        self._fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._set = False

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)

    def set(self) -> None:
        """Kill what runs; what is started later ends at once as cancelled."""
        self._set = True
        os.eventfd_write(self._fd, 1)

    def is_set(self) -> bool:
        """Whether `set` was called."""
        return self._set

    def fileno(self) -> int:
        """A descriptor that turns readable, and stays so, when the switch is set."""
        return self._fd


class Supervisor:
    """Starts and watches commands; one object serves any number of threads.

    Attributes:
        cancel: ends every run of this supervisor.
        token: starts the marker of every run of this supervisor.
    """

    def __init__(self, cancel: Cancel | None = None) -> None:
        self.cancel = cancel or Cancel()
        self.token = secrets.token_hex(8)
        self._null = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        self._lock = threading.Lock()
        self._runs = itertools.count(1)
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
        cwd: Path | None = None,
        pass_fds: Sequence[int] = (),
        kill: Callable[[int], None] = processes.kill_group,
        sweep: bool = True,
    ) -> Completed:
        """Run ``argv`` to its end, or to its limits, and leave nothing of it behind.

        Args:
            argv: path of the program, and arguments.
            env: the whole environment; with ``sweep`` a marker of this run is added.
            limits: wall time, output, memory and processes are limited here; the rest is up to ``argv``.
            cwd: working folder of the child.
            pass_fds: descriptors that the child inherits under the same numbers.
            kill: ends everything of the run, given the child's pid. Default: SIGKILL to its process group.
            sweep: look for processes that left the group, too (a pid namespace makes that needless).

        Raises:
            KeyboardInterrupt: in the main thread, once the run was killed.
        """
        if self.cancel.is_set():
            return Completed(cancelled=True, spawn_error="not started: cancelled")
        marker = f"{self.token}.{next(self._runs)}" if sweep else None
        start = time.monotonic()
        try:
            reader, writer = os.pipe2(os.O_CLOEXEC)
        except OSError as error:
            return Completed(spawn_error=f"could not make a pipe: {error}")
        try:
            child = subprocess.Popen(
                argv,
                stdin=self._null,
                stdout=writer,
                stderr=writer,
                cwd=cwd,
                env=env if marker is None else {**env, MARKER: marker},
                pass_fds=pass_fds,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            os.close(reader)
            return Completed(spawn_error=f"could not start {argv[0]}: {error}")
        finally:
            os.close(writer)
        try:
            run = _Run(child, reader, limits, start, kill)
        except OSError as error:
            os.close(reader)
            kill(child.pid)
            child.wait()
            return Completed(spawn_error=f"could not watch {argv[0]}: {error}")
        try:
            run.watch(self.cancel)
        except BaseException:
            run.kill()
            raise
        finally:
            run.settle(marker)
        return run.completed(oom=run.killed_by_others and self._oom_happened())

    def _oom_happened(self) -> bool:
        with self._lock:
            before, self._oom_kills = self._oom_kills, processes.oom_kill_count()
            return self._oom_kills > before


class _Run:
    """One child, started to reaped; ``_reason`` is the field of `Completed` that says why it was killed."""

    def __init__(
        self,
        child: subprocess.Popen[bytes],
        reader: int,
        limits: Limits,
        start: float,
        kill: Callable[[int], None],
    ) -> None:
        self._child = child
        self._reader = reader
        self._limits = limits
        self._start = start
        self._kill = kill
        self._pidfd = os.pidfd_open(child.pid)
        self._output = BoundedOutput(limits.kept_output_bytes)
        self._reason: str | None = None
        self._exit_code: int | None = None
        self._signal: int | None = None
        self._lost: str | None = None
        self._at_end = False
        self._sampled_bytes: int | None = None
        self._cpu_seconds = 0.0
        self._peak_bytes = 0
        self._wall_seconds = 0.0
        os.set_blocking(reader, False)

    @property
    def killed_by_others(self) -> bool:
        """Whether it died of a SIGKILL that was not ours."""
        return self._signal == signal.SIGKILL and self._reason is None

    def watch(self, cancel: Cancel) -> None:
        """Return when the child has ended, or was killed for a reason."""
        poller = select.poll()
        for descriptor in (self._reader, self._pidfd, cancel.fileno()):
            poller.register(descriptor, select.POLLIN)
        deadline = self._start + self._limits.wall_seconds
        next_sample = self._start + _SAMPLE_SECONDS
        while self._reason is None:
            now = time.monotonic()
            if now >= deadline:
                self._reason = "timed_out"
            elif now >= next_sample:
                self._sample()
                next_sample = now + _SAMPLE_SECONDS
            else:
                ready = dict(poller.poll(int((min(deadline, next_sample) - now) * 1000) + 1))
                if self._reader in ready and not self._read():
                    poller.unregister(self._reader)
                if self._pidfd in ready:
                    return
                if cancel.fileno() in ready:
                    self._reason = "cancelled"
        self.kill()

    def kill(self) -> None:
        """End everything of this run that the kill function reaches."""
        self._kill(self._child.pid)

    def settle(self, marker: str | None) -> None:
        """Kill what is left, take the last output, reap the child, close every descriptor.

        The child is reaped last: until then its pid, which is also its group's, is not given out again.
        """
        try:
            ended = processes.wait_readable(self._pidfd, _DEATH_SECONDS)
            self._wall_seconds = time.monotonic() - self._start
            if marker is not None:
                processes.kill_group(self._child.pid)
                processes.sweep(f"{MARKER}={marker}", self._child.pid)
            while self._reason is None and not self._at_end and self._read():
                pass
            if ended:
                self._reap()
            else:
                self._lost = f"still alive {_DEATH_SECONDS:.0f} s after SIGKILL: stuck in the kernel"
        finally:
            os.close(self._pidfd)
            os.close(self._reader)

    def completed(self, *, oom: bool) -> Completed:
        """The run as data."""
        return Completed(
            exit_code=self._exit_code,
            signal=self._signal,
            timed_out=self._reason == "timed_out",
            output_limit_hit=self._reason == "output_limit_hit",
            memory_limit_hit=self._reason == "memory_limit_hit",
            process_limit_hit=self._reason == "process_limit_hit",
            cancelled=self._reason == "cancelled",
            oom=oom,
            wall_seconds=self._wall_seconds,
            cpu_seconds=self._cpu_seconds,
            peak_memory_bytes=max(self._sampled_bytes or 0, self._peak_bytes),
            output=self._output.text(),
            dropped_bytes=self._output.dropped_bytes,
            spawn_error=self._lost,
        )

    def _read(self) -> bool:
        """Take what the pipe holds, up to 64 KiB; False when it holds nothing now, or never will."""
        try:
            data = os.read(self._reader, _READ_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._at_end = True
            return False
        self._output.add(data)
        if self._output.total_bytes > self._limits.output_bytes:
            self._reason = "output_limit_hit"
        return True

    def _sample(self) -> None:
        limits = self._limits
        first = self._sampled_bytes is None
        usage = processes.tree_usage(self._child.pid, limits.processes, prefer_for_oom=first)
        self._sampled_bytes = max(self._sampled_bytes or 0, usage.memory_bytes)
        if limits.memory_bytes is not None and usage.memory_bytes > limits.memory_bytes:
            self._reason = "memory_limit_hit"
        elif usage.threads > limits.processes:
            self._reason = "process_limit_hit"

    def _reap(self) -> None:
        try:
            _, status, usage = os.wait4(self._child.pid, 0)
        except ChildProcessError:
            self._lost = "its exit status was taken by other code of this process"
            return
        self._child.returncode = os.waitstatus_to_exitcode(status)
        if self._reason is None:
            self._exit_code, self._signal = shell_status(self._child.returncode)
        else:
            self._signal = int(signal.SIGKILL)
        self._cpu_seconds = usage.ru_utime + usage.ru_stime
        # exec keeps the high-water mark of the memory it leaves, which after vfork is the evaluator's own.
        own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self._peak_bytes = usage.ru_maxrss * 1024 if usage.ru_maxrss > own else 0
