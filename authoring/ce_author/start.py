"""A new corpus: the files that make a folder one. Nothing that exists is overwritten."""

from __future__ import annotations

import os
import uuid
from pathlib import Path

from ce_corpus.root import CORPUS_FILE, CorpusConfig
from ce_schema.atomic import new_file, writing
from ce_schema.errors import InputError

SCHEMA_NAME = "problem-spec.schema.json"

_README = """# {name}

GPU programming problems. `ce-author new` adds one, `ce-author validate` proves it, `ce-release` freezes them.
"""
_CONFIG = """# The corpus root. Folders are relative to this file.
name: {name}
# Every problem carries this text, so that those who train models can find it and leave it out.
canary: "{name} canary {canary}"
problems: problems
certificates: certificates
manifests: manifests
# What a release asks of each problem's certificate.
policy:
  rungs: [lint, build, test]
  test_passes: 20
"""


def create_corpus(folder: Path, name: str) -> list[Path]:
    """Make ``folder`` a corpus called ``name`` and return the files that were made.

    Raises:
        InputError: it is one already, the name is none for a corpus, or it cannot be written.
    """
    from pydantic import ValidationError

    try:
        CorpusConfig(name=name)
    except ValidationError:
        raise InputError(
            f"{name!r} is no name for a corpus",
            fix="pass --name with letters, digits, '.', '_' and '-', the first a letter or digit",
        ) from None
    if (folder / CORPUS_FILE).exists():
        raise InputError(
            "this is a corpus already", where=str(folder / CORPUS_FILE), fix="add to it: ce-author new"
        )
    texts = {
        "README.md": _README.format(name=name),
        ".gitattributes": "* text eol=lf\n",
        ".gitignore": "__pycache__/\n*.tar.gz\n*-graded-solutions.jsonl*\n",
        # git keeps no empty folders.
        "problems/.gitkeep": "",
        "certificates/.gitkeep": "",
        "manifests/.gitkeep": "",
        # Last, so that a folder is a corpus when all the rest is there.
        CORPUS_FILE: _CONFIG.format(name=name, canary=uuid.uuid4()),
    }
    schema = folder / SCHEMA_NAME
    made = [schema] if copy_schema(schema) else []
    return made + [folder / path for path, text in texts.items() if write_new(folder / path, text)]


def copy_schema(path: Path) -> bool:
    """Put the JSON Schema of specs at ``path``, for editors; False where something stands there already."""
    from ce_schema.jsonschema_gen import SCHEMA_FILE

    return write_new(path, SCHEMA_FILE.read_text(encoding="utf-8"))


def write_new(path: Path, text: str) -> bool:
    """Write ``text`` to a new file, whole or not at all; False where something stands there already.

    Raises:
        InputError: the file cannot be written.
    """
    if os.path.lexists(path):
        return False
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_file(path, overwrite=False) as stream:
            stream.write(text.encode())
    return True
