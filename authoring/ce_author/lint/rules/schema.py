"""Rules that the published JSON Schema enforces, its errors told in words and placed in the spec."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from ce_author.lint.registry import Report, Rule, rules
from ce_corpus.folder import ProblemFolder
from ce_corpus.yamltext import KeyPath
from ce_corpus.yamlwrite import flow
from ce_schema.diagnostics import Severity
from ce_schema.errors import did_you_mean

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

UNKNOWN, MISSING, TYPE = "schema.unknown-key", "schema.missing-key", "schema.type"
ENUM, PATTERN, RANGE = "schema.enum", "schema.pattern", "schema.range"

_TYPE_WORDS = {
    "string": "text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class Broken:
    """One error of the validator: the keyword of the schema that broke (None: a key that may not be
    there), where, what it asks for and what was found."""

    keyword: str | None
    path: KeyPath
    wanted: Any
    got: Any
    schema: dict[str, Any]
    message: str


@rules(
    Rule(UNKNOWN, Severity.ERROR, "every key is known", "A misspelled key is a setting that never applies."),
    Rule(MISSING, Severity.ERROR, "required keys are there", "The problem cannot be packed without them."),
    Rule(TYPE, Severity.ERROR, "values have their type", "12.10 without quotes is the number 12.1."),
    Rule(ENUM, Severity.ERROR, "values are among those allowed", "The public evaluator refuses others."),
    Rule(PATTERN, Severity.ERROR, "values have their form", "Tools take ids, dates and versions apart."),
    Rule(
        RANGE,
        Severity.ERROR,
        "values are in their range",
        "An empty command or a limit of 0 s means nothing.",
    ),
    Rule(
        "spec.model",
        Severity.ERROR,
        "the models accept what the schema accepts",
        "Packs are written by them.",
    ),
)
def schema(folder: ProblemFolder, report: Report) -> None:
    """Hold the spec against the schema file, then against the models."""
    if folder.document is None:
        return
    errors = _broken(folder.document.data)
    mistyped = {error.path for error in errors if error.keyword == "type"}
    for error in errors:
        if error.keyword == "type" or error.path not in mistyped:
            _tell(folder, error, report)
    if not errors:
        for finding in folder.spec_findings:
            remedy = finding.fix or "write the value on one line, in the form that the schema file describes"
            report(finding.message, finding.location, remedy, rule="spec.model")


@cache
def _published() -> dict[str, Any]:
    from ce_schema.jsonschema_gen import SCHEMA_FILE

    published: dict[str, Any] = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return published


@cache
def _validator() -> Draft202012Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(_published())


def _broken(data: Any) -> list[Broken]:
    return [
        Broken(
            keyword=str(error.validator) if isinstance(error.schema, dict) else None,
            path=tuple(error.absolute_path),
            wanted=error.validator_value,
            got=error.instance,
            schema=error.schema if isinstance(error.schema, dict) else {},
            message=error.message,
        )
        for error in _validator().iter_errors(data)
    ]


def _tell(folder: ProblemFolder, error: Broken, report: Report) -> None:
    if error.keyword is None:
        _misplaced_timing_keys(folder, report)
    elif error.keyword == "additionalProperties":
        _unknown_keys(folder, error, report)
    elif error.keyword == "required":
        _missing_key(folder, error, report)
    elif error.keyword == "type":
        _wrong_type(folder, error, report)
    elif error.keyword == "enum":
        _not_among(folder, error, report)
    elif error.keyword == "pattern":
        message = f"{_named(error.path)} {error.schema['patternErrorMessage']}, not {flow(error.got)}"
        report(message, folder.where(*error.path), _remedy(error), rule=PATTERN)
    else:
        message = f"{_named(error.path)} {_range_words(error)}"
        report(message, folder.where(*error.path), _remedy(error), rule=RANGE)


def _remedy(error: Broken) -> str:
    """What the schema says of the key, where it says something."""
    words = error.schema.get("description")
    return f"{error.path[-1]}: {words}" if words else "correct or remove the value"


def _named(path: KeyPath) -> str:
    """``metadata.tags[0]`` and the like; the spec itself where the path is empty."""
    return (
        "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path).lstrip(".") or "the spec"
    )


def _unknown_keys(folder: ProblemFolder, error: Broken, report: Report) -> None:
    known = list(error.schema["properties"])
    for key in error.got:
        if key in known:
            continue
        if not error.path and key in _metadata_keys():
            fix = f"move {key} under metadata"
        elif not error.path:
            fix = "correct it, or keep a key of your own under metadata"
        else:
            fix = f"{_named(error.path)} takes {', '.join(known)}"
        place = folder.document.where_key(*error.path, key) if folder.document else folder.where(*error.path)
        inside = f" in {_named(error.path)}" if error.path else ""
        report(f"unknown key '{key}'{inside}.{did_you_mean(key, known)}", place, fix, rule=UNKNOWN)


def _metadata_keys() -> list[str]:
    return list(_published()["properties"]["metadata"]["properties"])


def _misplaced_timing_keys(folder: ProblemFolder, report: Report) -> None:
    """The validator tells that a key may not be there, and not which."""
    assert folder.document is not None, "something was validated"
    written = folder.document.data["timing_mode"]
    takers = {"include": "kernels or region", "exclude": "kernels or region", "time_type": "region"}
    for condition in _published()["properties"]["timing_mode"]["allOf"]:
        if written["type"] not in condition["if"]["properties"]["type"]["enum"]:
            continue
        for key in written:
            if key in condition["then"]["properties"]:
                place = folder.document.where_key("timing_mode", key)
                fix = f"remove it, or write type: {takers[key]}"
                report(f"timing mode '{written['type']}' takes no {key}", place, fix, rule=UNKNOWN)


def _missing_key(folder: ProblemFolder, error: Broken, report: Report) -> None:
    key = error.message.split("'")[1]
    words = error.schema["properties"][key].get("description", "").rstrip(".")
    inside = f" in {_named(error.path)}" if error.path else ""
    place = folder.where(*error.path)
    report(f"the key '{key}'{inside} is missing", place, f"add {key}: … ({words})", rule=MISSING)


def _wrong_type(folder: ProblemFolder, error: Broken, report: Report) -> None:
    wanted = [error.wanted] if isinstance(error.wanted, str) else error.wanted
    words = " or ".join(_TYPE_WORDS[name] for name in wanted)
    got, fix = error.got, f"write {words}"
    if "string" in wanted and isinstance(got, (bool, int, float)):
        fix = f'write "{_as_written(folder, error.path, got)}"'
    elif "array" in wanted and "string" not in wanted and isinstance(got, str):
        fix = f"write [{flow(got)}]"
    elif isinstance(got, str) and _unquoted(got, wanted):
        fix = f"write {got} without quotes"
    report(
        f"{_named(error.path)} must be {words}, not {_kind(got)}", folder.where(*error.path), fix, rule=TYPE
    )


def _as_written(folder: ProblemFolder, path: KeyPath, value: Any) -> str:
    """The characters of a bare scalar: 12.10 is 12.1 once it is a number."""
    place = folder.where(*path)
    if folder.document is None or not place.line:
        return str(value)
    rest = folder.document.text.split("\n")[place.line - 1][place.column - 1 :]
    match = re.match(r"[^\s,\]}#]+", rest)
    return match.group() if match else str(value)


def _unquoted(text: str, wanted: list[str]) -> bool:
    if "number" in wanted:
        return re.fullmatch(r"[0-9]+(\.[0-9]+)?", text) is not None
    return "boolean" in wanted and text in {"true", "false"}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"the boolean {flow(value)}"
    if isinstance(value, (int, float)):
        return f"the number {value}"
    if isinstance(value, str):
        return f"the text {flow(value if len(value) <= 40 else value[:37] + '...')}"
    return "a list" if isinstance(value, list) else "a mapping"


def _not_among(folder: ProblemFolder, error: Broken, report: Report) -> None:
    allowed = [value for value in error.wanted if value is not None]
    got = error.got
    message = f"{_named(error.path)} cannot be {flow(got)}.{did_you_mean(str(got), allowed)}"
    fix = f"one of: {', '.join(allowed)}"
    if error.path == ("group",) and (owner := _group_of_topic(got)):
        message = f"'{got}' is a topic of the group {owner}, no group"
        fix = f"write group: {owner}, and topic: {got} under metadata"
    report(message, folder.where(*error.path), fix, rule=ENUM)


def _group_of_topic(name: str) -> str | None:
    from ce_schema.groups import groups

    return next((group.name for group in groups().values() if name in group.topics), None)


def _range_words(error: Broken) -> str:
    limit = error.wanted
    words = {
        "minLength": "must not be empty",
        "maxLength": f"is longer than {limit} characters",
        "exclusiveMinimum": f"must be more than {limit}, not {error.got}",
        "maximum": f"must be at most {limit}, not {error.got}",
        "not": "name nothing: list names under 'all' or 'any', or write null",
    }
    return words.get(error.keyword or "", error.message)
