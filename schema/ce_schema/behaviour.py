"""The hash that binds a certificate to a problem: over all that decides a grade, and nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from ce_schema.problem import Problem
from ce_schema.solution import PatchSolution, Solution

# Classification and membership; editing these must not ask for another run on a GPU.
_INERT_METADATA = frozenset(
    {"difficulty", "tags", "releases", "do_not_release", "topic", "category", "canary", "reference_solution"}
)
_INERT_FIELDS = frozenset({"schema_version", "date", "group", "metadata", "baseline_solution"})


def behaviour_facts(problem: Problem, reference: Solution | None) -> dict[str, Any]:
    """Everything of a problem that affects how a solution is graded, as plain data.

    Release membership, tags, difficulty and the like are left out; prompt, files, commands, limits,
    requirements, timing, baseline and reference are in. File order does not matter.
    """
    facts: dict[str, Any] = problem.model_dump(mode="json", exclude=set(_INERT_FIELDS))
    metadata = problem.metadata.model_dump(mode="json")
    facts["metadata"] = {key: value for key, value in metadata.items() if key not in _INERT_METADATA}
    facts["baseline"] = _solution_facts(problem.baseline_solution)
    facts["reference"] = _solution_facts(reference)
    for key in ("context_files", "test_files"):
        facts[key] = sorted((file["path"], file["content"]) for file in facts[key])
    return facts


def behaviour_sha256(problem: Problem, reference: Solution | None) -> str:
    """SHA-256, in hex, over the `behaviour_facts` of a problem."""
    facts = behaviour_facts(problem, reference)
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(canonical.encode()).hexdigest()


def _solution_facts(solution: Solution | None) -> object:
    if solution is None:
        return None
    if isinstance(solution, PatchSolution):
        return {"patch": solution.patch}
    return {"files": sorted((file.path, file.content) for file in solution.files)}
