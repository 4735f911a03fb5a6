from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ce_release.candidates import releases_up_to
from ce_release.names import PackName, pack_file, parse_pack_file, parse_ref, parse_release, shown
from ce_schema.errors import InputError

RELEASES = st.builds(lambda year, n: f"{year:04}-{n}", st.integers(0, 9999), st.integers(1, 10**4))


@given(RELEASES, st.integers(1, 10**4), st.booleans())
def test_file_names_say_what_they_were_made_from(release: str, revision: int, draft: bool) -> None:
    name = pack_file(release, revision, draft=draft)
    assert parse_pack_file(name) == PackName(release, 1 if draft else revision, draft)


@pytest.mark.parametrize("name", ["x.tar.gz", "2026-1-solutions.tar.gz", "-problems.tar.gz"])
def test_other_file_names_say_nothing(name: str) -> None:
    assert parse_pack_file(name) is None


@given(RELEASES, st.integers(1, 10**5))
def test_references(release: str, revision: int) -> None:
    assert parse_ref(release) == (release, None)
    assert parse_ref(f"{release}@{revision}") == (release, revision)
    assert str(parse_ref(f"{release}@{revision}")) == f"{release}@{revision}"


@pytest.mark.parametrize("text", ["", "2026-1@", "2026-1@0", "2026-1@x", "2026-1@1@2", "@1", "2026"])
def test_bad_references(text: str) -> None:
    with pytest.raises(InputError):
        parse_ref(text)


@given(st.text(max_size=12))
def test_other_text_is_no_release_name(text: str) -> None:
    if parse_pack_file(f"{text}-problems.tar.gz") and text[:4].isdecimal():
        return
    with pytest.raises(InputError) as caught:
        parse_release(text)
    assert "YYYY-N" in str(caught.value.fix)


@given(st.lists(RELEASES), RELEASES)
def test_listed_releases_are_sorted_and_none_is_later(releases: list[str], release: str) -> None:
    listed = releases_up_to([*releases, release], release)
    assert listed[-1] == release
    assert releases_up_to(list(reversed(listed)), release) == listed
    assert set(listed) <= {*releases, release}


@given(st.text())
def test_shown_text_moves_no_cursor(text: str) -> None:
    assert shown(text).isprintable()
