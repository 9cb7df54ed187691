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


@given(OBJECTS, INDENTS, KEYS, VALUES)
def test_a_value_that_is_put_in_is_there_and_all_else_is_as_it_was(
    before: dict[str, Any], indent: Any, key: str, value: Any
) -> None:
    text = json.dumps(before, indent=indent)
    assert json.loads(put(text, (key,), value)) == {**before, key: value}


@given(OBJECTS, INDENTS, VALUES)
def test_putting_in_and_taking_out_gives_back_every_byte(
    before: dict[str, Any], indent: Any, value: Any
) -> None:
    text = json.dumps(before, indent=indent)
    after = remove(put(text, ("new",), value), ("new",))
    assert after == text if before else json.loads(after) == {}


@given(OBJECTS, INDENTS)
def test_every_member_can_be_taken_out_alone(before: dict[str, Any], indent: Any) -> None:
    text = json.dumps(before, indent=indent)
    for key in before:
        rest = {k: v for k, v in before.items() if k != key}
        assert json.loads(remove(text, (key,))) == rest


@given(VALUES)
def test_values_are_read_as_the_library_reads_them(value: Any) -> None:
    text = f" \n{json.dumps(value, indent=1)}\t "
    assert json.dumps(read(text).value) == json.dumps(value)


def test_the_layout_of_the_neighbours_is_kept() -> None:
    text = '{\r\n\t"a": [1,2],\r\n\t"b": {"c": 1}\r\n}\r\n'
    assert put(text, ("b", "d"), {"e": 2}) == text.replace('"c": 1', '"c": 1, "d": {"e": 2}')
    assert put(text, ("x", -1), "y") == (
        '{\r\n\t"a": [1,2],\r\n\t"b": {"c": 1},\r\n\t"x": [\r\n\t\t"y"\r\n\t]\r\n}\r\n'
    )


def test_of_a_key_that_is_there_twice_the_last_counts() -> None:
    text = '{"a": 1, "a": {"b": 2}}'
    root = read(text)
    found = find(root, ("a", "b"))
    assert root.value == {"a": {"b": 2}} and found is not None and found.value == 2
    assert put(text, ("a", "b"), 3) == '{"a": 1, "a": {"b": 3}}'


@pytest.mark.parametrize("text", ["", "{", '{"a": 1,}', "{} {}", "// c\n{}", "[" * 100_000])
def test_what_is_not_json_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        read(text)
