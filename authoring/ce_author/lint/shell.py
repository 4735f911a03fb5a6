"""What a command line reads and makes, as far as that can be told without running it.

Commands are /bin/sh lines written by authors: mostly one compiler call, or a few joined by ``&&``.
A program unknown here counts as able to make any file, so that nothing said here is a guess.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import PurePosixPath

# Options of nvcc, g++ and clang++ whose value is the next word (and might look like a source file).
_COMPILER_VALUE_OPTIONS = """
    -I -L -D -U -l -x -include -isystem -idirafter -iquote -isysroot -imacros -MF -MT -MQ -T -u -z
    -Xcompiler -Xlinker -Xptxas -Xarchive -Xcudafe -Xnvlink -Xfatbin -Xassembler -Xpreprocessor -Xclang
    -gencode -arch -code -ccbin -std -m -maxrregcount -t -odir -cudart -cudadevrt -optf -idp -ldir -rdc
    -ftz -fmad -prec-div -prec-sqrt -default-stream -keep-dir -target-dir -diag-suppress -split-compile
    --param --sysroot --include-path --system-include --library --library-path --define-macro
    --undefine-macro --pre-include --x --compiler-bindir --compiler-options --linker-options
    --archive-options --ptxas-options --nvlink-options --generate-code --gpu-architecture --gpu-code
    --std --machine --maxrregcount --threads --output-directory --cudart --cudadevrt --options-file
    --dependency-output --keep-dir --target-directory --default-stream --ftz --fmad --prec-div
    --prec-sqrt --diag-suppress --split-compile --relocatable-device-code
"""
_COMPILER_VALUES = frozenset(_COMPILER_VALUE_OPTIONS.split())
_INPUT_SUFFIXES = (".cu", ".cpp", ".cc", ".cxx", ".c", ".o", ".a", ".so", ".ptx", ".cubin", ".fatbin", ".s")
# Modes of a compiler that leave files other than a program behind.
_OTHER_OUTPUT = frozenset(
    {"-dc", "-dw", "-E", "-S", "-ptx", "-cubin", "-fatbin", "-M", "-MM", "-odir", "-lib"}
)
_PYTHON_VALUES = frozenset({"-W", "-X"})
_PYTEST_VALUES = frozenset({"-k", "-m", "-p", "-c", "-n", "-o", "-W", "-r"})

_COMPILER = re.compile(r"(?:.*/)?(?:nvcc|(?:g|clang|nvc)\+\+|c\+\+|gcc|clang|cc)(?:-[0-9.]+)?\Z")
_PYTHON = re.compile(r"(?:.*/)?python[0-9.]*\Z")
_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*=")
_OPERATORS = frozenset("();<>|&")
_MAKES_NOTHING = frozenset(
    {"true", "false", "echo", "export", "set", "test", "[", "ls", "mkdir", "sleep", ":"}
)


@dataclass(slots=True)
class Effects:
    """What a command line needs that is not there, and what it leaves behind.

    ``missing`` are words (paths, or globs that match nothing) in the order of the line; ``made`` the
    files it makes; ``anything`` says that a program ran after which any file may be there.
    """

    missing: list[str] = field(default_factory=list)
    made: set[str] = field(default_factory=set)
    anything: bool = False


def effects(command: str, files: Iterable[str], before: Effects | None = None) -> Effects:
    """What ``command`` needs and makes in a workspace of ``files``, after what ran ``before``.

    Raises:
        ValueError: the quotes of the command do not close.
    """
    found = Effects()
    if before is not None:
        found.made, found.anything = set(before.made), before.anything
    there = frozenset(files)
    for words in _simple_commands(command):
        if words is None:
            found.anything = True
        elif words := _without_launchers(words):
            needed = _needs(words[0], words[1:])
            found.missing += [word for word in needed if not _is_there(word, there, found)]
            _make(words[0], words[1:], found)
    return found


def builds_something(command: str) -> bool:
    """Whether some program of the line may build what it then runs."""
    try:
        found = effects(command, ())
    except ValueError:
        return True
    return found.anything or bool(found.made)


@lru_cache(maxsize=4096)
def _simple_commands(command: str) -> tuple[tuple[str, ...] | None, ...]:
    """The simple commands of a line; None stands for one with pipes, redirections or subshells."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    found: list[tuple[str, ...] | None] = []
    words: list[str] = []
    simple = True
    for token in [*lexer, ";"]:
        if not token or not set(token) <= _OPERATORS:
            words.append(token)
        elif token not in {"&&", "||", ";"}:
            simple = False
        elif words:
            found.append(tuple(words) if simple else None)
            words, simple = [], True
    return tuple(found)


def _without_launchers(words: tuple[str, ...]) -> tuple[str, ...]:
    """Drop assignments, and programs that run what follows them."""
    while words:
        if _ASSIGNMENT.match(words[0]) or words[0] in {"env", "time", "exec", "nohup"}:
            words = words[1:]
        elif words[0] == "timeout" and len(words) > 2 and not words[1].startswith("-"):
            words = words[2:]
        else:
            break
    return words


def _needs(program: str, arguments: tuple[str, ...]) -> list[str]:
    """The words of a simple command that name files which must be there."""
    if _COMPILER.match(program):
        return _compiler_call(arguments)[0]
    if _PYTHON.match(program):
        return _python_scripts(arguments)
    if program == "pytest":
        return _pytest_files(arguments)
    if program in {"sh", "bash"}:
        return [] if not arguments or arguments[0].startswith("-") else [arguments[0]]
    return [program] if "/" in program else []


def _make(program: str, arguments: tuple[str, ...], found: Effects) -> None:
    """Note what a simple command leaves behind."""
    if not _COMPILER.match(program):
        ran_own_program = "/" in program and not program.startswith("/")
        found.anything |= not ran_own_program and program not in _MAKES_NOTHING
        return
    inputs, output = _compiler_call(arguments)
    if output is not None:
        found.made.add(normal(output))
    elif "-c" in arguments and not _OTHER_OUTPUT & set(arguments):
        found.made |= {f"{PurePosixPath(word).stem}.o" for word in inputs if not _is_glob(word)}
        found.anything |= any(_is_glob(word) for word in inputs)
    elif _OTHER_OUTPUT & set(arguments) or any(word.startswith("--") for word in arguments):
        # Long options have long forms of the above among them.
        found.anything = True
    else:
        found.made.add("a.out")


def _compiler_call(arguments: tuple[str, ...]) -> tuple[list[str], str | None]:
    """The input files of a compiler call, and its output file where it is named."""
    inputs: list[str] = []
    output: str | None = None
    rest = iter(arguments)
    for word in rest:
        if word in {"-o", "--output-file"}:
            output = next(rest, None)
        elif word.startswith("--output-file="):
            output = word.partition("=")[2]
        elif word.startswith("-o") and not word.startswith(("-odir", "-optf")):
            output = word[2:].removeprefix("=")
        elif word in _COMPILER_VALUES:
            next(rest, None)
        elif not word.startswith("-") and word.endswith(_INPUT_SUFFIXES):
            inputs.append(word)
    return inputs, output


def _python_scripts(arguments: tuple[str, ...]) -> list[str]:
    """The script files that a python call names; what follows a script is its own."""
    rest = iter(arguments)
    for word in rest:
        if word == "-m":
            return _pytest_files(tuple(rest)) if next(rest, "") == "pytest" else []
        if word in {"-c", "-"}:
            return []
        if word in _PYTHON_VALUES:
            next(rest, None)
        elif not word.startswith("-"):
            return [word]
    return []


def _pytest_files(arguments: tuple[str, ...]) -> list[str]:
    files: list[str] = []
    rest = iter(arguments)
    for word in rest:
        path = word.partition("::")[0]
        if word in _PYTEST_VALUES:
            next(rest, None)
        elif path.endswith(".py") and not word.startswith("-"):
            files.append(path)
    return files


def _is_there(word: str, files: frozenset[str], found: Effects) -> bool:
    if found.anything or _cannot_be_judged(word):
        return True
    path = normal(word)
    if _is_glob(path):
        return any(glob_matches(path, file) for file in (*files, *found.made))
    return path in files or path in found.made or any(file.startswith(f"{path}/") for file in files)


def _cannot_be_judged(word: str) -> bool:
    """Whether a word leads out of the workspace or is made of variables or braces."""
    return word.startswith(("/", "~")) or ".." in word.split("/") or any(char in word for char in "$`{")


def glob_matches(pattern: str, path: str) -> bool:
    """Whether the shell would expand ``pattern`` to ``path``: ``*`` stops at slashes and leading dots."""
    wanted, parts = pattern.split("/"), path.split("/")
    return len(wanted) == len(parts) and all(
        fnmatchcase(part, glob) and (not part.startswith(".") or glob.startswith("."))
        for glob, part in zip(wanted, parts, strict=True)
    )


def _is_glob(word: str) -> bool:
    return any(char in word for char in "*?[")


def normal(word: str) -> str:
    """A relative path without ``./`` and doubled slashes."""
    return "/".join(part for part in word.split("/") if part not in {"", "."})
