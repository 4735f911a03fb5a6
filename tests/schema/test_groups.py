"""Groups and topics: names resolve either way, filters choose exactly what they name."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import PUBLIC_GROUPS

from ce_schema.errors import InputError
from ce_schema.groups import GroupFilter, groups, published_groups, resolve

EVERY = [(group.name, topic) for group in groups().values() for topic in (None, *group.topics)]
NAMES = [topic or group for group, topic in EVERY]


def admitted(include: list[str] | None, exclude: list[str] | None) -> set[tuple[str, str | None]]:
    chooser = GroupFilter(include, exclude)
    return {place for place in EVERY if chooser.admits(*place)}


def test_published_groups_are_those_of_the_public_evaluator() -> None:
    assert published_groups() == frozenset(PUBLIC_GROUPS)


def test_names_of_groups_and_topics_do_not_collide() -> None:
    assert len(set(NAMES)) == len(NAMES)


def test_topic_resolves_to_its_group() -> None:
    assert resolve("cccl") == (groups()["cccl"], None)
    assert resolve("cub") == (groups()["cccl"], "cub")


def test_unknown_name_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(InputError, match=r"'cubblas'.*Did you mean cublas"):
        resolve("cubblas")
    with pytest.raises(InputError):
        GroupFilter(["nothing"], None)
    with pytest.raises(InputError):
        GroupFilter(None, ["nothing"])


def test_no_filter_admits_all_and_an_empty_include_nothing() -> None:
    assert admitted(None, None) == admitted(None, []) == set(EVERY)
    assert admitted([], None) == set()


def test_group_holds_its_topics_and_a_topic_not_its_group() -> None:
    assert admitted(["cccl"], None) == {("cccl", topic) for topic in (None, *groups()["cccl"].topics)}
    assert admitted(["cub"], None) == {("cccl", "cub")}
    assert admitted(["cccl"], ["cub"]) == admitted(["cccl"], None) - {("cccl", "cub")}


@given(st.lists(st.sampled_from(NAMES)), st.lists(st.sampled_from(NAMES)), st.lists(st.sampled_from(NAMES)))
def test_filters_are_set_algebra(one: list[str], other: list[str], without: list[str]) -> None:
    assert admitted(one + other, None) == admitted(one, None) | admitted(other, None)
    assert admitted(one, without) == admitted(one, None) - admitted(without, None)
    assert admitted(None, without) == set(EVERY) - admitted(without, None)
