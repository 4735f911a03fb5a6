"""What an evaluation is asked to do: flags, or a YAML file with the same names (flags win)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from ce_schema.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from ce_corpus.yamltext import YamlDocument

PUBLIC_NAMES = {
    "solutions_datapack": "solutions",
    "problems_source": "problems",
    "n_workers": "workers",
}


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str | int | Path) else value


def _not_yet(value: Any) -> None:
    if value not in (None, "none", "None", []):
        raise ValueError("not available in this version; leave it out")


def _distinct_sorted(ks: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(set(ks)))


class EvaluateConfig(BaseModel):
    """Everything that ``ce-eval run`` takes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    solutions: Path
    mode: str
    problems: str | None = None
    release: str | None = None
    k: Annotated[
        tuple[Annotated[int, Field(ge=1)], ...],
        BeforeValidator(_as_list),
        AfterValidator(_distinct_sorted),
        Field(min_length=1),
    ] = (1,)
    workers: int | None = Field(default=None, ge=1, le=4096)
    include: Annotated[tuple[str, ...] | None, BeforeValidator(_as_list)] = None
    exclude: Annotated[tuple[str, ...] | None, BeforeValidator(_as_list)] = None
    check_source_references: bool = True
    skip_missing: bool = False
    output_dir: Path = Path()
    resume: bool = True
    seed: int | None = Field(default=None, ge=0, lt=2**64)
    fail_under: float | None = Field(default=None, ge=0, le=100)
    profile_mode: Annotated[None, BeforeValidator(_not_yet)] = None
    sanitizer_mode: Annotated[None, BeforeValidator(_not_yet)] = None
    # The public command leaves out a k that some problem has too few samples for; ours refuses.
    strict_k: bool = True

    @field_validator("fail_under")
    @classmethod
    def _needs_pass_at_1(cls, value: float | None, info: ValidationInfo) -> float | None:
        if value is not None and 1 not in info.data.get("k", (1,)):
            raise ValueError("judges pass@1, which is not asked for; add 1 to k")
        return value


def build_config(
    flags: dict[str, Any], config_file: Path | None, defaults: dict[str, Any] | None = None
) -> EvaluateConfig:
    """The configuration from a YAML file (or None) and the flags that were given, which win.

    Names may be the public command's. ``defaults`` replace those of `EvaluateConfig`.

    Raises:
        InputError: an unknown key or a bad value, with its place where it comes from the file.
    """
    document = _read(config_file) if config_file else None
    given = {PUBLIC_NAMES.get(key, key): value for key, value in (document.data if document else {}).items()}
    spelled = {PUBLIC_NAMES.get(key, key): key for key in (document.data if document else {})}
    set_flags = {PUBLIC_NAMES.get(key, key): value for key, value in flags.items() if value is not None}
    merged = (defaults or {}) | given | set_flags

    def place(key: str, *, of_key: bool = False) -> str | None:
        if document is not None and key in spelled and key not in set_flags:
            find = document.where_key if of_key else document.where
            return str(find(spelled[key]))
        return None

    known = list(EvaluateConfig.model_fields)
    for key in merged:
        if key not in known:
            raise InputError(f"unknown key '{key}'.{did_you_mean(key, known)}", where=place(key, of_key=True))
    try:
        return EvaluateConfig.model_validate(merged)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0]) if first["loc"] else ""
        if key == "mode" and first["type"] == "missing":
            raise InputError(
                "no mode was chosen; solutions are untrusted code, so none is the default",
                fix="pass --mode sandbox (isolated) or --mode local (not isolated)",
            ) from None
        if key == "solutions" and first["type"] == "missing":
            raise InputError(
                "no solutions were named", fix="pass a *-solutions.tar.gz, or a folder of them"
            ) from None
        message = str(first["msg"]).removeprefix("Value error, ")
        raise InputError(f"{key.replace('_', '-')}: {message}", where=place(key)) from None


def _read(path: Path) -> YamlDocument:
    from ce_corpus.textfile import require_text
    from ce_corpus.yamltext import require_yaml

    document = require_yaml(require_text(path), str(path))
    if not isinstance(document.data, dict):
        raise InputError("must be a mapping of option names to values", where=str(path))
    return document
