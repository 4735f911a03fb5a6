"""The corpus root: ``corpus.yaml``, and where problems, certificates and manifests lie."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ce_corpus.textfile import require_text
from ce_corpus.yamltext import require_yaml
from ce_schema.certificate import Rung
from ce_schema.errors import InputError, first_of

CORPUS_FILE = "corpus.yaml"


class ReleasePolicy(BaseModel):
    """What a release asks of each problem's certificate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rungs: tuple[Rung, ...] = (Rung.LINT, Rung.BUILD, Rung.TEST)
    test_passes: Annotated[int, Field(ge=1)] = 20


class CorpusConfig(BaseModel):
    """The keys of ``corpus.yaml``. Folders are relative to it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")
    canary: str | None = None
    problems: str = "problems"
    certificates: str = "certificates"
    manifests: str = "manifests"
    policy: ReleasePolicy = ReleasePolicy()


@dataclass(frozen=True, slots=True)
class Corpus:
    """An opened corpus."""

    root: Path
    config: CorpusConfig

    @property
    def problems(self) -> Path:
        """The folder that holds ``<group>/<TASK>/``."""
        return self.root / self.config.problems

    @property
    def certificates(self) -> Path:
        """The folder that holds ``<TASK>.json``."""
        return self.root / self.config.certificates

    @property
    def manifests(self) -> Path:
        """The folder that holds ``<release>.json``."""
        return (self.root / self.config.manifests).resolve()


def find_corpus(explicit: Path | None = None, start: Path | None = None) -> Corpus:
    """Open the corpus at ``explicit``, else the nearest one upward, else ``./corpus``.

    Raises:
        InputError: there is none, or its ``corpus.yaml`` has a defect (placed).
    """
    start = (start or Path.cwd()).absolute()
    if explicit is not None:
        candidates = [explicit / CORPUS_FILE if explicit.is_dir() else explicit]
    else:
        candidates = [folder / CORPUS_FILE for folder in (start, *start.parents)]
        candidates.append(start / "corpus" / CORPUS_FILE)
    for candidate in candidates:
        if candidate.is_file():
            return Corpus(candidate.absolute().parent, _read_config(candidate))
    raise InputError(
        f"no {CORPUS_FILE} " + (f"at {explicit}" if explicit else "here or in any folder above"),
        fix="run inside a corpus, pass --corpus FOLDER, or start one with ce-author init",
    )


def _read_config(path: Path) -> CorpusConfig:
    document = require_yaml(require_text(path), str(path))
    try:
        return CorpusConfig.model_validate(document.data)
    except ValidationError as error:
        place = document.where(*error.errors(include_url=False)[0]["loc"])
        raise InputError(first_of(error), where=str(place)) from None
