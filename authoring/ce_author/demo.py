"""``make demo``: the whole road from a new problem to graded solutions, in a scratch folder.

Runs the commands a user would type, prints them, and shows what they say. Without a GPU the released
problem is one that runs in Numba's simulator; with one, CUDA C++ goes the same road.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ce_corpus.folder import ProblemFolder, load_folder, read_solution
from ce_corpus.index import problem_folders
from ce_eval.machine import probe
from ce_eval.sandbox import open_sandbox
from ce_schema.datapack import write_solution_pack
from ce_schema.errors import CeError, MachineLacksError
from ce_schema.solution import FileSolution, SourceFile

RELEASE = "2026-9"
CREATED_AT = "2026-01-01T00:00:00+00:00"
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Sabotage:
    """What to put in front of a right solution so that it ends in another way."""

    name: str
    python: str
    cuda: str


CRASH = Sabotage(
    "crashes",
    python="import ctypes\n\nctypes.string_at(0)\n",
    cuda="#include <csignal>\nstatic int boom = std::raise(SIGSEGV);\n",
)
HANG = Sabotage(
    "hangs",
    python="while True:\n    pass\n",
    # A side effect in the loop: an empty endless loop may be compiled away.
    cuda=(
        "static int forever() {\n  for (volatile int spin = 1; spin;) {}\n  return 0;\n}\n"
        "static int stuck = forever();\n"
    ),
)


def main() -> int:
    """Run the demo; 0 when everything went as it must."""
    root = Path("build/demo").absolute()
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    gpu = bool(probe().gpus)
    mode = _strongest_mode()

    _say("A corpus, and two new problems in it: Python for any machine, CUDA C++ for a GPU")
    _run(["git", "init", "-q", "."], root, echo=True)
    _ce("ce-author", "init", ".", "--name", "demo", cwd=root)
    for group in ("numba-cuda", "cuda-kernels"):
        _ce("ce-author", "new", "--group", group, "--difficulty", "easy", cwd=root)
    folders = [load_folder(path) for path in problem_folders(root / "problems")]

    _say("Lint names a mistake, where it is, and the fix")
    spec = folders[0].path / "problem-spec.yaml"
    good = spec.read_text()
    spec.write_text(good.replace("timeout_seconds:", "timeout_secnds:", 1))
    _ce("ce-author", "lint", "--all", cwd=root, expect=1)
    spec.write_text(good)
    _ce("ce-author", "lint", "--all", cwd=root)

    _say("Validate proves what this machine can prove; the rest is 'not run', never 'passed'")
    runnable = ["numba-cuda/1", *(["cuda-kernels/1"] if gpu else [])]
    for folder in folders:
        if folder.problem.task_id in runnable:
            _shorten_timeout(folder)
    _ce("ce-author", "validate", "--all", "--mode", mode, cwd=root)

    _say("A release freezes the problems, their hashes and their certificates")
    _commit(root, "The demo corpus")
    _ce("ce-release", "plan", RELEASE, *runnable, cwd=root)
    _commit(root, f"Plan {RELEASE}")
    _ce("ce-release", "cut", RELEASE, "--output-dir", "packs", cwd=root)
    pack = f"packs/{RELEASE}-problems.tar.gz"
    _ce("ce-release", "verify", pack, cwd=root)

    _say(f"Solutions that are right, wrong, crashing and hanging, graded in mode '{mode}'")
    folders = [load_folder(path) for path in problem_folders(root / "problems")]
    folders = [folder for folder in folders if folder.problem.task_id in runnable]
    for name, solutions in _solutions(folders).items():
        write_solution_pack(
            root / "packs" / f"{name}-solutions.tar.gz",
            solutions,
            release=RELEASE,
            created_at=CREATED_AT,
            groups=sorted({folder.problem.group for folder in folders}),
            task_ids=[folder.problem.task_id for folder in folders],
            description="made by the demo",
        )
    words = ("packs", "--problems", pack, "--mode", mode, "--output-dir", "grades")
    _ce("ce-eval", "run", *words, cwd=root, output="summary.json")
    return _check(root, len(folders), gpu)


def _strongest_mode() -> str:
    try:
        open_sandbox("sandbox")
    except MachineLacksError as error:
        print(
            f"note: no isolation on this machine, so the demo grades its own code in mode 'local' ({error})"
        )
        return "local"
    return "sandbox"


def _shorten_timeout(folder: ProblemFolder) -> None:
    """A hanging solution should cost the reader of a demo little."""
    from ce_corpus.yamledit import SpecEditor

    editor = SpecEditor.open(folder.path / "problem-spec.yaml")
    editor.set("timeout_seconds", value=TIMEOUT_SECONDS)
    editor.save()


def _solutions(folders: list[ProblemFolder]) -> dict[str, list[FileSolution]]:
    packs: dict[str, list[FileSolution]] = {"right": [], "wrong": [], "crashing": [], "hanging": []}
    for folder in folders:
        reference = folder.reference
        assert isinstance(reference, FileSolution), "templates ship whole files"
        stub = read_solution(folder.path / "solutions/rejected/test_failed/stub", reference.task_id)
        assert isinstance(stub, FileSolution), "templates ship whole files"
        packs["right"].append(reference)
        packs["wrong"].append(stub)
        packs["crashing"].append(_sabotaged(reference, CRASH))
        packs["hanging"].append(_sabotaged(reference, HANG))
    return packs


def _sabotaged(solution: FileSolution, sabotage: Sabotage) -> FileSolution:
    first, *rest = solution.files
    extra = sabotage.python if first.path.endswith(".py") else sabotage.cuda
    return FileSolution(
        task_id=solution.task_id,
        files=[SourceFile(path=first.path, content=f"{extra}\n{first.content}"), *rest],
    )


def _check(root: Path, problems: int, gpu: bool) -> int:
    """Print the table of outcomes; 1 when one is not what it must be."""
    import json

    expected = {"right": "passed", "wrong": "test_failed", "crashing": "crashed", "hanging": "timed_out"}
    print(f"\n{'pack':<10} {'task':<16} {'outcome':<12} expected")
    wrong = 0
    for name, outcome in expected.items():
        path = root / "grades" / f"{name}-graded-solutions.jsonl"
        grades = [json.loads(line) for line in path.read_text().splitlines()]
        wrong += len(grades) != problems
        for grade in grades:
            wrong += grade["outcome"] != outcome
            print(f"{name:<10} {grade['task_id']:<16} {grade['outcome']:<12} {outcome}")
    print(f"\ncorpus, packs, graded files and summary.json: {root}")
    if not gpu:
        print("not run: cuda-kernels/1, for this machine has no GPU; so it is in no release")
    print("demo: FAILED" if wrong else "demo: every solution got the grade it deserves")
    return min(wrong, 1)


def _commit(root: Path, message: str) -> None:
    identity = ["-c", "user.name=demo", "-c", "user.email=demo@example.invalid"]
    _run(["git", "add", "-A"], root, echo=True)
    _run(["git", *identity, "commit", "-q", "-m", message], root, echo=False)


def _ce(command: str, *arguments: str, cwd: Path, expect: int = 0, output: str | None = None) -> None:
    """Run one of the toolkit's commands; a surprising exit code ends the demo."""
    words = [str(Path(sys.executable).with_name(command)), *arguments]
    code = _run(words, cwd, echo=True, output=output)
    if code != expect:
        raise CeError(f"{command} {arguments[0]} ended with {code} instead of {expect}", where=str(cwd))


def _run(words: list[str], cwd: Path, *, echo: bool, output: str | None = None) -> int:
    if echo:
        redirected = f" > {output}" if output else ""
        print(f"\n$ {' '.join([Path(words[0]).name, *words[1:]])}{redirected}", flush=True)
    if output is None:
        return subprocess.run(words, cwd=cwd, check=False).returncode
    with (cwd / output).open("w") as stream:
        return subprocess.run(words, cwd=cwd, check=False, stdout=stream).returncode


def _say(text: str) -> None:
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CeError as problem:
        sys.exit(f"demo: FAILED: {problem}")
