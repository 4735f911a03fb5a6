"""What every sandbox is: something that runs a job's command in a workspace, within limits."""

from __future__ import annotations

import functools
import os
import resource
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from ce_eval.machine import Gpu, wheel_libraries
from ce_eval.sandbox.supervise import Cancel, Completed, Limits
from ce_schema.errors import InputError, did_you_mean

__all__ = ["SANDBOXES", "Cancel", "Completed", "Job", "Limits", "Sandbox", "open_sandbox"]

# What a command may see of the evaluator's own environment. Everything else (tokens, proxies, LD_PRELOAD,
# PYTHONPATH) stays out; PATH, HOME and TMPDIR are the sandbox's to set.
_PASSED_ON = (
    "LANG",
    "LC_ALL",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "CUDA_HOME",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "CUDA_DEVICE_ORDER",
    "CUDA_MODULE_LOADING",
    "CUTLASS_PATH",
    "NVCC_PREPEND_FLAGS",
    "NVCC_APPEND_FLAGS",
    "NVIDIA_VISIBLE_DEVICES",
    "NVIDIA_DRIVER_CAPABILITIES",
    "NVIDIA_TF32_OVERRIDE",
)


@dataclass(frozen=True, slots=True)
class Job:
    """One command to run.

    Attributes:
        command: what `/bin/sh` is to run, with the workspace as its working folder.
        workspace: the folder it works in; writable, and at /workspace where the sandbox has a file tree.
        limits: what it may use.
        env: variables on top of the allow-list, such as CE_SEED.
        read_only: paths inside the workspace, relative, that it may read and not change.
        gpu: whether it may use a GPU at all, where the sandbox can tell.
        gpus: which, when ``gpu``; empty means all of them.
        loopback: whether it has a network of its own, a loopback interface and nothing else. Without, it can
            make no socket at all and starts a fifth faster. None: when it has a GPU, because libraries that
            join GPUs and NVIDIA's tools talk over it.
        pass_fds: descriptors it inherits under the same numbers.
    """

    command: str
    workspace: Path
    limits: Limits = field(default_factory=Limits)
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    read_only: Sequence[str] = ()
    gpu: bool = False
    gpus: Sequence[Gpu] = ()
    loopback: bool | None = None
    pass_fds: Sequence[int] = ()


class Sandbox(Protocol):
    """A way of running jobs. Safe to call from several threads."""

    name: str

    def run(self, job: Job) -> Completed:
        """Run a job to its end or its limits. A machine's failure is in ``spawn_error``, never raised."""

    def describe(self) -> list[str]:
        """What this sandbox enforces and what it does not, one sentence each."""

    def notice(self) -> str | None:
        """What a user must be told before candidate code runs in it, or None."""

    def cancel(self) -> None:
        """Kill every running job, from any thread; jobs started later end at once as cancelled."""

    def close(self) -> None:
        """Remove what the sandbox keeps on disk. Runs must have ended."""


@functools.lru_cache(maxsize=64)
def shell_script(limits: Limits, *, count_processes: bool) -> str:
    """The script, for `sh -c`, that sets resource limits and runs its first argument as a command.

    The command is evaluated in the same shell, which costs no further process. It is not the script's last
    line, so that no shell replaces itself by it: in a pid namespace the command would then be process 1,
    which its own signals do not kill.

    Args:
        limits: those on files, descriptors and processes are used.
        count_processes: whether to limit processes, which the kernel counts per user and user namespace.
    """
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    open_files = limits.open_files if hard == resource.RLIM_INFINITY else min(limits.open_files, hard)
    lines = ["ulimit -c 0", f"ulimit -f {max(1, limits.file_bytes // 512)}", f"ulimit -n {open_files}"]
    if count_processes:
        lines.append(f"ulimit {_process_flag()} {limits.processes}")
    return ";".join([*lines, 'eval "$1"', "exit $?"])


@functools.cache
def _process_flag() -> str:
    """-u where /bin/sh is bash, -p where it is dash or busybox: they disagree about the letter."""
    known = subprocess.run(["/bin/sh", "-c", "ulimit -u"], capture_output=True, check=False)
    return "-u" if known.returncode == 0 else "-p"


def allowed_environment() -> dict[str, str]:
    """The variables of this process that commands may see, and the libraries of a toolkit from wheels."""
    passed_on = {"LANG": "C.UTF-8", **{name: os.environ[name] for name in _PASSED_ON if name in os.environ}}
    if libraries := wheel_libraries():
        for name in ("LIBRARY_PATH", "LD_LIBRARY_PATH"):
            passed_on[name] = ":".join(filter(None, (passed_on.get(name), str(libraries))))
    return passed_on


def gpu_environment(job: Job) -> dict[str, str]:
    """What shows a CUDA program the job's GPUs and no others; empty when the job leaves the choice open."""
    if not (job.gpu and job.gpus):
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpu.uuid for gpu in job.gpus)}


def _local(cancel: Cancel | None) -> Sandbox:
    from ce_eval.sandbox.local import LocalSandbox

    return LocalSandbox(cancel)


def _bubblewrap(cancel: Cancel | None) -> Sandbox:
    from ce_eval.sandbox.bubblewrap import BubblewrapSandbox

    return BubblewrapSandbox(cancel)


SANDBOXES: dict[str, Callable[[Cancel | None], Sandbox]] = {"sandbox": _bubblewrap, "local": _local}
"""Every value of ``--mode``. A factory raises `MachineLacksError` where the machine cannot do it."""


def open_sandbox(mode: str, cancel: Cancel | None = None) -> Sandbox:
    """The sandbox of a mode; ``cancel`` is its switch, which several sandboxes may share.

    Raises:
        InputError: there is no such mode.
        MachineLacksError: this machine cannot run it; says what is missing and how to get it.
    """
    factory = SANDBOXES.get(mode)
    if mode == "podman":
        raise InputError(
            "mode 'podman' is not available in this version", fix="--mode sandbox isolates solutions, too"
        )
    if factory is None:
        known = list(SANDBOXES)
        raise InputError(
            f"unknown mode '{mode}'.{did_you_mean(mode, known)}", fix=f"one of: {', '.join(known)}"
        )
    return factory(cancel)
