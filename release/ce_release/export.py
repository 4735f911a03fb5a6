"""The part of a pack that the public evaluator reads.

It refuses a whole pack for one group or one release name that it does not know; so problems of other
groups are left out, and names of other releases are dropped from the lines that stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ce_schema.errors import InputError, did_you_mean
from ce_schema.groups import groups, published_groups
from ce_schema.lines import encode_line
from ce_schema.packlines import Record
from ce_schema.problem import Problem

# The release names that the public evaluator 2026.2 knows.
PUBLIC_RELEASES = ("internal", "2025-1", "2025-2", "2025-3", "2026-1", "2026-2")


@dataclass(frozen=True, slots=True)
class Exported:
    """The lines of an export; why problems were left out, by task; how many lines lost a release's name."""

    lines: list[bytes]
    left_out: dict[str, str]
    renamed: int


def public_release(own: str, wanted: str | None) -> str:
    """The release that an export says it is: ``wanted``, else the pack's own.

    Raises:
        InputError: the public evaluator does not know that name.
    """
    name = wanted or own
    if name in PUBLIC_RELEASES:
        return name
    hint = did_you_mean(name, list(PUBLIC_RELEASES)) if wanted else ""
    raise InputError(
        f"the public evaluator knows no release '{name}'.{hint}",
        fix=f"pass --as-release with one of: {', '.join(PUBLIC_RELEASES)}",
    )


def export_records(records: Iterable[Record[Problem]]) -> Exported:
    """Choose and adapt the lines; those that need no change keep their very bytes."""
    lines: list[bytes] = []
    left_out: dict[str, str] = {}
    renamed = 0
    public = published_groups()
    for record in records:
        problem = record.item
        if problem.group not in public:
            known = "is an extension" if problem.group in groups() else "is unknown"
            left_out[problem.task_id] = f"group {problem.group} {known}"
            continue
        kept = [name for name in problem.metadata.releases if name in PUBLIC_RELEASES]
        if kept == problem.metadata.releases:
            lines.append(record.raw)
            continue
        renamed += 1
        metadata = problem.metadata.model_copy(update={"releases": kept})
        lines.append(encode_line(problem.model_copy(update={"metadata": metadata}), keep_vintage=True))
    return Exported(lines, left_out, renamed)
