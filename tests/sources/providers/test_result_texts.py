"""Answers of any make: nothing may raise, and what comes out is bounded."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.providers.result_texts import MAX_TEXT_CHARS, MAX_TEXTS, result_texts

KEYS = st.sampled_from(
    "content text type resource results items title structuredContent tools name description "
    "inputSchema properties required annotations readOnlyHint nextCursor protocolVersion id "
    "method result error query string isError".split()
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | KEYS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.slow
@given(JSON, JSON)
def test_any_result_gives_a_few_short_texts(content: Any, structured: Any) -> None:
    for result in (
        {"content": content, "structuredContent": structured},
        {"content": [{"type": "text", "text": json.dumps(content)}, content]},
        {"structuredContent": structured},
    ):
        texts = result_texts(result)
        assert len(texts) <= MAX_TEXTS
        assert all(isinstance(t, str) and 0 < len(t) <= MAX_TEXT_CHARS for t in texts)
