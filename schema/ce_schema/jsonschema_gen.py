"""The published JSON Schema of ``problem-spec.yaml``, generated from `ce_schema.spec.ProblemSpec`.

``python -m ce_schema.jsonschema_gen`` writes it, ``--check`` says whether the file is what the models
give. pydantic's own output is reshaped, because editors and validators explain a flat
``"type": ["string", "null"]`` far better than a tree of ``anyOf`` and ``$ref``:

- references are written out, and ``anyOf`` with null becomes a list of types;
- source references, which have five written forms, are one schema of several types;
- the timing modes are one object, with ``if``/``then`` for the keys that each type takes;
- groups are an enum, read from ``groups.yaml``;
- a pattern comes with ``patternErrorMessage``, its meaning in words, which editors show.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ce_schema.groups import groups
from ce_schema.problem import PROBLEM_SCHEMA_VERSION
from ce_schema.spec import ProblemSpec

SCHEMA_FILE = Path(__file__).with_name("problem-spec.schema.json")
SCHEMA_ID = f"urn:compute-eval-sdk:problem-spec:{PROBLEM_SCHEMA_VERSION}"

type Schema = dict[str, Any]

_TASK_ID_WORDS = (
    "must be words of letters, digits and . _ + - joined by '/', each starting with a letter or digit"
)
# What a pattern asks for, by the key that has it; `*` stands for the items of a list.
_PATTERN_WORDS = {
    "task_id": _TASK_ID_WORDS,
    "date": 'must be a day as "YYYY-MM-DD"',
    "min_cuda_toolkit": 'must be a toolkit version such as "12.4"',
    "compute_capability": 'must be a compute capability such as "8.0"',
    "metadata.releases.*": 'must be a release name, "internal" or "YYYY-N" such as "2026-1"',
}
_TIMING_KEYS = {
    "include": "Globs of the kernels or NVTX ranges that count; all where null.",
    "exclude": "Globs of those that do not count.",
    "time_type": "Of a range: the time of its kernels, or its time on the wall clock.",
}


def problem_spec_schema() -> Schema:
    """The schema as plain data, JSON Schema draft 2020-12."""
    raw = ProblemSpec.model_json_schema()
    body = _flatten(raw, raw["$defs"])
    body.pop("$defs", None)
    properties = body["properties"]
    properties["group"] = {
        "type": "string",
        "enum": list(groups()),
        "description": properties["group"]["description"],
    }
    properties["timing_mode"] = _timing_mode(properties["timing_mode"])
    properties["source_references"] = _source_references(properties["source_references"])
    _explain_patterns(properties)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "problem-spec.yaml of a GPU programming problem",
        **{key: body[key] for key in ("type", "properties", "required", "additionalProperties")},
    }


def _flatten(schema: Schema, definitions: dict[str, Schema]) -> Schema:
    """``schema`` with references written out, null folded into the type, and titles dropped."""
    if "$ref" in schema:
        target = definitions[schema["$ref"].removeprefix("#/$defs/")]
        schema = {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    flat: Schema = {}
    for key, value in schema.items():
        if key in {"title", "discriminator", "$defs"}:
            continue
        if key == "properties":
            flat[key] = {name: _flatten(part, definitions) for name, part in value.items()}
        elif key == "items":
            flat[key] = _flatten(value, definitions)
        elif key in {"anyOf", "oneOf"}:
            flat[key] = [_flatten(part, definitions) for part in value]
        else:
            flat[key] = value
    return _fold_null(flat)


def _fold_null(schema: Schema) -> Schema:
    options = schema.get("anyOf", [])
    others = [option for option in options if option != {"type": "null"}]
    if len(others) != 1 or len(options) != 2 or "type" not in others[0]:
        return schema
    (option,) = others
    folded = {**option, "type": [option["type"], "null"]}
    if "enum" in folded:
        folded["enum"] = [*folded["enum"], None]
    # The description of the key says more than that of its type.
    return {**folded, **{key: value for key, value in schema.items() if key != "anyOf"}}


def _timing_mode(union: Schema) -> Schema:
    """One object for the union of timing modes, without the keys that a type does not take."""
    modes = {mode["properties"]["type"]["const"]: mode for mode in union["oneOf"]}
    properties: Schema = {
        "type": {
            "type": "string",
            "enum": list(modes),
            "enumDescriptions": [mode["description"].replace("``", "") for mode in modes.values()],
            "description": "What is timed.",
        }
    }
    for mode in modes.values():
        for key, value in mode["properties"].items():
            if key != "type":
                properties[key] = {**value, "description": _TIMING_KEYS[key]}
    types_without: dict[tuple[str, ...], list[str]] = {}
    for name, mode in modes.items():
        missing = tuple(key for key in properties if key not in mode["properties"])
        types_without.setdefault(missing, []).append(name)
    return {
        "type": "object",
        "description": union["description"],
        "default": {"type": "process"},
        "properties": properties,
        "required": ["type"],
        "additionalProperties": False,
        "allOf": [
            {
                "if": {"properties": {"type": {"enum": names}}, "required": ["type"]},
                "then": {"properties": dict.fromkeys(missing, False)},
            }
            for missing, names in types_without.items()
            if missing
        ],
    }


def _source_references(schema: Schema) -> Schema:
    keys = {
        "any": "At least one of these names must be used.",
        "all": "Every one of these names must be used.",
    }
    assert set(keys) == set(schema["properties"]), "the model of source references has other keys"
    nothing = {"type": "object", "properties": {key: {"type": "null"} for key in keys}}
    return {
        "type": ["string", "array", "object", "null"],
        "description": f"{schema['description']} One name or a list means all of them.",
        "default": None,
        "items": {"type": "string"},
        "properties": {
            key: {**schema["properties"][key], "description": words} for key, words in keys.items()
        },
        "additionalProperties": False,
        # A mapping must ask for something; null is how to ask for nothing.
        "not": {**nothing, "additionalProperties": False},
    }


def _explain_patterns(properties: Schema) -> None:
    """Add the words of each pattern beside it."""
    for path, words in _PATTERN_WORDS.items():
        parts = path.split(".")
        part = properties[parts[0]]
        for name in parts[1:]:
            part = part["items"] if name == "*" else part["properties"][name]
        assert "pattern" in part, f"{path} has no pattern"
        part["patternErrorMessage"] = words


def rendered() -> str:
    """The text of the schema file."""
    return json.dumps(problem_spec_schema(), indent=2, ensure_ascii=False) + "\n"


def main(arguments: list[str]) -> int:
    """Write the schema file, or with ``--check`` compare it; returns the exit code."""
    text = rendered()
    present = SCHEMA_FILE.read_text(encoding="utf-8") if SCHEMA_FILE.exists() else ""
    if arguments == ["--check"]:
        if text == present:
            return 0
        sys.stderr.write(_difference(present, text))
        return 1
    if arguments:
        sys.stderr.write("usage: python -m ce_schema.jsonschema_gen [--check]\n")
        return 2
    if text != present:
        from ce_schema.atomic import write_text

        write_text(SCHEMA_FILE, text)
    return 0


def _difference(present: str, wanted: str) -> str:
    import difflib

    lines = list(difflib.unified_diff(present.splitlines(), wanted.splitlines(), "checked in", "models", n=1))
    shown = "\n".join(lines[:20])
    return (
        f"error: {SCHEMA_FILE.name} is not what the models give\n{shown}\n"
        "  fix: python -m ce_schema.jsonschema_gen\n"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
