"""Isolation by Linux namespaces through bubblewrap: no network, no host processes, no files of the user.

Measured with bubblewrap 0.8 on Linux 6.18, a run of `true` costs 3.4 ms of CPU: 1.8 for bubblewrap at its
barest (two programs started, a new root), 0.7 for our mounts, 0.4 for the other namespaces, 0.15 for the call
filter and 0.3 for the Python code here. A network namespace adds 0.5, and as much again when the kernel
removes it; the mounts of a GPU job add 1.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path

from ce_eval.sandbox import processes
from ce_eval.sandbox.base import Job, allowed_environment, gpu_environment, shell_script
from ce_eval.sandbox.paths import device_nodes, needed_roots, visible_search_path
from ce_eval.sandbox.seccomp import filter_program
from ce_eval.sandbox.skeleton import SHELL, Skeleton
from ce_eval.sandbox.supervise import Cancel, Completed, Limits, Supervisor
from ce_schema.errors import MachineLacksError

_WORKSPACES = ("/workspace", "/ce-workspace")
_HOSTNAME = "sandbox"
_INIT_DEATH_SECONDS = 15.0


class BubblewrapSandbox:
    """Runs each job in fresh namespaces; its root holds the system, this Python and the CUDA toolkit."""

    name = "sandbox"

    def __init__(self, cancel: Cancel | None = None) -> None:
        self._bwrap = _find_bwrap()
        self._supervisor = Supervisor(cancel)
        self._roots = needed_roots()
        self._installations = _read_only(self._roots)
        self._workspace = _free_mount_point(self._roots)
        self._skeleton = Skeleton([Path(self._workspace), *self._roots])
        self._filters = {sockets: _FilterFile(filter_program(sockets=sockets)) for sockets in (True, False)}
        self._system = self._system_arguments()
        self._sizes = True
        self._environment = {
            **allowed_environment(),
            "PATH": ":".join(map(str, visible_search_path(self._roots))),
            "HOME": "/tmp",
            "TMPDIR": "/tmp",
        }
        try:
            self._probe()
        except BaseException:
            self.close()
            raise

    def run(self, job: Job) -> Completed:
        """Run a job, its workspace at /workspace."""
        if not job.workspace.is_dir():
            return Completed(spawn_error=f"no such workspace: {job.workspace}")
        for path in job.read_only:
            if wrong := _not_as_staged(job.workspace, path):
                return Completed(violation=wrong)
        try:
            return self._run(self._job_arguments(job), job)
        except OSError as error:
            return Completed(spawn_error=f"the sandbox could not be made: {error}")

    def describe(self) -> list[str]:
        """What is enforced and what is not."""
        counted = "by sampling 10 times a second (for root)" if os.getuid() == 0 else "by the kernel"
        filtered = "enforced: no new user namespaces, no kernel keys, no io_uring, bpf or userfaultfd"
        return [
            "enforced: no network; jobs with a GPU have a loopback interface of their own, others no sockets",
            "enforced: processes outside a run are invisible to it, and none of it survives it",
            f"enforced: readable are {', '.join(map(str, [*self._skeleton.binds, *self._roots]))}",
            "enforced: writable are the workspace, less a job's read-only paths, and a private /tmp",
            "enforced: GPUs are visible only to jobs that ask for them; no capabilities; no terminal",
            "enforced: the shell that carries the exit code cannot be traced or written to",
            filtered if self._filters[True].program else filtered.replace("enforced", "not enforced here", 1),
            "enforced: wall time, output size, size of one file, open files",
            f"{'enforced' if self._sizes else 'not enforced, for want of bubblewrap 0.7'}: size of /tmp",
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

    def _run(self, arguments: list[str], job: Job) -> Completed:
        script = shell_script(job.limits, count_processes=True)
        loopback = job.gpu if job.loopback is None else job.loopback
        with _Status() as status, self._filters[loopback].opened() as filters:
            argv = [self._bwrap, "--json-status-fd", str(status.writer)]
            for descriptor in filters:
                argv += ["--seccomp", str(descriptor)]
            # Where there is no filter that refuses sockets, the namespace has to do.
            if loopback or not filters:
                argv.append("--unshare-net")
            argv += self._system
            if self._sizes:
                argv += ["--size", str(job.limits.scratch_bytes)]
            argv += ["--tmpfs", "/tmp"]
            # After /tmp, as an installation may well lie in there.
            argv += [*self._installations, *arguments, "--", SHELL, "-c", script, "sh", job.command]
            completed = self._supervisor.run(
                argv,
                env=self._environment,
                limits=job.limits,
                pass_fds=(status.writer, *filters, *job.pass_fds),
                kill=status.kill,
                sweep=False,
            )
            return status.check(completed)

    def _system_arguments(self) -> list[str]:
        """Namespaces and system, the same for every job. Order matters: later mounts lie over earlier ones.

        `--as-pid-1` makes the shell process 1 of its namespace: when it ends, the kernel ends every other
        process of the run before anyone is told, and their time and memory are counted.
        """
        arguments = ["--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts"]
        arguments += ["--unshare-cgroup-try", "--hostname", _HOSTNAME, "--cap-drop", "ALL"]
        arguments += ["--as-pid-1", "--die-with-parent", "--new-session"]
        arguments += ["--ro-bind", str(self._skeleton.root), "/"]
        arguments += _read_only(self._skeleton.binds)
        for path in self._skeleton.devices:
            arguments += ["--dev-bind", str(path), str(path)]
        return [*arguments, "--proc", "/proc"]

    def _job_arguments(self, job: Job) -> list[str]:
        workspace = job.workspace.absolute()
        arguments = ["--bind", str(workspace), self._workspace]
        for path in job.read_only:
            arguments += ["--ro-bind", str(workspace / path), f"{self._workspace}/{path}"]
        arguments += _guard_proc(gpu=job.gpu)
        if job.gpu:
            arguments += ["--ro-bind", "/sys", "/sys"]
            for node in device_nodes(job.gpus):
                self._skeleton.add_file(node)
                arguments += ["--dev-bind", str(node), str(node)]
        for name, value in {**gpu_environment(job), **job.env}.items():
            arguments += ["--setenv", name, value]
        return [*arguments, "--chdir", self._workspace]

    def _probe(self) -> None:
        """Run nothing, once.

        Raises:
            MachineLacksError: namespaces do not work here.
        """
        nothing = Job("true", Path(), Limits(wall_seconds=20))
        tried = self._run(["--chdir", "/tmp"], nothing)
        if "--size" in (tried.spawn_error or ""):
            self._sizes = False
            tried = self._run(["--chdir", "/tmp"], nothing)
        if not tried.ok:
            raise MachineLacksError(
                f"bubblewrap cannot make a sandbox here: {tried.spawn_error or tried.output.strip()}",
                fix=_how_to_allow(),
            )


class _Status:
    """The pipe on which bubblewrap says who process 1 of a run is and, once the command ran, how it ended.

    The command has no access to it, so it cannot pass a failure of its own for one of the sandbox.
    """

    def __init__(self) -> None:
        self._reader, self.writer = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self._said = b""

    def __enter__(self) -> _Status:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._reader)
        os.close(self.writer)

    def kill(self, bwrap: int) -> None:
        """Kill process 1, and with it the namespace, wait until it is gone, and kill bubblewrap itself."""
        init = self._find("child-pid")
        if init is not None:
            _kill_child(init, bwrap)
        processes.kill_group(bwrap)

    def check(self, completed: Completed) -> Completed:
        """``completed``, or a ``spawn_error`` where the command was not reached and nobody killed the run."""
        if completed.spawn_error or completed.was_killed or self._find("exit-code") is not None:
            return completed
        return Completed(
            spawn_error=f"the sandbox could not be made: {completed.output.strip()}",
            wall_seconds=completed.wall_seconds,
        )

    def _find(self, key: str) -> int | None:
        """A number that bubblewrap reported, or None if it has not yet."""
        with contextlib.suppress(BlockingIOError):
            self._said += os.read(self._reader, 65536)
        for line in self._said.splitlines():
            with contextlib.suppress(ValueError):
                document = json.loads(line)
                if key in document:
                    return int(document[key])
        return None


class _FilterFile:
    """A system-call filter in memory, opened anew for each run because bubblewrap reads it to its end."""

    def __init__(self, program: bytes | None) -> None:
        self.program = program
        self._fd = os.memfd_create("ce-seccomp", os.MFD_CLOEXEC)
        os.write(self._fd, program or b"")

    def __del__(self) -> None:
        with contextlib.suppress(OSError):
            os.close(self._fd)

    @contextlib.contextmanager
    def opened(self) -> Iterator[list[int]]:
        """One descriptor at the start of the filter, or none where there is no filter."""
        if self.program is None:
            yield []
            return
        descriptor = os.open(f"/proc/self/fd/{self._fd}", os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield [descriptor]
        finally:
            os.close(descriptor)


def _guard_proc(*, gpu: bool) -> list[str]:
    """Make /proc read-only: in a user namespace root is still root to /proc/sys, capabilities or not.

    CUDA does not start where it cannot write to its own part of /proc. For GPU jobs it is therefore the part
    that is not about processes, mount by mount, which takes about a millisecond.
    """
    if not gpu:
        return ["--remount-ro", "/proc"]
    beside = [path for path in Path("/proc").iterdir() if not path.name.isdigit() and not path.is_symlink()]
    return _read_only(sorted(path for path in beside if path.is_dir() or path.stat().st_mode & 0o222))


def _read_only(paths: Sequence[Path]) -> list[str]:
    return [argument for path in paths for argument in ("--ro-bind", str(path), str(path))]


def _not_as_staged(workspace: Path, path: str) -> str | None:
    """What is wrong with a path that is to be mounted read-only, or None.

    bubblewrap resolves links as the evaluator's user: a link that an earlier command of the candidate left in
    the place of a folder would show it a folder of the host.
    """
    expected = os.path.realpath(workspace) + "/" + path
    if not os.path.lexists(expected):
        return f"{path} is gone from the workspace"
    if os.path.realpath(expected) != expected:
        return f"{path} is not in the workspace: it was replaced by a link"
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


def _free_mount_point(roots: Sequence[Path]) -> str:
    """Where workspaces appear: /workspace, unless something that must stay visible lies in there."""
    return next(name for name in _WORKSPACES if not any(path.is_relative_to(name) for path in roots))


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
    options = " ".join(f"--security-opt {name}=unconfined" for name in ("seccomp", "apparmor", "systempaths"))
    return f"if this is a container, start it with {options}"
