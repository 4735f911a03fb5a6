"""Lines: what is written is read back to the byte, in the public layout, whatever the problem."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from strategies import JSON_VALUES, TIMING_MODES, problems, solutions

from ce_schema.jsonl import parse_line
from ce_schema.lines import encode_line, line_md5, problem_adapter, solution_adapter
from ce_schema.problem import CudaCppProblem, Metadata, SourceReferences
from ce_schema.solution import FileSolution, SourceFile

KEYS = [
    "type",
    "schema_version",
    "task_id",
    "date",
    "prompt",
    "metadata",
    "group",
    "context_files",
    "test_files",
    "source_references",
    "build_command",
    "test_command",
    "benchmark_command",
    "base_image",
    "timing_mode",
    "min_cuda_toolkit",
    "compute_capability",
    "requires_datacenter_gpu",
    "timeout_seconds",
    "baseline_solution",
]


def problem(**changes: object) -> CudaCppProblem:
    fields = {
        "task_id": "cccl/1",
        "date": "2026-01-01",
        "prompt": "p",
        "metadata": Metadata(),
        "group": "cccl",
        "test_command": "./test.out",
    }
    return CudaCppProblem.model_validate(fields | changes)


@given(problems())
def test_problem_to_line_to_problem_to_line(item: CudaCppProblem) -> None:
    line = encode_line(item)
    again = parse_line(line, problem_adapter(), encode_line)
    assert again == item
    assert encode_line(again) == encode_line(again, keep_vintage=True) == line


@given(solutions())
def test_solution_to_line_to_solution_to_line(item: FileSolution) -> None:
    line = encode_line(item)
    again = parse_line(line, solution_adapter(), encode_line)
    assert again == item
    assert encode_line(again) == line


@given(problems())
def test_line_is_compact_utf8_json_with_all_keys_in_order(item: CudaCppProblem) -> None:
    line = encode_line(item)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    data = json.loads(line)
    assert list(data) == KEYS
    assert list(data["metadata"])[:4] == ["difficulty", "tags", "releases", "do_not_release"]


def test_line_to_the_byte() -> None:
    item = problem(
        prompt='é "\\ \n\u2028\x7f\x00', timeout_seconds=1e22, source_references="cub::", type="cuda_cpp"
    )
    assert encode_line(item).decode() == (
        '{"type":"cuda_cpp","schema_version":2,"task_id":"cccl/1","date":"2026-01-01",'
        '"prompt":"é \\"\\\\ \\n\u2028\x7f\\u0000",'
        '"metadata":{"difficulty":null,"tags":[],"releases":[],"do_not_release":false},"group":"cccl",'
        '"context_files":[],"test_files":[],"source_references":{"any":null,"all":["cub::"]},"build_command":null,'
        '"test_command":"./test.out","benchmark_command":null,"base_image":null,"timing_mode":{"type":"process"},'
        '"min_cuda_toolkit":null,"compute_capability":"8.0","requires_datacenter_gpu":false,'
        '"timeout_seconds":1e+22,"baseline_solution":null}\n'
    )


def test_solution_line_to_the_byte() -> None:
    item = FileSolution(task_id="cccl/1", files=[SourceFile(path="a.cu", content="x\n")], model="m")
    assert encode_line(item) == (
        b'{"schema_version":1,"type":"file","task_id":"cccl/1","files":[{"path":"a.cu","content":"x\\n"}],"model":"m"}\n'
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cub::", SourceReferences(any=None, all=["cub::"])),
        (["a", "b"], SourceReferences(any=None, all=["a", "b"])),
        ({"any": ["a"]}, SourceReferences(any=["a"], all=None)),
        ({"all": ["a"]}, SourceReferences(any=None, all=["a"])),
        ({"any": ["a"], "all": ["b"]}, SourceReferences(any=["a"], all=["b"])),
    ],
)
def test_five_forms_of_source_references(written: object, meant: SourceReferences) -> None:
    item = problem(source_references=written)
    assert item.source_references == meant
    encoded = json.loads(encode_line(item))["source_references"]
    assert encoded == {"any": meant.any, "all": meant.all}
    assert list(encoded) == ["any", "all"]


@pytest.mark.parametrize(
    "written", [1, {}, {"any": None}, {"none": ["a"]}, {"any": "a"}, [1], {"all": ["a"], "more": []}]
)
def test_other_forms_of_source_references_are_refused(written: object) -> None:
    with pytest.raises(ValidationError):
        problem(source_references=written)


@given(TIMING_MODES)
def test_timing_modes_survive(mode: object) -> None:
    item = problem(timing_mode=mode)
    again = problem_adapter().validate_json(encode_line(item))
    assert again.timing_mode == mode


@pytest.mark.parametrize(
    "mode",
    [
        {"type": "wall"},
        {},
        {"type": "process", "include": ["*"]},
        {"type": "kernels", "include": [""]},
        {"type": "region", "time_type": "gpu"},
        "process",
    ],
)
def test_other_timing_modes_are_refused(mode: object) -> None:
    with pytest.raises(ValidationError):
        problem(timing_mode=mode)


@given(problems())
def test_older_line_stays_as_it_was(item: CudaCppProblem) -> None:
    """Lines of releases up to 2026-1 have no base_image; the newer key must not come into them."""
    data = json.loads(encode_line(item))
    del data["base_image"]
    older = encode_line(problem_adapter().validate_python(data)).replace(b'"base_image":null,', b"", 1)
    assert json.loads(older).keys() == data.keys()
    read = parse_line(older, problem_adapter(), lambda item: encode_line(item, keep_vintage=True))
    assert encode_line(read, keep_vintage=True) == older
    newer = encode_line(read)
    assert json.loads(newer) == data | {"base_image": None}


def test_unknown_keys_are_kept() -> None:
    line = encode_line(
        problem(metadata={"topic": "cub", "tolerance": {"rtol": 1e-5}}, new_key=[1, {"a": None}])
    )
    assert encode_line(problem_adapter().validate_json(line)) == line
    assert problem_adapter().validate_json(line).metadata.extra("topic") == "cub"


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON_VALUES, max_size=4))
def test_any_json_survives_under_metadata(extra: dict[str, object]) -> None:
    item = problem(metadata={key: value for key, value in extra.items() if key not in Metadata.model_fields})
    line = encode_line(item)
    assert encode_line(problem_adapter().validate_json(line)) == line


@given(st.binary())
def test_md5_is_over_the_line_with_its_newline(line: bytes) -> None:
    assert line_md5(line) == hashlib.md5(line).hexdigest()
