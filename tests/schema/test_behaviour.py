"""The behaviour hash: moves with everything that decides a grade, and with nothing else."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import problems

from ce_schema.behaviour import behaviour_sha256
from ce_schema.lines import encode_line, problem_adapter
from ce_schema.problem import CudaCppProblem, CudaPythonProblem, Metadata, SourceReferences
from ce_schema.solution import FileSolution, PatchSolution, SourceFile
from ce_schema.timing import CustomTiming, KernelsTiming

OTHER_REFERENCE = FileSolution(task_id="cccl/1", files=[SourceFile(path="solution.cu", content="y\n")])
A, B = SourceFile(path="a.h", content="a\n"), SourceFile(path="b.h", content="b\n")
REFERENCE = FileSolution(task_id="cccl/1", files=[SourceFile(path="solution.cu", content="x\n")])
PROBLEM = CudaCppProblem(
    task_id="cccl/1",
    date="2026-01-01",
    prompt="p",
    metadata=Metadata.model_validate({"harness": "split", "tolerance": 1e-5}),
    group="cccl",
    context_files=[A, B],
    test_files=[SourceFile(path="test/a.cu", content="t\n"), SourceFile(path="test/b.cu", content="u\n")],
    test_command="./test.out",
    baseline_solution=REFERENCE,
)
HASH = behaviour_sha256(PROBLEM, REFERENCE)


def changed(**changes: object) -> str:
    return behaviour_sha256(PROBLEM.model_copy(update=changes), REFERENCE)


def with_metadata(**changes: object) -> str:
    return changed(metadata=Metadata.model_validate(PROBLEM.metadata.model_dump() | changes))


@pytest.mark.parametrize(
    "change",
    [
        {"task_id": "cccl/2"},
        {"prompt": "q"},
        {"context_files": [A]},
        {"context_files": [A, SourceFile(path="b.h", content="c\n")]},
        {"context_files": [A, SourceFile(path="c.h", content="b\n")]},
        {"test_files": PROBLEM.test_files[:1]},
        {"source_references": SourceReferences(all=["cub::"])},
        {"build_command": "nvcc"},
        {"test_command": "./other.out"},
        {"benchmark_command": "./test.out --bench"},
        {"base_image": "image"},
        {"timing_mode": CustomTiming()},
        {"timing_mode": KernelsTiming(include=["*"])},
        {"min_cuda_toolkit": "13.1"},
        {"compute_capability": "9.0"},
        {"compute_capability": None},
        {"requires_datacenter_gpu": True},
        {"timeout_seconds": 60.0},
        {"baseline_solution": None},
        {"baseline_solution": FileSolution(task_id="cccl/1", files=[])},
        {"baseline_solution": PatchSolution(task_id="cccl/1", patch="")},
    ],
    ids=str,
)
def test_moves_with_what_decides_a_grade(change: dict[str, object]) -> None:
    assert changed(**change) != HASH


def test_moves_with_the_language_the_reference_and_behavioural_metadata() -> None:
    python = CudaPythonProblem.model_validate(PROBLEM.model_dump() | {"type": "cuda_python"})
    hashes = [
        HASH,
        behaviour_sha256(python, REFERENCE),
        behaviour_sha256(PROBLEM, None),
        behaviour_sha256(
            PROBLEM, FileSolution(task_id="cccl/1", files=[SourceFile(path="solution.cu", content="y\n")])
        ),
        with_metadata(harness="plain"),
        with_metadata(tolerance=1e-6),
        with_metadata(editable=["a.h"]),
    ]
    assert len(set(hashes)) == len(hashes)


@pytest.mark.parametrize(
    "change",
    [
        {"releases": ["2026-1", "2026-2"]},
        {"difficulty": "hard"},
        {"tags": ["scan"]},
        {"do_not_release": True},
        {"topic": "cub"},
        {"category": "x"},
        {"canary": "x"},
        {"reference_solution": REFERENCE.model_dump()},
    ],
    ids=str,
)
def test_stays_when_classification_or_membership_changes(change: dict[str, object]) -> None:
    assert with_metadata(**change) == HASH


def test_stays_with_date_group_versions_file_order_and_notes_on_solutions() -> None:
    assert changed(date="2027-01-01") == changed(group="cublas") == changed(schema_version=3) == HASH
    assert changed(context_files=[B, A], test_files=PROBLEM.test_files[::-1]) == HASH
    note = FileSolution(task_id="cccl/1", files=REFERENCE.files, author="someone")
    assert behaviour_sha256(PROBLEM.model_copy(update={"baseline_solution": note}), note) == HASH


@given(problems(), st.randoms(use_true_random=False))
def test_stays_over_a_round_trip_in_any_file_order(item: CudaCppProblem, random) -> None:  # type: ignore[no-untyped-def]
    again = problem_adapter().validate_json(encode_line(item))
    random.shuffle(again.context_files)
    random.shuffle(again.test_files)
    again.metadata.releases = ["2026-2"]
    digest = behaviour_sha256(again, item.baseline_solution)
    assert digest == behaviour_sha256(item, item.baseline_solution)
    assert re.fullmatch("[0-9a-f]{64}", digest)


def test_absent_base_image_of_an_older_line_is_no_base_image() -> None:
    older = encode_line(PROBLEM).replace(b'"base_image":null,', b"")
    assert behaviour_sha256(problem_adapter().validate_json(older), REFERENCE) == HASH
