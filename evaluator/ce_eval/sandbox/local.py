"""No isolation at all: commands run as the user who runs the evaluator."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ce_eval.sandbox.base import Job, allowed_environment, gpu_environment, shell_script
from ce_eval.sandbox.guardian import Guardian
from ce_eval.sandbox.paths import search_path
from ce_eval.sandbox.removal import remove_tree
from ce_eval.sandbox.scratch import ScratchFolder
from ce_eval.sandbox.supervise import Cancel, Completed, Supervisor


class LocalSandbox:
    """Runs jobs with an allow-listed environment, a private HOME and TMPDIR, and limits; hides nothing."""

    name = "local"

    def __init__(self, cancel: Cancel | None = None) -> None:
        self._supervisor = Supervisor(cancel)
        self._guardian = Guardian(self._supervisor.token)
        self._homes = _Homes()
        self._environment = {**allowed_environment(), "PATH": ":".join(map(str, search_path()))}

    def run(self, job: Job) -> Completed:
        """Run a job in its workspace, with a HOME and a TMPDIR of its own."""
        if not job.workspace.is_dir():
            return Completed(spawn_error=f"no such workspace: {job.workspace}")
        try:
            home = self._homes.take()
        except OSError as error:
            return Completed(spawn_error=f"no private folder could be made: {error}")
        private = {"HOME": home, "TMPDIR": home, "PWD": str(job.workspace)}
        try:
            return self._supervisor.run(
                ["/bin/sh", "-c", shell_script(job.limits, count_processes=False), "sh", job.command],
                env={**self._environment, **private, **gpu_environment(job), **job.env},
                limits=job.limits,
                cwd=job.workspace,
                pass_fds=job.pass_fds,
            )
        finally:
            self._homes.give_back(home)

    def describe(self) -> list[str]:
        """What is enforced and what is not."""
        return [
            "not enforced: files; commands read and write whatever you can",
            "not enforced: network",
            "not enforced: a job's read-only paths",
            "not enforced: which GPU is used, beyond CUDA_VISIBLE_DEVICES",
            "not enforced: a process that leaves its session and replaces its environment outlives its run",
            "enforced: wall time, output size, size of one file, open files",
            "enforced by sampling 10 times a second: number of processes; memory, where a limit is set",
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
        """Remove the private folders and let the guardian go."""
        self._homes.close()
        self._guardian.close()


class _Homes:
    """Private folders, one for each run at a time; a folder that stays empty serves again."""

    def __init__(self) -> None:
        self._folder = ScratchFolder("ce-home-")
        self._empty: list[str] = []

    def take(self) -> str:
        """An empty folder that nobody else has."""
        try:
            return self._empty.pop()
        except IndexError:
            return tempfile.mkdtemp(dir=self._folder.path)

    def give_back(self, folder: str) -> None:
        """Take a folder back after a run, and remove it if anything is in it."""
        try:
            with os.scandir(folder) as entries:
                used = any(True for _ in entries)
        except OSError:
            used = True
        if used:
            remove_tree(Path(folder))
        else:
            self._empty.append(folder)

    def close(self) -> None:
        """Remove them all."""
        self._folder.close()
