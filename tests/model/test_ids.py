from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from holdfast.model.ids import content_id
from holdfast.model.uris import Uri, parse_uri, uri

ANY_TEXT = st.text(st.characters())
LONE_SURROGATES = st.text(st.characters(categories=("Cs",)), min_size=1)
PARTS = st.lists(st.text(), min_size=1, max_size=5)
WORDS = st.text(st.characters(categories=("Ll", "Nd"), include_characters="-_"), min_size=1)
IDS = st.text(st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp", "Zs")), min_size=1)


def test_an_id_is_the_same_for_ever() -> None:
    assert content_id("turn", "abc") == "b0bd727165e739c9"
    assert content_id("") == "402db780d8e197f7"
    assert content_id("ünï 🦜") == "a2d19b280446cb63"


def test_the_borders_between_parts_count() -> None:
    spellings = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ("a", "b", "c")]
    assert len({content_id(*parts) for parts in spellings}) == len(spellings)


def test_the_order_of_parts_counts() -> None:
    assert content_id("a", "b") != content_id("b", "a")


@given(PARTS, PARTS)
def test_different_parts_have_different_ids(one: list[str], other: list[str]) -> None:
    assert (content_id(*one) == content_id(*other)) == (one == other)


def test_a_separator_inside_a_part_is_not_a_border() -> None:
    assert content_id("a\x1fb") != content_id("a", "b")


@given(st.one_of(ANY_TEXT, LONE_SURROGATES))
def test_any_text_has_an_id_of_sixteen_hex_digits(text: str) -> None:
    id = content_id("turn", text)
    assert len(id) == 16
    assert set(id) <= set("0123456789abcdef")
    assert id == content_id("turn", text)


@given(WORDS, IDS)
def test_a_uri_is_read_as_it_was_spelled(word: str, id: str) -> None:
    assert parse_uri(uri(word, id)) == Uri(word, id)
    assert str(Uri(word, id)) == uri(word, id)


@given(WORDS, IDS)
def test_a_uri_may_leave_out_its_scheme_and_have_space_around_it(word: str, id: str) -> None:
    assert parse_uri(f"  {word}/{id}\n") == Uri(word, id)


@given(IDS)
def test_a_bare_id_has_no_word(id: str) -> None:
    assume("/" not in id)
    assert parse_uri(id) == Uri("", id)


@given(ANY_TEXT)
def test_any_text_is_a_uri_or_none(text: str) -> None:
    found = parse_uri(text)
    assert found is None or found.id


def test_what_is_no_uri_is_not_read_as_one() -> None:
    for text in ("", "  ", "holdfast://", "holdfast:///", "turn/", "/abc", "two words", "a/b c"):
        assert parse_uri(text) is None, text
