"""Hypothesis strategies for problems and solutions: every field, every optional form, any text."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from ce_schema.problem import CudaCppProblem, CudaPythonProblem, Metadata, Problem, SourceReferences
from ce_schema.solution import FileSolution, PatchSolution, Solution, SourceFile
from ce_schema.timing import CustomTiming, GpuTiming, KernelsTiming, ProcessTiming, RegionTiming

PUBLIC_GROUPS = [
    "cuda-runtime",
    "cuda-kernels",
    "cccl",
    "cublas",
    "mathlibs",
    "cudnn",
    "cutile",
    "cutlass",
    "cute-dsl",
]
PUBLIC_RELEASES = ["internal", "2025-1", "2025-2", "2025-3", "2026-1", "2026-2"]

# Any text that UTF-8 can hold, with what JSON escapes and what editors stumble over made likely.
TEXT = st.text(
    st.one_of(
        st.sampled_from("\n\t\r\0\"\\/\x1f\x7f\u2028\u2029\ufeff\u00e9\U0001f600<>&'"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=40,
)
WORD = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,10}", fullmatch=True)
TASK_IDS = st.builds(lambda group, n: f"{group}/{n}", st.sampled_from(PUBLIC_GROUPS), st.integers(1, 10**6))
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
FILES = st.lists(st.builds(SourceFile, path=TEXT, content=TEXT), max_size=3)
NAMES = st.lists(TEXT, max_size=3)
GLOBS = st.none() | st.lists(TEXT.filter(bool), max_size=3)

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | FLOATS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
EXTRA_KEYS = st.dictionaries(WORD.map(lambda word: f"x-{word}"), JSON_VALUES, max_size=2)

TIMING_MODES = st.one_of(
    st.just(ProcessTiming()),
    st.just(GpuTiming()),
    st.just(CustomTiming()),
    st.builds(KernelsTiming, include=GLOBS, exclude=GLOBS),
    st.builds(
        RegionTiming, include=GLOBS, exclude=GLOBS, time_type=st.sampled_from(["kernel", "wall_clock"])
    ),
)
SOURCE_REFERENCES = st.none() | st.one_of(
    st.builds(SourceReferences, any=st.none() | NAMES, all=NAMES),
    st.builds(SourceReferences, any=NAMES),
)


def metadata(extra: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[Metadata]:
    """Metadata, with ``extra`` as further keys."""
    return st.builds(
        lambda known, more: Metadata(**known, **{key: more[key] for key in more if key not in known}),
        st.fixed_dictionaries(
            {
                "difficulty": st.none() | st.sampled_from(["easy", "medium", "hard"]),
                "tags": NAMES,
                "releases": st.lists(st.sampled_from(PUBLIC_RELEASES), max_size=3),
                "do_not_release": st.booleans(),
            }
        ),
        extra,
    )


def solutions(
    task_ids: st.SearchStrategy[str] = TASK_IDS, *, extra: bool = True
) -> st.SearchStrategy[Solution]:
    """Solutions of both types, by default with keys of their makers."""
    more = (
        st.dictionaries(WORD.map(lambda word: f"x-{word}"), JSON_VALUES, max_size=2) if extra else st.just({})
    )
    return st.one_of(
        st.builds(lambda t, f, m: FileSolution(task_id=t, files=f, **m), task_ids, FILES, more),
        st.builds(lambda t, p, m: PatchSolution(task_id=t, patch=p, **m), task_ids, TEXT, more),
    )


def problems(task_ids: st.SearchStrategy[str] = TASK_IDS) -> st.SearchStrategy[Problem]:
    """Problems of both types with every field of the public format, and keys of ours in the metadata."""
    fields = st.fixed_dictionaries(
        {
            "task_id": task_ids,
            "date": st.dates().map(str),
            "prompt": TEXT,
            "metadata": metadata(EXTRA_KEYS),
            "group": st.sampled_from(PUBLIC_GROUPS),
            "test_command": TEXT,
        },
        optional={
            "context_files": FILES,
            "test_files": FILES,
            "source_references": SOURCE_REFERENCES,
            "build_command": st.none() | TEXT,
            "benchmark_command": st.none() | TEXT,
            "base_image": st.none() | TEXT,
            "timing_mode": TIMING_MODES,
            "min_cuda_toolkit": st.none() | st.sampled_from(["12.0", "13.1"]),
            "compute_capability": st.none() | st.sampled_from(["7.5", "8.0", "10.0"]),
            "requires_datacenter_gpu": st.booleans(),
            "timeout_seconds": st.none() | FLOATS,
            "baseline_solution": st.none() | solutions(),
        },
    )
    return st.builds(
        lambda kind, given: kind(**given), st.sampled_from([CudaCppProblem, CudaPythonProblem]), fields
    )
