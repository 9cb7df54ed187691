"""How a server behaves under load, and when things go wrong."""

from __future__ import annotations

import io
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from holdfast.interfaces.mcp.protocol import MAX_LINE_CHARS, read_lines
from holdfast.interfaces.mcp.server import MAX_PENDING_CALLS, Server
from holdfast.interfaces.mcp.servers import OfferedTool, ServerSpec
from tests.support import waiting_engine

Json = dict[str, Any]
OFFER = ServerSpec(
    {"serverInfo": {"name": "waiting"}},
    (
        OfferedTool({"name": "slow"}, is_slow=True),
        OfferedTool({"name": "quick"}),
        OfferedTool({"name": "broken"}),
    ),
    waiting_engine.make_engine,
)
HELLO = {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "the test"}}}


class Out:
    """What a server said; can wait for something to be said."""

    def __init__(self) -> None:
        self.said: list[Json] = []
        self._more = threading.Condition()

    def write(self, line: str) -> None:
        with self._more:
            self.said.append(json.loads(line))
            self._more.notify_all()

    def wait_for(self, id: int) -> Json:
        def there() -> Json | None:
            return next((one for one in self.said if one.get("id") == id), None)

        with self._more:
            assert self._more.wait_for(there, 60), f"no answer to {id}"
        found = there()
        assert found is not None
        return found


@pytest.fixture(autouse=True)
def waiting() -> Iterator[None]:
    waiting_engine.go.clear()
    waiting_engine.began.clear()
    yield
    waiting_engine.go.set()


def call(id: int, name: str, **meta: Any) -> str:
    params: Json = {"name": name, "arguments": {"text": "x"}}
    return json.dumps({"id": id, "method": "tools/call", "params": params | meta})


def test_a_long_question_does_not_block_other_calls() -> None:
    out = Out()

    def lines() -> Iterator[str]:
        yield json.dumps(HELLO)
        yield call(1, "slow")
        assert waiting_engine.began.wait(60)
        yield '{"id": 2, "method": "ping"}'
        yield call(3, "quick")
        assert out.wait_for(2)["result"] == {}
        assert out.wait_for(3)["result"]["content"][0]["text"] == "quick for the test"
        assert not [one for one in out.said if one.get("id") == 1]
        waiting_engine.go.set()
        assert out.wait_for(1)["result"]

    Server(out.write, OFFER).serve(lines())


def test_progress_is_reported_if_the_client_requests_it() -> None:
    out = Out()
    waiting_engine.go.set()
    asked = [call(1, "quick", _meta={"progressToken": "t"}), call(2, "quick"), call(3, "slow")]
    Server(out.write, OFFER).serve(asked)
    told = [one["params"] for one in out.said if one.get("method") == "notifications/progress"]
    assert [(one["progressToken"], one["progress"], one["message"]) for one in told] == [
        ("t", 1.0, "begun"),
        ("t", 2.0, "done"),
    ]
    assert sorted(one["id"] for one in out.said if "id" in one) == [1, 2, 3]


def test_a_running_call_is_interrupted_when_it_is_cancelled() -> None:
    out = Out()

    def lines() -> Iterator[str]:
        yield call(1, "slow", _meta={"progressToken": 7})
        assert waiting_engine.began.wait(60)
        yield '{"method": "notifications/cancelled", "params": {"requestId": 1}}'
        yield call(2, "slow")
        waiting_engine.go.set()
        assert out.wait_for(2)["result"]

    Server(out.write, OFFER).serve(lines())
    assert [one["id"] for one in out.said if "id" in one] == [2]
    told = [one["params"]["message"] for one in out.said if "params" in one]
    assert told == ["begun"]


@pytest.mark.slow
def test_calls_over_the_concurrency_limit_are_refused() -> None:
    out = Out()

    def lines() -> Iterator[str]:
        for id in range(MAX_PENDING_CALLS + 5):
            yield call(id, "slow")
        refused = out.wait_for(MAX_PENDING_CALLS + 4)
        assert refused["error"]["code"] == -32000 and "later" in refused["error"]["message"]
        waiting_engine.go.set()

    Server(out.write, OFFER).serve(lines())
    assert sum("error" in one for one in out.said) == 5
    assert sum("result" in one for one in out.said) == MAX_PENDING_CALLS


def test_a_broken_pipe_to_the_client_does_not_stop_the_server() -> None:
    said: list[str] = []

    def write(line: str) -> None:
        said.append(line)
        if len(said) > 1:
            raise BrokenPipeError

    waiting_engine.go.set()
    asked = [call(n, "slow" if n % 2 else "quick") for n in range(20)]
    Server(write, OFFER).serve(iter(asked))
    assert len(said) == 20


def test_an_internal_error_is_reported_and_the_next_call_is_answered() -> None:
    out = Out()
    Server(out.write, OFFER).serve([call(1, "broken"), call(2, "missing"), call(3, "quick")])
    answers = {one["id"]: one for one in out.said}
    assert answers[1]["error"]["code"] == -32603 and answers[2]["error"]["code"] == -32602
    assert answers[3]["result"]


@pytest.mark.slow
def test_an_overlong_line_is_not_held_in_memory() -> None:
    stream = io.StringIO("x" * (2 * MAX_LINE_CHARS + 10) + '\n{"id": 1}\n')
    lines = list(read_lines(stream))
    assert [len(line) for line in lines] == [101, 10]
