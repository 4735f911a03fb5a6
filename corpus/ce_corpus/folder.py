"""A problem folder: its spec and the text files beside it, read once, with every defect placed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ce_corpus.textfile import read_text
from ce_corpus.yamltext import KeyPath, YamlDocument, parse_yaml
from ce_schema.diagnostics import Diagnostic, Diagnostics, Location
from ce_schema.errors import FindingsError
from ce_schema.paths import path_defect
from ce_schema.spec import SPEC_FILE

if TYPE_CHECKING:
    from ce_schema.problem import Problem
    from ce_schema.solution import Solution, SourceFile
    from ce_schema.spec import ProblemSpec

PARTS = ("context", "test", "solution", "baseline")
"""The folders of files that a problem is made of."""

# What editors, interpreters and file managers leave behind belongs to no problem.
JUNK_NAMES = frozenset({"__pycache__", ".DS_Store", ".ipynb_checkpoints", ".pytest_cache"})
JUNK_SUFFIXES = (".pyc", "~", ".swp", ".swo")
PATCH_SUFFIXES = (".patch", ".diff")
MAX_FILES = 2000


@dataclass(frozen=True)
class ProblemFolder:
    """What stands in a problem folder, defects included.

    ``label`` is how messages name the folder. ``context``, ``test``, ``solution`` and ``baseline``
    hold the readable text files below the folder of that name, sorted by path; ``defects`` what was
    wrong with reading them or the spec.
    """

    path: Path
    label: str
    document: YamlDocument | None
    context: tuple[SourceFile, ...] = ()
    test: tuple[SourceFile, ...] = ()
    solution: tuple[SourceFile, ...] = ()
    baseline: tuple[SourceFile, ...] = ()
    defects: tuple[Diagnostic, ...] = field(default=(), repr=False)

    @property
    def spec_label(self) -> str:
        """How messages name the spec."""
        return f"{self.label}/{SPEC_FILE}"

    def where(self, *path: str | int) -> Location:
        """Place of a value of the spec."""
        return self.document.where(*path) if self.document else Location(self.spec_label)

    @cached_property
    def spec_findings(self) -> list[Diagnostic]:
        """What forbids to read the spec as a `ProblemSpec`, each placed at its value."""
        return self._validated[1]

    @cached_property
    def spec(self) -> ProblemSpec | None:
        """The spec, or None when it has findings."""
        return self._validated[0]

    @cached_property
    def _validated(self) -> tuple[ProblemSpec | None, list[Diagnostic]]:
        from pydantic import ValidationError

        from ce_schema.spec import ProblemSpec

        if self.document is None:
            return None, []
        try:
            return ProblemSpec.model_validate(self.document.data), []
        except ValidationError as error:
            diag = Diagnostics()
            for item in error.errors(include_url=False, include_context=False, include_input=False):
                place = self.where(*_existing(self.document, item["loc"]))
                named = ".".join(str(part) for part in item["loc"])
                diag.error("spec.schema", f"{named or 'spec'}: {item['msg']}", place)
            return None, diag.items

    @property
    def is_sound(self) -> bool:
        """Whether the folder can be read as a problem at all."""
        return self.spec is not None and not self.defects

    def require_spec(self) -> ProblemSpec:
        """The spec; raises FindingsError with the first finding when there is none."""
        if self.spec is None or self.defects:  # as `is_sound`, in a form that narrows the type
            raise _first_finding(self, [*self.defects, *self.spec_findings])
        return self.spec

    @cached_property
    def problem(self) -> Problem:
        """The problem as the public folder loader reads it: no baseline inside.

        Raises:
            FindingsError: the folder has defects.
        """
        from ce_schema.problem import CudaCppProblem, CudaPythonProblem, Metadata

        spec = self.require_spec()
        model = CudaCppProblem if spec.problem_type == "cuda_cpp" else CudaPythonProblem
        written = self.document.data.get("metadata") if self.document else {}
        return model(
            type=spec.problem_type,
            schema_version=2,
            task_id=spec.task_id,
            date=spec.date,
            prompt=spec.prompt,
            metadata=Metadata.model_validate(written),
            group=spec.group,
            context_files=list(self.context),
            test_files=list(self.test),
            source_references=spec.source_references,
            build_command=spec.build_command,
            test_command=spec.test_command,
            benchmark_command=spec.benchmark_command,
            base_image=spec.base_image,
            timing_mode=spec.timing_mode,
            min_cuda_toolkit=spec.min_cuda_toolkit,
            compute_capability=spec.compute_capability,
            requires_datacenter_gpu=spec.requires_datacenter_gpu,
            timeout_seconds=spec.timeout_seconds,
            baseline_solution=None,
        )

    @cached_property
    def reference(self) -> Solution | None:
        """The author's own solution, or None when the folder has none."""
        return _as_solution(self.require_spec().task_id, self.solution)

    @cached_property
    def packed(self) -> Problem:
        """The problem as a release holds it, with what speedups are measured against.

        That is ``baseline/`` where it exists, and then the reference travels as
        ``metadata.reference_solution``; else it is the reference.
        """
        problem, reference = self.problem, self.reference
        baseline = _as_solution(problem.task_id, self.baseline)
        if baseline is None:
            return problem.model_copy(update={"baseline_solution": reference})
        metadata = problem.metadata
        if reference is not None:
            kept = {**metadata.model_dump(), "reference_solution": reference.model_dump()}
            metadata = type(metadata).model_validate(kept)
        return problem.model_copy(update={"baseline_solution": baseline, "metadata": metadata})

    @cached_property
    def behaviour_sha256(self) -> str:
        """The hash that a certificate of this problem must carry."""
        from ce_schema.behaviour import behaviour_sha256

        return behaviour_sha256(self.packed, self.reference)


def load_folder(path: Path, label: str | None = None) -> ProblemFolder:
    """Read a problem folder. Never raises for what is wrong inside it: see ``defects``."""
    label = label if label is not None else str(path)
    diag = Diagnostics()
    document = None
    spec_path, spec_label = path / SPEC_FILE, f"{label}/{SPEC_FILE}"
    if path.is_symlink():
        diag.error("files.link", "the problem is a symbolic link", Location(label), "copy the folder here")
        return ProblemFolder(path, label, None, defects=tuple(diag.items))
    if spec_path.is_symlink():
        diag.error("files.link", "the spec is a symbolic link", Location(spec_label), "copy the file here")
    elif spec_path.is_fifo():
        # To open it would wait for a writer.
        diag.error("files.special", "the spec is a pipe", Location(spec_label), "write a file")
    elif (text := read_text(spec_path, spec_label, diag)) is not None:
        document = parse_yaml(text, spec_label, diag)
        if document is not None and not isinstance(document.data, dict):
            diag.error("spec.schema", "the spec must be a mapping of keys to values", document.where())
            document = None
    parts = {name: tuple(_read_tree(f"{path}/{name}", f"{label}/{name}", diag)) for name in PARTS}
    return ProblemFolder(path, label, document, **parts, defects=tuple(diag.items))


def read_solution(folder: Path, task_id: str) -> Solution:
    """The solution whose files lie in ``folder``.

    Raises:
        FindingsError: the folder holds none, or a file with a defect.
    """
    diag = Diagnostics()
    solution = _as_solution(task_id, tuple(_read_tree(folder, str(folder), diag)))
    if diag.items:
        raise diag.items[0].as_error(FindingsError)
    if solution is None:
        raise FindingsError("holds no solution", where=str(folder))
    return solution


# Paths are plain strings from here on: making path objects took a tenth of the time of reading a corpus.


def _read_tree(root: str | Path, label: str, diag: Diagnostics) -> list[SourceFile]:
    from ce_schema.solution import SourceFile

    root = os.fspath(root)
    if os.path.islink(root):  # noqa: PTH114
        diag.error("files.link", "is a symbolic link", Location(label), "copy the folder here")
        return []
    found: list[SourceFile] = []
    for count, (relative, entry) in enumerate(_walk(root, "", label, diag)):
        if count >= MAX_FILES:
            diag.error("files.too-many", f"holds more than {MAX_FILES} files", Location(label))
            break
        place = f"{label}/{relative}"
        if defect := path_defect(relative):
            diag.error("files.path", f"the path {defect}", Location(place), "rename the file")
            continue
        if (text := read_text(entry.path, place, diag)) is not None:
            found.append(SourceFile(path=relative, content=text))
    found.sort(key=lambda file: file.path)
    return found


def _walk(folder: str, prefix: str, label: str, diag: Diagnostics) -> Iterator[tuple[str, os.DirEntry[str]]]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return
    except OSError as error:
        diag.error("text.unreadable", f"cannot be listed: {error.strerror}", Location(label))
        return
    for entry in entries:
        if entry.name in JUNK_NAMES or entry.name.endswith(JUNK_SUFFIXES):
            continue
        relative = f"{prefix}{entry.name}"
        if entry.is_symlink():
            place = Location(f"{label}/{relative}")
            diag.error("files.link", "is a symbolic link", place, "copy the file here; packs hold no links")
        elif entry.is_dir():
            yield from _walk(entry.path, f"{relative}/", label, diag)
        elif entry.is_file():
            yield relative, entry
        else:
            place = Location(f"{label}/{relative}")
            diag.error("files.special", "is neither a file nor a folder", place, "remove it")


def _as_solution(task_id: str, files: tuple[SourceFile, ...]) -> Solution | None:
    """A folder that holds one patch is a patch solution; any other is taken as whole files."""
    from ce_schema.solution import FileSolution, PatchSolution

    if not files:
        return None
    if len(files) == 1 and files[0].path.endswith(PATCH_SUFFIXES):
        return PatchSolution(task_id=task_id, patch=files[0].content)
    return FileSolution(task_id=task_id, files=list(files))


def _existing(document: YamlDocument, loc: tuple[str | int, ...]) -> KeyPath:
    """The longest part of a validation error's path that the document has (tags of unions fall out)."""
    path: KeyPath = ()
    for part in loc:
        if (*path, part) in document.values:
            path = (*path, part)
    return path


def _first_finding(folder: ProblemFolder, findings: list[Diagnostic]) -> FindingsError:
    if not findings:
        return FindingsError(f"has no {SPEC_FILE}", where=folder.label)
    first = findings[0]
    more = f" (and {len(findings) - 1} more; see ce-author lint)" if len(findings) > 1 else ""
    return FindingsError(f"{first.message}{more}", where=str(first.location), fix=first.fix)
