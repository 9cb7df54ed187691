"""Answers and descriptions of any make: nothing may raise, and what comes out is bounded."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import ProviderError
from holdfast.sources.providers.client import VERSIONS, ProviderClient
from holdfast.sources.providers.result_texts import MAX_TEXT_CHARS, MAX_TEXTS, result_texts
from holdfast.sources.providers.rpc import Deadline, Object, is_answer_to, parse_messages, reply_to
from holdfast.sources.providers.tool_choice import choose_search_tools

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


class Parrot:
    """A way to a provider that greets as it should and answers all else with what it was given."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self._answer = answer

    def request(self, message: Object, deadline: Deadline) -> Object:
        if message["method"] == "initialize":
            return {"id": 1, "result": {"protocolVersion": VERSIONS[0]}}
        return self._answer

    def notify(self, message: Object, deadline: Deadline) -> None:
        pass

    def close(self, kindly: bool = True) -> None:
        pass


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


@pytest.mark.slow
@given(JSON, JSON)
def test_any_list_of_tools_is_parsed_or_refused(tools: Any, cursor: Any) -> None:
    answer = {"protocolVersion": "2025-06-18", "tools": tools, "nextCursor": cursor}
    with ProviderClient(Parrot({"id": 1, "result": answer}), Deadline(60)) as client:
        offered = client.tools()
    for way in choose_search_tools(offered.values()):
        assert way.tool in offered and isinstance(way.parameter, str)


@pytest.mark.slow
@given(JSON)
def test_any_response_is_a_result_or_a_known_error(value: Any) -> None:
    usable = isinstance(value, dict) and cast("Object", value).get("isError") is not True
    with ProviderClient(Parrot({"id": 1, "result": value}), Deadline(60)) as client:
        if usable:
            assert client.call("search", {}) is value
        else:
            with pytest.raises(ProviderError):
                client.call("search", {})


@pytest.mark.slow
@given(st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_any_line_parses_to_messages_or_nothing(line: bytes) -> None:
    for message in parse_messages(line):
        owed = reply_to(message)
        assert owed is None or owed["id"] == message["id"]
        assert not (is_answer_to(message, {"id": 1}) and "method" in message)
