"""New problem folders: a template rendered beside the corpus's problems and moved into place whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import count
from pathlib import Path
from urllib.parse import quote

from ce_author.harness import HARNESS_FOLDER, HARNESS_OF, harness_version, shipped_harness
from ce_author.start import SCHEMA_NAME, copy_schema
from ce_corpus.folder import load_folder
from ce_corpus.history import next_task_number
from ce_corpus.root import Corpus
from ce_corpus.yamledit import SpecEditor
from ce_schema.errors import InputError
from ce_schema.groups import Group, groups
from ce_schema.paths import folder_name
from ce_schema.spec import SPEC_FILE

_TEMPLATE_FILE = "cookiecutter.json"


@dataclass(frozen=True, slots=True)
class Request:
    """What is wanted. ``topic`` is one of the group's, None where it has none; ``prompt`` None keeps
    the sample's."""

    group: Group
    topic: str | None
    difficulty: str
    prompt: str | None = None

    @property
    def prefix(self) -> str:
        """The task id without its number."""
        return self.topic or self.group.name


@dataclass(frozen=True, slots=True)
class Scaffold:
    """A problem that was made: its id, its folder, and its files relative to that folder, sorted."""

    task_id: str
    folder: Path
    files: tuple[str, ...]


def template_root() -> Path:
    """The folder of all templates: in the installed package, or at the top of the source tree."""
    packaged = Path(__file__).with_name("templates")
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "templates"


def template_folder(group: Group, topic: str | None) -> Path | None:
    """The cookiecutter template of a topic, or of the group where templates do not go by topic."""
    folder = template_root() / group.name / (topic or "")
    return folder if (folder / _TEMPLATE_FILE).is_file() else None


def groups_with_template() -> list[Group]:
    """The groups that can be scaffolded, in the order of ``groups.yaml``."""
    return [group for group in groups().values() if template_folder(group, None)]


def scaffold(corpus: Corpus, request: Request) -> Scaffold:
    """Make a problem in the corpus under a task id that was never used.

    The folder appears whole, under a name that was free: nothing is overwritten, and of two calls at
    once one takes the next number.

    Raises:
        InputError: there is no such template, or the corpus cannot be written.
        ModuleNotFoundError: cookiecutter is not installed.
    """
    template = template_folder(request.group, request.topic)
    if template is None:
        names = ", ".join(group.name for group in groups_with_template())
        raise InputError(f"there is no template for {request.prefix}", fix=f"one of: {names}")
    number = next_task_number(corpus, request.prefix)
    parent = corpus.problems / request.group.name
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for task_id in _free_task_ids(parent, request.prefix, number):
            target = parent / folder_name(task_id)
            # Its name starts with a dot: whoever looks for problems passes it by.
            with tempfile.TemporaryDirectory(prefix=".new-", dir=parent) as scratch:
                made = _render(template, Path(scratch), _variables(corpus, request, task_id, target))
                _complete(made, corpus, request)
                if _move(made, target):
                    break
    except OSError as error:
        raise InputError(
            f"cannot be written: {error.strerror}", where=str(error.filename or parent)
        ) from None
    files = sorted(str(path.relative_to(target)) for path in target.rglob("*") if path.is_file())
    return Scaffold(task_id, target, tuple(files))


def _free_task_ids(parent: Path, prefix: str, first: int) -> Iterator[str]:
    """Task ids from number ``first`` on whose folder does not exist when it is asked for."""
    for number in count(first):
        task_id = f"{prefix}/{number}"
        if not os.path.lexists(parent / folder_name(task_id)):
            yield task_id


def _variables(corpus: Corpus, request: Request, task_id: str, target: Path) -> dict[str, str]:
    schema = os.path.relpath(_schema(corpus).resolve(), target.resolve())
    return {
        "task_id": task_id,
        "folder": folder_name(task_id),
        "date": date.today().isoformat(),
        "difficulty": request.difficulty,
        # It stands in a comment, where editors read up to the first space.
        "schema": quote(schema),
    }


def _schema(corpus: Corpus) -> Path:
    """The JSON Schema that specs of the corpus point at: its own copy, or the file that the source tree
    around it holds. A corpus that has neither gets a copy."""
    from ce_schema.jsonschema_gen import SCHEMA_FILE

    own = corpus.root / SCHEMA_NAME
    tree = SCHEMA_FILE.resolve().parents[2]
    in_tree = (tree / "pyproject.toml").is_file() and corpus.root.resolve().is_relative_to(tree)
    if in_tree and not own.exists():
        return SCHEMA_FILE
    copy_schema(own)
    return own


def _render(template: Path, scratch: Path, variables: dict[str, str]) -> Path:
    """Render a template below ``scratch`` and return the folder that it made."""
    from cookiecutter.generate import generate_context, generate_files

    # Not through cookiecutter's `main`: that reads the user's own configuration, leaves a replay file in
    # the home folder, and renders the values themselves as templates.
    context = generate_context(str(template / _TEMPLATE_FILE))
    context["cookiecutter"].update(variables)
    return Path(generate_files(template, context, scratch, accept_hooks=False))


def _complete(made: Path, corpus: Corpus, request: Request) -> None:
    """Add what is no template's to know: the harness, the corpus's canary, the author's prompt.

    Raises:
        FindingsError: the template makes no sound problem.
    """
    harness = HARNESS_OF[request.group.language]
    text = shipped_harness(harness)
    (made / HARNESS_FOLDER / harness).write_text(text, encoding="utf-8", newline="")
    editor = SpecEditor.open(made / SPEC_FILE)
    editor.set("metadata", "harness", value=f"{harness} {harness_version(text)}")
    if corpus.config.canary is not None:
        editor.set("metadata", "canary", value=corpus.config.canary)
    if request.prompt is not None:
        editor.set("prompt", value=request.prompt)
    editor.save()
    load_folder(made).require_spec()


def _move(made: Path, target: Path) -> bool:
    """Rename a folder to a free name; False where somebody else has just taken it."""
    try:
        made.rename(target)
    except OSError:
        if os.path.lexists(target):
            return False
        raise
    return True
