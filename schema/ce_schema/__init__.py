"""The nouns of the toolkit: problems, solutions, grades, datapacks, certificates, groups.

Names are imported when first used, so that ``import ce_schema`` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ce_schema.version import __version__

if TYPE_CHECKING:
    from ce_schema.behaviour import behaviour_sha256
    from ce_schema.certificate import Certificate, Machine, Rung, RungResult, RungStatus
    from ce_schema.datapack import (
        PackError,
        PackMetadata,
        ProblemPack,
        ProblemPackMetadata,
        Record,
        SolutionPack,
        SolutionPackMetadata,
        WrittenPack,
        open_pack,
        open_problem_pack,
        open_solution_pack,
        read_jsonl,
        verify_pack,
        write_problem_pack,
        write_solution_pack,
    )
    from ce_schema.diagnostics import Diagnostic, Diagnostics, Location, Severity
    from ce_schema.errors import CeError, ExitCode, FindingsError, InputError, MachineLacksError
    from ce_schema.grade import Environment, Evidence, GradedSolution, Outcome, StageName, StageResult
    from ce_schema.groups import Group, GroupFilter, groups
    from ce_schema.lines import encode_line, line_md5
    from ce_schema.problem import CudaCppProblem, CudaPythonProblem, Metadata, Problem, SourceReferences
    from ce_schema.solution import FileSolution, PatchSolution, Solution, SourceFile
    from ce_schema.spec import ProblemSpec

_HOME = {
    "behaviour": ["behaviour_sha256"],
    "certificate": ["Certificate", "Machine", "Rung", "RungResult", "RungStatus"],
    "datapack": [
        "PackError",
        "PackMetadata",
        "ProblemPack",
        "ProblemPackMetadata",
        "Record",
        "SolutionPack",
        "SolutionPackMetadata",
        "WrittenPack",
        "open_pack",
        "open_problem_pack",
        "open_solution_pack",
        "read_jsonl",
        "verify_pack",
        "write_problem_pack",
        "write_solution_pack",
    ],
    "diagnostics": ["Diagnostic", "Diagnostics", "Location", "Severity"],
    "errors": ["CeError", "ExitCode", "FindingsError", "InputError", "MachineLacksError"],
    "grade": ["Environment", "Evidence", "GradedSolution", "Outcome", "StageName", "StageResult"],
    "groups": ["Group", "GroupFilter", "groups"],
    "lines": ["encode_line", "line_md5"],
    "problem": ["CudaCppProblem", "CudaPythonProblem", "Metadata", "Problem", "SourceReferences"],
    "solution": ["FileSolution", "PatchSolution", "Solution", "SourceFile"],
    "spec": ["ProblemSpec"],
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "CeError",
    "Certificate",
    "CudaCppProblem",
    "CudaPythonProblem",
    "Diagnostic",
    "Diagnostics",
    "Environment",
    "Evidence",
    "ExitCode",
    "FileSolution",
    "FindingsError",
    "GradedSolution",
    "Group",
    "GroupFilter",
    "InputError",
    "Location",
    "Machine",
    "MachineLacksError",
    "Metadata",
    "Outcome",
    "PackError",
    "PackMetadata",
    "PatchSolution",
    "Problem",
    "ProblemPack",
    "ProblemPackMetadata",
    "ProblemSpec",
    "Record",
    "Rung",
    "RungResult",
    "RungStatus",
    "Severity",
    "Solution",
    "SolutionPack",
    "SolutionPackMetadata",
    "SourceFile",
    "SourceReferences",
    "StageName",
    "StageResult",
    "WrittenPack",
    "__version__",
    "behaviour_sha256",
    "encode_line",
    "groups",
    "line_md5",
    "open_pack",
    "open_problem_pack",
    "open_solution_pack",
    "read_jsonl",
    "verify_pack",
    "write_problem_pack",
    "write_solution_pack",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'ce_schema' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"ce_schema.{_MODULE_OF[name]}"), name)
