"""The published schema is what the models give, and says yes and no where they do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from ce_schema import jsonschema_gen
from ce_schema.groups import groups
from ce_schema.spec import ProblemSpec

SCHEMA = json.loads(jsonschema_gen.SCHEMA_FILE.read_text())
VALIDATOR = Draft202012Validator(SCHEMA)

GOOD: dict[str, Any] = {
    "task_id": "CUDA/0",
    "date": "2024-12-19",
    "problem_type": "cuda_cpp",
    "group": "cuda-kernels",
    "prompt": "Implement it.",
    "test_command": "./test.out",
    "metadata": {},
}


def test_the_checked_in_schema_is_current(capsys: pytest.CaptureFixture[str]) -> None:
    assert jsonschema_gen.main(["--check"]) == 0, capsys.readouterr().err


def test_a_stale_schema_is_told_with_its_difference(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stale = tmp_path / "s.json"
    stale.write_text(jsonschema_gen.rendered().replace("86400", "1"))
    monkeypatch.setattr(jsonschema_gen, "SCHEMA_FILE", stale)
    assert jsonschema_gen.main(["--check"]) == 1
    message = capsys.readouterr().err
    assert '+      "maximum": 86400' in message
    assert "fix: python -m ce_schema.jsonschema_gen" in message
    assert jsonschema_gen.main([]) == 0
    assert jsonschema_gen.main(["--check"]) == 0


def test_it_is_a_valid_schema_without_unions_or_references() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    text = json.dumps(SCHEMA)
    assert "anyOf" not in text
    assert "$ref" not in text
    assert SCHEMA["$id"] == "urn:compute-eval-sdk:problem-spec:2"
    assert list(SCHEMA["properties"]) == list(ProblemSpec.model_fields)


def test_every_pattern_is_explained() -> None:
    def walk(part: Any) -> None:
        if isinstance(part, dict):
            assert ("pattern" in part) == ("patternErrorMessage" in part)
            for value in part.values():
                walk(value)

    walk(SCHEMA["properties"])


@pytest.mark.parametrize(
    "change",
    [
        {"source_references": "cudaMalloc"},
        {"source_references": ["a", "b"]},
        {"source_references": {"any": ["a"], "all": None}},
        {"source_references": None},
        {"timing_mode": {"type": "region", "include": ["a*"], "time_type": "wall_clock"}},
        {"timing_mode": {"type": "kernels", "exclude": None}},
        {"timeout_seconds": 30},
        {"base_image": None, "build_command": None, "min_cuda_toolkit": "13.1"},
        {"metadata": {"releases": ["internal", "2025-1"], "own": {"key": [1]}, "difficulty": None}},
        *({"group": name} for name in groups()),
    ],
)
def test_both_accept(change: dict[str, Any]) -> None:
    spec = {**GOOD, **change}
    assert not list(VALIDATOR.iter_errors(spec))
    ProblemSpec.model_validate(spec)


@pytest.mark.parametrize(
    "change",
    [
        {"promt": "x"},
        {"date": 20241219},
        {"date": "2024-12"},
        {"prompt": ""},
        {"problem_type": "cuda"},
        {"timing_mode": {}},
        {"timing_mode": {"type": "process", "include": ["a"]}},
        {"timing_mode": {"type": "kernels", "time_type": "kernel"}},
        {"timing_mode": {"type": "region", "glob": "a"}},
        {"source_references": {"some": ["a"]}},
        {"source_references": [1]},
        {"source_references": 3},
        {"source_references": {}},
        {"source_references": {"any": None}},
        {"timeout_seconds": 0},
        {"min_cuda_toolkit": 13.1},
        {"arch_list": "sm_80"},
        {"metadata": {"releases": ["2026"]}},
        {"metadata": {"tags": "a"}},
        {"metadata": None},
    ],
)
def test_both_refuse(change: dict[str, Any]) -> None:
    spec = {**GOOD, **change}
    assert list(VALIDATOR.iter_errors(spec))
    with pytest.raises(ValidationError):
        ProblemSpec.model_validate(spec)


@pytest.mark.parametrize("key", SCHEMA["required"])
def test_both_ask_for_required_keys(key: str) -> None:
    spec = {name: value for name, value in GOOD.items() if name != key}
    assert list(VALIDATOR.iter_errors(spec))
    with pytest.raises(ValidationError):
        ProblemSpec.model_validate(spec)


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a", "1.0", "cub", "2026-1"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["type", "any", "all", "include"]), inner, max_size=2)
    ),
    max_leaves=4,
)


@settings(deadline=None)
@given(key=st.sampled_from(list(ProblemSpec.model_fields)), value=_ANY)
def test_what_the_schema_accepts_the_models_accept(key: str, value: object) -> None:
    spec = {**GOOD, key: value}
    if not list(VALIDATOR.iter_errors(spec)):
        ProblemSpec.model_validate(spec)
