"""No isolation at all: commands run as the user who runs the evaluator."""

from __future__ import annotations

import os
import shutil
import tempfile

from ce_eval.sandbox.base import Job, allowed_environment, shell_script
from ce_eval.sandbox.guardian import Guardian
from ce_eval.sandbox.paths import search_path
from ce_eval.sandbox.supervise import Cancel, Completed, Supervisor


class LocalSandbox:
    """Runs jobs with an allow-listed environment, a private HOME and TMPDIR, and limits; hides nothing."""

    name = "local"

    def __init__(self, cancel: Cancel | None = None) -> None:
        self._supervisor = Supervisor(cancel)
        self._guardian = Guardian(self._supervisor.token)
        self._environment = {**allowed_environment(), "PATH": ":".join(map(str, search_path()))}
        self._environment.setdefault("LANG", "C.UTF-8")

    def run(self, job: Job) -> Completed:
        """Run a job; its HOME and TMPDIR are made for it and removed after it."""
        if not job.workspace.is_dir():
            return Completed(spawn_error=f"no such workspace: {job.workspace}")
        private = tempfile.mkdtemp(prefix="ce-run-")
        env = {**self._environment, "HOME": private, "TMPDIR": private, **_gpu_environment(job), **job.env}
        script = shell_script(job.limits, processes=False)
        try:
            return self._supervisor.run(
                ["/bin/sh", "-c", script, "sh", job.command],
                env={**env, "PWD": os.fspath(job.workspace)},
                limits=job.limits,
                cwd=job.workspace,
                pass_fds=job.pass_fds,
            )
        finally:
            _remove(private)

    def describe(self) -> list[str]:
        """What is enforced and what is not."""
        return [
            "not enforced: files; commands read and write whatever you can",
            "not enforced: network",
            "not enforced: read-only paths of a job",
            "not enforced: choice of GPU, beyond CUDA_VISIBLE_DEVICES",
            "not enforced: a process that leaves its session and replaces its environment outlives its run",
            "enforced: wall time, output size, size of one file, open files",
            "enforced by sampling 10 times a second: memory, where a limit is set; number of processes",
            "environment: an allow-list; private HOME and TMPDIR",
        ]

    def notice(self) -> str:
        """The warning that a user must see."""
        return (
            "mode local: NO ISOLATION. The code under test runs as you, with your files and your network. "
            "Use it for code you trust; --mode sandbox isolates."
        )

    def cancel(self) -> None:
        """Kill every running job."""
        self._supervisor.cancel.set()

    def close(self) -> None:
        """Let the guardian go."""
        self._guardian.close()


def _remove(folder: str) -> None:
    """Remove a folder, which is nearly always empty."""
    try:
        os.rmdir(folder)  # noqa: PTH106 - on every run's path
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _gpu_environment(job: Job) -> dict[str, str]:
    if not (job.gpu and job.gpus):
        return {}
    return {"CUDA_VISIBLE_DEVICES": ",".join(gpu.uuid for gpu in job.gpus)}
