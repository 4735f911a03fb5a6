"""`ce-author new`: a fresh number, a whole folder or none, and input that cannot reach into anything."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ce_author import scaffold as scaffolding
from ce_author.scaffold import Request, scaffold
from ce_author.start import create_corpus
from ce_corpus.folder import load_folder
from ce_corpus.root import Corpus, find_corpus
from ce_schema.errors import InputError
from ce_schema.groups import groups
from ce_schema.paths import folder_name

NUMBA = Request(groups()["numba-cuda"], None, "easy")


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    create_corpus(tmp_path / "corpus", "demo")
    return find_corpus(tmp_path / "corpus")


def new(corpus: Corpus, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("ce-author")), "new", *words]
    return subprocess.run(  # type: ignore[call-overload, no-any-return]
        command, cwd=corpus.root, capture_output=True, text=True, timeout=120, **{"input": "", **options}
    )


def problems(corpus: Corpus) -> list[str]:
    return sorted(str(path.relative_to(corpus.problems)) for path in corpus.problems.glob("*/*"))


def test_a_topic_stands_for_its_group(corpus: Corpus) -> None:
    done = new(corpus, "--group", "cub", "--difficulty", "hard", "--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["task_id"] == "cub/1"
    assert told["folder"] == "problems/cccl/cub-1"
    folder = load_folder(corpus.problems / "cccl/cub-1")
    spec = folder.require_spec()
    assert (spec.task_id, spec.group, spec.metadata.topic) == ("cub/1", "cccl", "cub")
    assert spec.metadata.difficulty == "hard"
    assert folder.problem.metadata.extra("canary") == corpus.config.canary
    assert sorted(told["files"]) == [
        "context/include/running_totals.h",
        "problem-spec.yaml",
        "solution/solution.cu",
        "solutions/rejected/test_failed/stub/solution.cu",
        "test/test/ce_harness.hpp",
        "test/test/test_main.cu",
    ]


def test_group_and_topic_apart_say_the_same(corpus: Corpus) -> None:
    assert json.loads(new(corpus, "--group", "cccl", "--topic", "cub", "--json").stdout)["task_id"] == "cub/1"


def test_files_on_stdout_and_what_to_do_next_on_stderr(corpus: Corpus) -> None:
    done = new(corpus, "--group", "numba-cuda")
    assert done.stdout.splitlines()[1] == "problems/numba-cuda/numba-cuda-1/problem-spec.yaml"
    assert "ce-author lint numba-cuda/1" in done.stderr
    assert "ce-author validate numba-cuda/1" in done.stderr


def test_asks_on_a_terminal(corpus: Corpus) -> None:
    here, there = pty.openpty()
    os.write(here, b"thrust\n\n")
    done = new(corpus, input=None, stdin=there)
    os.close(here)
    os.close(there)
    assert done.returncode == 0, done.stderr
    spec = load_folder(corpus.problems / "cccl/thrust-1").require_spec()
    assert spec.metadata.difficulty == "medium"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--group is missing"),
        (["--group", "cccl"], "--topic is missing"),
        (["--group", "cubb"], "Did you mean cub"),
        (["--group", "cub", "--topic", "thrust"], "exclude one another"),
        (["--group", "cccl", "--topic", "thurst"], "Did you mean thrust"),
        (["--group", "cuda-kernels", "--topic", "x"], "leave --topic out"),
        (["--group", "cudnn"], "there is no template for cudnn"),
        (["--group", "../../etc"], "no group or topic is called"),
        (["--group", "cub", "--difficulty", "{{ 7 }}"], "is not one of"),
        (["--group", "cub", "--prompt-file", "blank"], "holds no prompt"),
        (["--group", "cub", "--prompt-file", "binary"], "NUL byte"),
        (["--group", "cub", "--prompt-file", "nothing"], "does not exist"),
    ],
)
def test_bad_calls_say_what_to_do_and_make_nothing(corpus: Corpus, words: list[str], says: str) -> None:
    (corpus.root / "blank").write_text(" \n")
    (corpus.root / "binary").write_bytes(b"a\0b")
    done = new(corpus, *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert problems(corpus) == []


HOSTILE = """  starts indented: "x" 'y' \\ # {{ cookiecutter.task_id }} {% raw %} {{ 7 * 7 }}
task_id: "evil/1"
---
- *anchor\t!!python/object:os.system ${HOME} $(id) `id`

ü – 計算"""


def test_a_prompt_reaches_the_spec_to_the_letter_and_nothing_else(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "prompt.md").write_text(HOSTILE)
    done = new(corpus, "--group", "numba-cuda", "--prompt-file", str(tmp_path / "prompt.md"))
    assert done.returncode == 0, done.stderr
    spec = load_folder(corpus.problems / "numba-cuda/numba-cuda-1").require_spec()
    assert spec.prompt == HOSTILE + "\n"
    assert spec.task_id == "numba-cuda/1"


def test_numbers_go_on_and_are_never_used_again(corpus: Corpus) -> None:
    def git(*words: str) -> None:
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        subprocess.run(["git", *identity, *words], cwd=corpus.root, check=True, capture_output=True)

    assert [scaffold(corpus, NUMBA).task_id for _ in range(2)] == ["numba-cuda/1", "numba-cuda/2"]
    git("init", "-q")
    git("add", "-A")
    git("commit", "-qm", "two problems")
    git("rm", "-rq", "problems/numba-cuda/numba-cuda-2")
    git("commit", "-qm", "one problem")
    assert scaffold(corpus, NUMBA).task_id == "numba-cuda/3"


def test_a_taken_name_is_passed_by_whatever_has_it(corpus: Corpus) -> None:
    parent = corpus.problems / "numba-cuda"
    (parent / "numba-cuda-1").mkdir(parents=True)
    (parent / "numba-cuda-2").write_text("mine")
    (parent / "numba-cuda-3").symlink_to("nowhere")
    assert scaffold(corpus, NUMBA).task_id == "numba-cuda/4"
    assert not any((parent / "numba-cuda-1").iterdir())
    assert (parent / "numba-cuda-2").read_text() == "mine"


def test_who_loses_the_race_for_a_number_takes_the_next(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    complete = scaffolding._complete

    def slow(made: Path, opened: Corpus, request: Request) -> None:
        complete(made, opened, request)
        if made.name == "numba-cuda-1":  # somebody else is faster
            other = corpus.problems / "numba-cuda" / "numba-cuda-1"
            other.mkdir()
            (other / "problem-spec.yaml").write_text("theirs")

    monkeypatch.setattr(scaffolding, "_complete", slow)
    made = scaffold(corpus, NUMBA)
    assert made.task_id == "numba-cuda/2"
    assert load_folder(made.folder).require_spec().task_id == "numba-cuda/2"
    assert (corpus.problems / "numba-cuda/numba-cuda-1/problem-spec.yaml").read_text() == "theirs"
    assert problems(corpus) == ["numba-cuda/numba-cuda-1", "numba-cuda/numba-cuda-2"]


def test_many_at_once_get_different_numbers(corpus: Corpus) -> None:
    with ThreadPoolExecutor(4) as pool:
        runs = list(pool.map(lambda _: new(corpus, "--group", "numba-cuda", "--json"), range(4)))
    assert {json.loads(run.stdout)["task_id"] for run in runs} == {f"numba-cuda/{n}" for n in range(1, 5)}
    assert problems(corpus) == [f"numba-cuda/numba-cuda-{n}" for n in range(1, 5)]


def test_an_interruption_leaves_nothing(corpus: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(scaffolding, "_complete", interrupted)
    with pytest.raises(KeyboardInterrupt):
        scaffold(corpus, NUMBA)
    assert not list((corpus.problems / "numba-cuda").iterdir())


def test_no_file_of_cookiecutter_is_read_or_written(corpus: Corpus, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".cookiecutterrc").write_text("default_context: [this is no configuration\n")
    environment = {**os.environ, "HOME": str(home), "COOKIECUTTER_CONFIG": str(home / ".cookiecutterrc")}
    done = new(corpus, "--group", "numba-cuda", env=environment)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in home.iterdir()) == [".cookiecutterrc"]


def test_without_cookiecutter_one_line_says_what_to_install(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "cookiecutter").mkdir()
    (tmp_path / "cookiecutter" / "__init__.py").write_text(
        "raise ModuleNotFoundError(\"No module named 'cookiecutter'\", name='cookiecutter')\n"
    )
    done = new(corpus, "--group", "numba-cuda", env={**os.environ, "PYTHONPATH": str(tmp_path)})
    assert done.returncode == 3
    assert "pip install 'compute-eval-sdk[author]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert problems(corpus) == []


def test_a_place_that_cannot_be_written_is_named(corpus: Corpus) -> None:
    (corpus.problems / "numba-cuda").write_text("")
    with pytest.raises(InputError, match="cannot be written") as caught:
        scaffold(corpus, NUMBA)
    assert "numba-cuda" in str(caught.value.where)


def test_editors_find_the_schema(corpus: Corpus) -> None:
    made = scaffold(corpus, NUMBA)
    line = (made.folder / "problem-spec.yaml").read_text().splitlines()[0]
    relative = line.removeprefix("# yaml-language-server: $schema=")
    assert (made.folder / relative).resolve() == (corpus.root / "problem-spec.schema.json").resolve()


def test_a_corpus_without_the_schema_gets_it(corpus: Corpus) -> None:
    (corpus.root / "problem-spec.schema.json").unlink()
    scaffold(corpus, NUMBA)
    assert (corpus.root / "problem-spec.schema.json").is_file()


def test_the_folder_is_named_after_the_task(corpus: Corpus) -> None:
    made = scaffold(corpus, NUMBA)
    assert made.folder.name == folder_name(made.task_id)
