"""The JSON of hook scripts, which do without `json`: as the standard library has it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.hosts.claude_code.scripts.answer import read_json, write_json
from tests.support.laws import costly

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@pytest.mark.slow
@costly(40)
@given(_VALUES)
def test_values_are_written_and_read_as_json_does(value: object) -> None:
    text = write_json(value)
    assert text == json.dumps(value)
    assert read_json(text.encode()) == value
    assert (
        read_json(json.dumps(value, indent=2, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        == value
    )


@pytest.mark.parametrize("data", [b"", b"{", b"{} {}", b"nul", b"\xff", b"[1,]", b'{"a": 1}x'])
def test_what_is_no_json_is_an_error_of_values(data: bytes) -> None:
    with pytest.raises(ValueError):
        read_json(data)


def test_space_around_a_value_and_lone_surrogates_are_read() -> None:
    data = b' \r\n{"a": "\\ud800", "b": -5e2}\t\n'
    assert read_json(data) == json.loads(data)
