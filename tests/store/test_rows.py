from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.store.sql.rows import dumps, loads

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(VALUES)
def test_what_is_written_is_read_as_json_reads_it(value: object) -> None:
    for text in (dumps(value), dumps(value, ensure_ascii=True), json.dumps(value, indent=1)):
        assert loads(text) == json.loads(text) == value


@pytest.mark.parametrize("text", ["", "[", "[1] [2]", "nothing", '"\n"'])
def test_what_is_no_json_is_refused_as_by_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(text)
