"""A corpus in a git repository of its own, with synthetic problems and synthetic certificates.

No certificate here was earned: each is written for the test that needs it, inside a temporary folder,
and names a machine that does not exist.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ce_corpus.certificates import certificate_path, write_certificate
from ce_corpus.folder import load_folder
from ce_corpus.manifests import Manifest, read_manifest
from ce_corpus.root import Corpus, find_corpus
from ce_release.cli import cli
from ce_schema.certificate import Certificate, Machine, Rung, RungResult, RungStatus
from ce_schema.cli import run_main

MACHINE = Machine(
    gpu="Synthetic GPU",
    gpu_uuid_sha256="0" * 64,
    compute_capability="9.0",
    driver="1.2.3",
    cuda_toolkit="13.0",
    mode="sandbox",
)
GIT_ENVIRONMENT = {
    "GIT_AUTHOR_NAME": "T",
    "GIT_AUTHOR_EMAIL": "t@example.org",
    "GIT_COMMITTER_NAME": "T",
    "GIT_COMMITTER_EMAIL": "t@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*arguments: object) -> Result:
    """Run ``ce-release`` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        run_main(cli, "ce-release", [str(argument) for argument in arguments])
    return Result(int(ended.value.code or 0), out.getvalue(), err.getvalue())


class Workshop:
    """A corpus to work in; every method leaves a state a maintainer could have made."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.packs = root.parent / "packs"
        self._clock = 1_770_000_000

    @property
    def corpus(self) -> Corpus:
        return find_corpus(self.root)

    def git(self, *arguments: str) -> str:
        when = f"{self._clock} +0000"
        dates = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        return subprocess.run(
            ["git", *arguments],
            cwd=self.root,
            check=True,
            env=os.environ | GIT_ENVIRONMENT | dates,
            capture_output=True,
            text=True,
        ).stdout

    def commit(self) -> None:
        self._clock += 60
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "work")

    def folder(self, task: str) -> Path:
        name = task.replace("/", "-")
        return self.root / "problems" / name.rpartition("-")[0] / name

    def problem(
        self,
        task: str,
        *,
        group: str = "cuda-kernels",
        releases: tuple[str, ...] = ("2026-1",),
        prompt: str = "Write k().",
        test: str = "int main() { return 0; }\n",
        more: str = "",
        metadata: str = "",
        certified: bool = True,
    ) -> Path:
        folder = self.folder(task)
        for part in ("context", "test", "solution"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        listed = ", ".join(f'"{name}"' for name in releases)
        (folder / "problem-spec.yaml").write_text(
            f'task_id: "{task}"  # the id\ndate: "2026-01-02"\nproblem_type: cuda_cpp\ngroup: {group}\n'
            f'prompt: "{prompt}"\ntest_command: "./test.out"\n{more}'
            f"metadata:\n  tags: [synthetic]\n  releases: [{listed}]  # planned\n{metadata}"
        )
        (folder / "context" / "k.h").write_text(f"// {task}\nvoid k();\n")
        (folder / "test" / "main.cu").write_text(test)
        (folder / "solution" / "solution.cu").write_text("void k() {}\n")
        if certified:
            self.certify(task)
        return folder

    def certify(
        self, task: str, *, passes: int = 20, machine: Machine = MACHINE, **statuses: RungStatus
    ) -> None:
        """Write a certificate that fits the problem as it stands."""
        rungs = [
            RungResult(rung=rung, status=statuses.get(rung, RungStatus.PASSED))
            for rung in (Rung.LINT, Rung.BUILD, Rung.TEST)
        ]
        rungs[2].figures["passes"] = passes
        certificate = Certificate(
            task_id=task,
            behaviour_sha256=load_folder(self.folder(task)).behaviour_sha256,
            toolkit_version="0.0.0+synthetic",
            date="2026-01-03",
            machine=machine,
            rungs=rungs,
        )
        write_certificate(self.root / "certificates", certificate)

    def drop(self, task: str) -> None:
        shutil.rmtree(self.folder(task))
        certificate_path(self.root / "certificates", task).unlink(missing_ok=True)

    def cut(self, release: str = "2026-1", *arguments: object) -> Result:
        return run("cut", release, "--output-dir", self.packs, *arguments)

    def pack(self, name: str = "2026-1-problems.tar.gz") -> Path:
        return self.packs / name

    def manifest(self, release: str = "2026-1") -> Manifest:
        manifest = read_manifest(self.root / "manifests", release)
        assert manifest is not None
        return manifest
