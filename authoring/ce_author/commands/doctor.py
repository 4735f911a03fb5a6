"""``ce-author doctor``: what this machine can and cannot do, and what to install."""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

import click

from ce_schema.cli import echo_json, examples, print_table

if TYPE_CHECKING:
    from ce_eval.machine import Machine

# Packages by the extra that brings them; the first is looked for.
_EXTRAS = {
    "author": ("jsonschema", "cookiecutter", "git"),
    "release": ("git",),
    "hub": ("huggingface_hub",),
    "numba": ("numba", "numba_cuda"),
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at: whether this machine has it, what was found, and how to get it."""

    name: str
    ok: bool
    found: str
    enables: str
    install: str | None = None


@click.command("doctor", epilog=examples("ce-author doctor", "ce-author doctor --json"))
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
def command(as_json: bool) -> None:
    """Say what this machine can and cannot do: compiler, GPU, driver, sandboxes, sanitizers, profilers."""
    from ce_eval.machine import probe

    machine = probe()
    findings = [*_system(machine), *_tools(), *_sandboxes(), *_extras()]
    abilities = _abilities(machine, findings)
    if as_json:
        echo_json({"findings": findings, "can": abilities})
        return
    print_table(
        ["", "what", "found", "for"],
        [("ok" if f.ok else "no", f.name, f.found, f.enables) for f in findings],
    )
    click.echo()
    print_table(["can", "this machine"], [(name, answer) for name, answer in abilities.items()])
    missing = [f for f in findings if not f.ok and f.install]
    if missing:
        click.echo()
        print_table(["to get", "do"], [(f.name, f.install) for f in missing])


def _system(machine: Machine) -> list[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    found = [Finding("python", sys.version_info >= (3, 12), version, "everything", "Python 3.12 or newer")]
    for gpu in machine.gpus:
        memory = f"{gpu.memory_bytes / 2**30:.0f} GiB"
        kind = "datacenter" if gpu.datacenter else "no datacenter GPU"
        what = f"{gpu.name}, {gpu.compute_capability}, {memory}, {kind}"
        found.append(Finding(f"GPU {gpu.index}", True, what, "test"))
    if not machine.gpus:
        found.append(
            Finding("GPU", False, machine.no_gpu_reason or "none", "test", "an NVIDIA GPU and its driver")
        )
    found.append(Finding("driver", machine.driver is not None, machine.driver or "none", "test"))
    return found


def _tools() -> list[Finding]:
    from ce_eval.machine import TOOLS, find_tool

    tools = [find_tool(name) for name in TOOLS]
    return [
        Finding(
            tool.name,
            tool.path is not None,
            f"{tool.version or 'unknown version'} ({tool.path})" if tool.path else "none",
            tool.used_for,
            tool.install_hint,
        )
        for tool in tools
    ]


def _sandboxes() -> list[Finding]:
    """Opens each sandbox and runs `true` in it: being installed is not yet working."""
    from ce_eval.sandbox import SANDBOXES, Job, open_sandbox
    from ce_eval.sandbox.scratch import ScratchFolder
    from ce_schema.errors import MachineLacksError

    found = []
    with closing(ScratchFolder("ce-doctor-")) as scratch:
        for mode in SANDBOXES:
            name = f"--mode {mode}"
            try:
                with closing(open_sandbox(mode)) as sandbox:
                    done = sandbox.run(Job("true", scratch.path))
            except MachineLacksError as error:
                found.append(Finding(name, False, error.what, "run, validate", error.fix))
                continue
            cost = f"works, {done.wall_seconds * 1000:.0f} ms a run"
            what = cost if done.ok else (done.spawn_error or done.output)
            found.append(Finding(name, done.ok, what, "run, validate"))
    return found


def _extras() -> list[Finding]:
    found = []
    for extra, packages in _EXTRAS.items():
        lacking = [package for package in packages if find_spec(package) is None]
        state = f"lacks {', '.join(lacking)}" if lacking else "installed"
        install = f"pip install 'compute-eval-sdk[{extra}]'"
        found.append(Finding(f"extra {extra}", not lacking, state, "its commands", install))
    return found


def _abilities(machine: Machine, findings: list[Finding]) -> dict[str, str]:
    """What follows from the findings, in the terms of the ladder and of the modes."""
    have = {finding.name: finding.ok for finding in findings}
    no_gpu = f"not run: no GPU ({machine.no_gpu_reason})"
    toolkit = machine.cuda_toolkit
    return {
        "lint": "yes" if have["extra author"] else "no: needs the extra 'author'",
        "build CUDA C++": f"yes, toolkit {toolkit}" if toolkit else "no: needs nvcc",
        "test on a GPU": "yes" if machine.gpus else no_gpu,
        "test Numba problems": "no: needs the extra 'numba'"
        if not have["extra numba"]
        else ("yes" if machine.gpus else "in Numba's simulator only"),
        "isolate solutions": "yes, --mode sandbox" if have.get("--mode sandbox") else "no: only --mode local",
    }
