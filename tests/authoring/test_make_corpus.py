"""The corpus that measurements are made on is sound, and every problem of it another one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ce_author.lint import lint_folders
from ce_author.specformat import formatted
from ce_corpus.index import load_folders, problem_folders

MAKE_CORPUS = Path(__file__).parents[2] / "benchmarks" / "make_corpus.py"


def test_generated_problems_are_sound_and_distinct(tmp_path: Path) -> None:
    subprocess.run([sys.executable, MAKE_CORPUS, tmp_path, "6"], check=True)
    folders = list(load_folders(problem_folders(tmp_path)))
    assert len(folders) == 6
    assert lint_folders(folders) == []
    assert len({folder.behaviour_sha256 for folder in folders}) == 6
    for folder in folders:
        assert folder.document is not None
        assert formatted(folder.document.text, "s") == folder.document.text
