from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosts.claude_code.json_text import find, put, read, remove

KEYS = st.text('ab"\\é ', max_size=3)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)
OBJECTS = st.dictionaries(KEYS, VALUES, max_size=4)
INDENTS = st.sampled_from([None, 0, 1, 2, 4, "\t"])


@pytest.mark.slow
@given(OBJECTS, INDENTS, KEYS, VALUES)
def test_an_inserted_value_is_found_and_the_rest_is_unchanged(
    before: dict[str, Any], indent: Any, key: str, value: Any
) -> None:
    text = json.dumps(before, indent=indent)
    assert json.loads(put(text, (key,), value)) == {**before, key: value}


@pytest.mark.slow
@given(OBJECTS, INDENTS, VALUES)
def test_inserting_and_removing_restores_every_byte(
    before: dict[str, Any], indent: Any, value: Any
) -> None:
    text = json.dumps(before, indent=indent)
    after = remove(put(text, ("new",), value), ("new",))
    assert after == text if before else json.loads(after) == {}


@pytest.mark.slow
@given(OBJECTS, INDENTS)
def test_every_member_can_be_removed_alone(before: dict[str, Any], indent: Any) -> None:
    text = json.dumps(before, indent=indent)
    for key in before:
        rest = {k: v for k, v in before.items() if k != key}
        assert json.loads(remove(text, (key,))) == rest


@pytest.mark.slow
@given(VALUES)
def test_values_are_parsed_like_by_the_json_library(value: Any) -> None:
    text = f" \n{json.dumps(value, indent=1)}\t "
    assert json.dumps(read(text).value) == json.dumps(value)


def test_the_layout_of_neighbouring_members_is_kept() -> None:
    text = '{\r\n\t"a": [1,2],\r\n\t"b": {"c": 1}\r\n}\r\n'
    assert put(text, ("b", "d"), {"e": 2}) == text.replace('"c": 1', '"c": 1, "d": {"e": 2}')
    assert put(text, ("x", -1), "y") == (
        '{\r\n\t"a": [1,2],\r\n\t"b": {"c": 1},\r\n\t"x": [\r\n\t\t"y"\r\n\t]\r\n}\r\n'
    )


def test_the_last_of_two_equal_keys_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}}'
    root = read(text)
    found = find(root, ("a", "b"))
    assert root.value == {"a": {"b": 2}} and found is not None and found.value == 2
    assert put(text, ("a", "b"), 3) == '{"a": 1, "a": {"b": 3}}'


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', "{} {}", "// c\n{}", "[" * 100_000])
def test_text_that_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
