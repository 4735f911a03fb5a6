"""``ce-author validate``: climb the ladder, write certificates."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ce_schema.cli import corpus_option, echo_json, examples, print_table
from ce_schema.errors import ExitCode, InputError

if TYPE_CHECKING:
    from ce_author.ladder import Ascent
    from ce_corpus.folder import ProblemFolder
    from ce_corpus.root import Corpus
    from ce_eval.sandbox.base import Sandbox

_SIGNS = {"passed": "passed", "failed": "FAILED", "not_run": "not run"}
_RUNGS = ["lint", "build", "test"]


@click.command(
    "validate",
    epilog=examples(
        "ce-author validate                     # the problem around this folder, else what changed",
        "ce-author validate cub/1 cuda-kernels  # a task, a whole group",
        "ce-author validate --all --passes 50",
        "ce-author validate --all --stale       # go on where an interrupted run stopped",
    ),
)
@click.argument("tasks", nargs=-1, metavar="[TASK|GROUP|PATH]...")
@click.option("--all", "everything", is_flag=True, help="Every problem of the corpus.")
@click.option("--changed", is_flag=True, help="What differs from the last commit.")
@click.option("--stale", is_flag=True, help="Only problems without a current certificate for these rungs.")
@click.option(
    "--upto",
    type=click.Choice(_RUNGS),
    default=_RUNGS[-1],
    show_default=True,
    help="Highest rung to try.",
)
@click.option("--passes", type=click.IntRange(1, 100000), help="Runs of the reference. Default: as policy.")
@click.option("--mode", default=None, help="sandbox or local. Default: sandbox, where this machine can.")
@click.option("--workers", type=click.IntRange(1, 4096), help="Problems at once. Default: the cores.")
@click.option("--require", type=click.Choice(_RUNGS), help="Exit 3 when this rung could not be run.")
@click.option("--no-certificate", is_flag=True, help="Only report.")
@click.option("--json", "as_json", is_flag=True, help="Machine-readable output.")
@corpus_option
def command(
    tasks: tuple[str, ...],
    everything: bool,
    changed: bool,
    stale: bool,
    upto: str,
    passes: int | None,
    mode: str | None,
    workers: int | None,
    require: str | None,
    no_certificate: bool,
    as_json: bool,
    corpus: Path | None,
) -> ExitCode:
    """Prove problems on this machine, rung by rung, and write their certificates.

    \b
    lint   the spec is well formed and its parts agree
    build  reference and baseline compile without a warning
    test   the reference passes every time; a stub that does nothing fails
    \b
    A rung that this machine cannot try is "not run", which is never a pass.
    """
    from ce_author.ladder import certify, climb_all, supersedes
    from ce_author.rungs import Ground
    from ce_corpus.certificates import read_certificate, write_certificate
    from ce_corpus.index import load_folders
    from ce_corpus.root import find_corpus
    from ce_eval.machine import probe
    from ce_eval.sandbox.scratch import ScratchFolder
    from ce_schema.certificate import Rung, RungStatus

    opened = find_corpus(corpus)
    folders = list(load_folders(_choose(opened, tasks, everything, changed)))
    if stale:
        folders = [folder for folder in folders if not _is_certified(folder, opened.certificates, upto)]
    if not folders:
        click.echo("nothing to validate: every certificate is current", err=True)
        return ExitCode.OK
    asked = opened.config.policy.test_passes
    ascents: list[Ascent] = []
    with closing(_sandbox(mode)) as sandbox, closing(ScratchFolder("ce-author-")) as scratch:
        ground = Ground(sandbox, probe(), scratch.path, passes or asked)
        for ascent in climb_all(folders, ground, Rung(upto), workers or len(os.sched_getaffinity(0))):
            ascents.append(ascent)
            click.echo(f"{ascent.folder.label}: {_brief(ascent)}", err=True)
            if ascent.folder.is_sound and not no_certificate:
                new = certify(ascent, ground)
                if supersedes(new, read_certificate(opened.certificates, new.task_id), ascent.folder):
                    write_certificate(opened.certificates, new)
                else:
                    click.echo("  kept the certificate that proves more", err=True)
    ascents.sort(key=lambda ascent: ascent.folder.label)
    _report(ascents, as_json)
    if (passes or asked) < asked:
        click.echo(f"note: {passes} passes prove less than the {asked} that a release asks for", err=True)
    if any(ascent.failed for ascent in ascents):
        return ExitCode.FINDINGS
    required = [result for a in ascents for result in a.rungs if require and result.rung == require]
    if any(result.status is RungStatus.NOT_RUN for result in required):
        return ExitCode.MACHINE_LACKS
    return ExitCode.OK


def _choose(corpus: Corpus, tasks: Sequence[str], everything: bool, changed: bool) -> list[Path]:
    from ce_author.targets import chosen_folders
    from ce_corpus.index import enclosing_folder

    if changed and (tasks or everything):
        raise InputError("tasks, --all and --changed exclude one another")
    if tasks or everything or (not changed and enclosing_folder(Path.cwd())):
        return chosen_folders(tasks, everything, corpus)
    from ce_corpus.history import require_repository

    found = require_repository(corpus).changed_folders()
    if not found:
        raise InputError(
            "no problem differs from the last commit and this folder is in none",
            fix="name tasks, or pass --all",
        )
    return found


def _sandbox(mode: str | None) -> Sandbox:
    from ce_eval.sandbox import open_sandbox
    from ce_schema.errors import MachineLacksError

    if mode is not None:
        return open_sandbox(mode)
    try:
        return open_sandbox("sandbox")
    except MachineLacksError as error:
        click.echo(f"note: running without isolation, for your own code only ({error})", err=True)
        return open_sandbox("local")


def _is_certified(folder: ProblemFolder, certificates: Path, upto: str) -> bool:
    from ce_corpus.certificates import CertificateState, certificate_state, read_certificate
    from ce_schema.certificate import Rung

    if not folder.is_sound:
        return False
    certificate = read_certificate(certificates, folder.problem.task_id)
    if certificate is None or certificate_state(folder, certificate) is not CertificateState.CURRENT:
        return False
    return all(certificate.passed(Rung(rung)) for rung in _RUNGS[: _RUNGS.index(upto) + 1])


def _brief(ascent: Ascent) -> str:
    return ", ".join(f"{result.rung} {_SIGNS[result.status]}" for result in ascent.rungs)


def _report(ascents: Sequence[Ascent], as_json: bool) -> None:
    if as_json:
        echo_json([{"problem": a.folder.label, "rungs": a.rungs} for a in ascents])
        return
    rungs = [result.rung for result in ascents[0].rungs]
    rows = [[a.folder.path.name, *(_SIGNS[result.status] for result in a.rungs)] for a in ascents]
    print_table(["problem", *rungs], rows)
    for ascent in ascents:
        for result in ascent.rungs:
            if result.reason:
                click.echo(f"\n{ascent.folder.path.name}: {result.rung} {_SIGNS[result.status]}")
                click.echo("\n".join(f"  {line}" for line in result.reason.splitlines()))
