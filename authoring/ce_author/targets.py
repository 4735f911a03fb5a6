"""Which problems a command of authors is about."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ce_corpus.index import choose_folders, enclosing_folder, problem_folders
from ce_schema.errors import InputError

if TYPE_CHECKING:
    from ce_corpus.root import Corpus


def corpus_or_none(explicit: Path | None) -> Corpus | None:
    """The corpus, or None where none was asked for and none is near.

    Raises:
        InputError: ``explicit`` is no corpus, or a ``corpus.yaml`` has a defect.
    """
    from ce_corpus.root import find_corpus

    try:
        return find_corpus(explicit)
    except InputError as error:
        # Without a place it says that there is none; with one, that what is there cannot be used.
        if explicit is not None or error.where is not None:
            raise
        return None


def chosen_folders(names: Sequence[str], everything: bool, corpus: Corpus | None) -> list[Path]:
    """The problem folders that ``names`` mean; without names the one around here, else the whole corpus.

    Raises:
        InputError: a name means nothing, there is no corpus to search, or nothing was found.
    """
    if names and everything:
        raise InputError("tasks and --all exclude one another")
    if names:
        tree = corpus.problems if corpus else Path.cwd() / "problems"
        found = choose_folders(tree, names)
    elif not everything and (here := enclosing_folder(Path.cwd())):
        return [here]
    elif corpus is None:
        raise InputError(
            "no corpus.yaml here or in any folder above",
            fix="name problem folders, pass --corpus FOLDER, or start one with ce-author init",
        )
    else:
        found = problem_folders(corpus.problems)
    if not found:
        where = str(corpus.problems) if corpus else None
        raise InputError("there is no problem here", where=where, fix="ce-author new scaffolds one")
    return found
