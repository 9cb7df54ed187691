from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.model.ids import content_id
from holdfast.model.uris import Uri, parse_uri, uri

ANY_TEXT = st.text(st.characters())
LONE_SURROGATES = st.text(st.characters(categories=("Cs",)), min_size=1)
PARTS = st.lists(st.text(), min_size=1, max_size=5)
WORDS = st.text(st.characters(categories=("Ll", "Nd"), include_characters="-_"), min_size=1)
IDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1)


def test_ids_are_stable_across_releases() -> None:
    assert content_id("turn", "abc") == "b0bd727165e739c9"
    assert content_id("") == "402db780d8e197f7"
    assert content_id("ünï 🦜") == "a2d19b280446cb63"


def test_moving_a_boundary_between_parts_changes_the_id() -> None:
    spellings = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("a", "b", "c")]
    assert len({content_id(*parts) for parts in spellings}) == len(spellings)


def test_the_order_of_parts_changes_the_id() -> None:
    assert content_id("a", "b") != content_id("b", "a")


@pytest.mark.slow
@given(PARTS, PARTS)
def test_different_parts_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (content_id(*one) == content_id(*other)) == (one == other)


def test_a_separator_inside_a_part_does_not_act_as_a_boundary() -> None:
    assert content_id("a\x1fb") != content_id("a", "b")


@pytest.mark.slow
@given(st.one_of(ANY_TEXT, LONE_SURROGATES))
def test_any_text_has_an_id_of_sixteen_hex_digits(text: str) -> None:
    id = content_id("turn", text)
    assert len(id) == 16
    assert set(id) <= set("0123456789abcdef")
    assert id == content_id("turn", text)


@pytest.mark.slow
@given(WORDS, IDS)
def test_a_uri_is_parsed_as_it_was_written(word: str, id: str) -> None:
    assert parse_uri(uri(word, id)) == Uri(word, id)
    assert str(Uri(word, id)) == uri(word, id)


@pytest.mark.slow
@given(WORDS, IDS)
def test_a_uri_may_lack_its_scheme_and_have_surrounding_whitespace(word: str, id: str) -> None:
    assert parse_uri(f"  {word}/{id}\n") == Uri(word, id)


@pytest.mark.slow
@given(IDS)
def test_a_bare_id_has_no_kind(id: str) -> None:
    assume("/" not in id)
    assert parse_uri(id) == Uri("", id)


@pytest.mark.slow
@given(ANY_TEXT)
def test_any_text_parses_to_a_uri_or_none(text: str) -> None:
    found = parse_uri(text)
    assert found is None or found.id


def test_text_that_is_not_a_uri_is_not_parsed_as_one() -> None:
    for text in ("", "  ", "holdfast://", "holdfast:///", "turn/", "/abc", "two words", "a/b c"):
        assert parse_uri(text) is None, text
