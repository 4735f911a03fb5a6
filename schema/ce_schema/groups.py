"""The domain groups and their topics, read from ``groups.yaml``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from ce_schema.errors import InputError, did_you_mean


class Group(BaseModel):
    """A domain group: which part of the CUDA world its problems exercise, and their defaults."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    title: str
    published: bool
    language: Literal["cuda_cpp", "cuda_python"]
    covers: str
    topics: tuple[str, ...] = ()
    build_command: str | None = None
    test_command: str
    image: str | None = None
    compute_capability: str | None = None


@cache
def groups() -> dict[str, Group]:
    """All groups by name, in the order of the file."""
    from ruamel.yaml import YAML

    data = YAML(typ="safe").load(Path(__file__).with_name("groups.yaml"))
    return {name: Group(name=name, **fields) for name, fields in data.items()}


def published_groups() -> frozenset[str]:
    """Names of the groups that the public evaluator knows."""
    return frozenset(name for name, group in groups().items() if group.published)


def resolve(name: str) -> tuple[Group, str | None]:
    """The group and topic that ``name``, a group or a topic, stands for.

    Raises:
        InputError: no group or topic has that name.
    """
    known = groups()
    if name in known:
        return known[name], None
    for group in known.values():
        if name in group.topics:
            return group, name
    names = [*known, *(topic for group in known.values() for topic in group.topics)]
    raise InputError(
        f"no group or topic is called '{name}'.{did_you_mean(name, names)}",
        fix=f"one of: {', '.join(names)}",
    )


class GroupFilter:
    """Chooses problems by ``--include`` and ``--exclude``, each a list of groups and topics."""

    def __init__(self, include: Iterable[str] | None, exclude: Iterable[str] | None) -> None:
        self._include = None if include is None else [resolve(name) for name in include]
        self._exclude = [resolve(name) for name in exclude or ()]

    def admits(self, group: str, topic: str | None) -> bool:
        """Whether a problem of that group and topic is chosen."""

        def among(choices: list[tuple[Group, str | None]]) -> bool:
            return any(
                chosen.name == group and (wanted is None or wanted == topic) for chosen, wanted in choices
            )

        return (self._include is None or among(self._include)) and not among(self._exclude)
