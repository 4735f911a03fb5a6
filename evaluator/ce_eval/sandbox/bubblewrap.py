"""Isolation by Linux namespaces through bubblewrap: no network, no host processes, no files of the user."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from ce_eval.sandbox import processes
from ce_eval.sandbox.base import Job, allowed_environment, shell_script
from ce_eval.sandbox.paths import device_nodes, needed_roots, visible_search_path
from ce_eval.sandbox.skeleton import SHELL, Skeleton
from ce_eval.sandbox.supervise import Cancel, Completed, Limits, Supervisor
from ce_schema.errors import MachineLacksError

WORKSPACE = "/workspace"
_HOSTNAME = "sandbox"
_STATUS_BYTES = 4096
_INIT_DEATH_SECONDS = 15.0


class BubblewrapSandbox:
    """Runs each job in fresh namespaces; its root holds the system, this Python and the CUDA toolkit."""

    name = "sandbox"

    def __init__(self, cancel: Cancel | None = None) -> None:
        self._bwrap = _find_bwrap()
        self._supervisor = Supervisor(cancel)
        self._skeleton = Skeleton()
        self._roots = needed_roots()
        self._environment = {
            **allowed_environment(),
            "PATH": ":".join(map(str, visible_search_path(self._roots))),
            "HOME": "/tmp",
            "TMPDIR": "/tmp",
        }
        self._environment.setdefault("LANG", "C.UTF-8")
        self._fixed = self._fixed_arguments()
        try:
            self._probe()
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> Completed:
        """Run a job in /workspace."""
        if not job.workspace.is_dir():
            return Completed(spawn_error=f"no such workspace: {job.workspace}")
        return self._run(self._job_arguments(job), job.command, job.limits, job.pass_fds)

    def describe(self) -> list[str]:
        """What is enforced and what is not."""
        counted = "by sampling 10 times a second (you are root)" if os.getuid() == 0 else "by the kernel"
        return [
            "enforced: no network, not even the host's loopback",
            "enforced: no process outside the run is visible, and none of the run survives it",
            f"enforced: readable are the system under /usr, {', '.join(map(str, self._roots)) or 'nothing else'}",
            "enforced: writable are the workspace, less a job's read-only paths, and a private /tmp in memory",
            "enforced: GPUs only for jobs that ask for them; no capabilities; no terminal",
            "enforced: the shell that carries the exit code cannot be traced or written to",
            "enforced: wall time, output size, size of one file, open files, size of /tmp",
            f"enforced {counted}: number of processes",
            "enforced by sampling 10 times a second: memory, where a limit is set",
            "not enforced: total size of the workspace",
            "not enforced: the kernel and the GPU driver are shared with the host",
            "environment: an allow-list; private HOME, TMPDIR and host name",
        ]

    def notice(self) -> None:
        """Nothing that a user must be told."""

    def cancel(self) -> None:
        """Kill every running job."""
        self._supervisor.cancel.set()

    def close(self) -> None:
        """Remove the root folder."""
        self._skeleton.close()

    def _run(
        self, arguments: list[str], command: str, limits: Limits, pass_fds: Sequence[int] = ()
    ) -> Completed:
        status = _Status()
        script = shell_script(limits, processes=True)
        try:
            return self._supervisor.run(
                [
                    self._bwrap,
                    "--json-status-fd",
                    str(status.writer),
                    *self._fixed,
                    *_scratch(limits),
                    *arguments,
                    "--",
                    SHELL,
                    "-c",
                    script,
                    "sh",
                    command,
                ],
                env=self._environment,
                limits=limits,
                pass_fds=(status.writer, *pass_fds),
                kill=status.kill,
                sweep=False,
            )
        finally:
            status.close()

    def _fixed_arguments(self) -> list[str]:
        """What is the same for every job. Order matters: later mounts lie over earlier ones.

        `--as-pid-1` makes the shell process 1 of its namespace: when it ends, the kernel ends every other
        process of the run before anyone is told, and their time and memory are counted.
        """
        skeleton = self._skeleton
        arguments = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts"]
        arguments += ["--unshare-cgroup-try", "--hostname", _HOSTNAME, "--cap-drop", "ALL"]
        arguments += ["--as-pid-1", "--die-with-parent", "--new-session"]
        arguments += ["--ro-bind", str(skeleton.root), "/"]
        for path in self._roots:
            skeleton.add_folder(path)
        for path in [*skeleton.binds, *self._roots]:
            arguments += ["--ro-bind", str(path), str(path)]
        for path in skeleton.devices:
            arguments += ["--dev-bind", str(path), str(path)]
        return [*arguments, "--proc", "/proc"]

    def _job_arguments(self, job: Job) -> list[str]:
        arguments = ["--bind", os.fspath(job.workspace), WORKSPACE]
        for path in job.read_only:
            arguments += ["--ro-bind", os.fspath(job.workspace / path), f"{WORKSPACE}/{path}"]
        if job.gpu:
            arguments += ["--ro-bind", "/sys", "/sys"]
            for node in device_nodes():
                self._skeleton.add_file(node)
                arguments += ["--dev-bind", str(node), str(node)]
        if job.gpu and job.gpus:
            arguments += ["--setenv", "CUDA_VISIBLE_DEVICES", ",".join(gpu.uuid for gpu in job.gpus)]
        for name, value in job.env.items():
            arguments += ["--setenv", name, value]
        return [*arguments, "--chdir", WORKSPACE]

    def _probe(self) -> None:
        """Run nothing, once.

        Raises:
            MachineLacksError: namespaces do not work here.
        """
        tried = self._run(["--chdir", "/tmp"], "true", Limits(wall_seconds=20))
        if tried.ok:
            return
        raise MachineLacksError(
            f"bubblewrap cannot make a sandbox here: {(tried.spawn_error or tried.output).strip()}",
            fix=_how_to_allow(),
        )


class _Status:
    """The pipe on which bubblewrap says who process 1 of a run is and, once it ran, how it ended."""

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)

    def kill(self, bwrap: int) -> None:
        """Kill process 1, and with it the namespace, wait until it is gone, and kill bubblewrap itself."""
        init = self._init_pid()
        if init is not None:
            _kill_child(init, bwrap)
        processes.kill_group(bwrap)

    def close(self) -> None:
        """Close both ends."""
        os.close(self._reader)
        os.close(self.writer)

    def _init_pid(self) -> int | None:
        with contextlib.suppress(BlockingIOError, ValueError, KeyError):
            first = os.read(self._reader, _STATUS_BYTES).decode().splitlines()[0]
            return int(json.loads(first)["child-pid"])
        return None


def _kill_child(pid: int, parent: int) -> None:
    """Kill ``pid``, provided that it is a child of ``parent`` and no later process of the same number."""
    with contextlib.suppress(OSError):
        descriptor = os.pidfd_open(pid)
        try:
            if processes.parent_of(pid) == parent:
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)
                processes.wait_readable(descriptor, _INIT_DEATH_SECONDS)
        finally:
            os.close(descriptor)


def _scratch(limits: Limits) -> list[str]:
    return ["--size", str(limits.scratch_bytes), "--tmpfs", "/tmp"]


def _find_bwrap() -> str:
    found = shutil.which("bwrap")
    if found is None:
        raise MachineLacksError("mode sandbox needs bubblewrap (bwrap)", fix="apt-get install bubblewrap")
    return found


def _how_to_allow() -> str:
    """The remedy for the setting that most likely forbids namespaces on this machine."""
    for path, forbidden, remedy in (
        ("/proc/sys/user/max_user_namespaces", "0", "sysctl user.max_user_namespaces=15000"),
        ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl kernel.unprivileged_userns_clone=1"),
        (
            "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
            "1",
            "sysctl kernel.apparmor_restrict_unprivileged_userns=0, or an AppArmor profile for bwrap",
        ),
    ):
        with contextlib.suppress(OSError):
            if Path(path).read_text(encoding="ascii").strip() == forbidden:
                return f"as root: {remedy}"
    return "in a container, start it with --security-opt seccomp=unconfined, or use --mode docker outside it"
