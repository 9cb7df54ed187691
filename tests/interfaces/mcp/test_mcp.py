from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.memory import open_memory
from holdfast.interfaces.mcp.protocol import PROTOCOL_VERSIONS
from holdfast.interfaces.mcp.server import Server
from holdfast.interfaces.mcp.servers import load_spec
from holdfast.settings import load_settings
from tests.contracts.test_exports import imported_by
from tests.support.open_files import open_files_in
from tests.support.transcripts import Script

Json = dict[str, Any]
HELLO = {"protocolVersion": PROTOCOL_VERSIONS[0], "capabilities": {}, "clientInfo": {"name": "t"}}


class Client:
    """Talks to a server in a process of its own."""

    def __init__(self, home: Path, folder: Path) -> None:
        env = {**os.environ, "HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "mcp"],
            cwd=folder,
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._id = 0

    def send(self, message: object) -> None:
        assert self.process.stdin is not None
        text = message if isinstance(message, str) else json.dumps(message)
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def receive(self) -> Json:
        assert self.process.stdout is not None
        return json.loads(self.process.stdout.readline())

    def ask(self, method: str, **params: Any) -> Json:
        self._id += 1
        self.send({"jsonrpc": "2.0", "id": self._id, "method": method, "params": params})
        answer = self.receive()
        assert answer["id"] == self._id and answer["jsonrpc"] == "2.0"
        return answer

    def call(self, name: str, **arguments: Any) -> Json:
        return self.ask("tools/call", name=name, arguments=arguments)


@contextmanager
def client_of(home: Path, folder: Path) -> Generator[Client]:
    client = Client(home, folder)
    with client.process:
        try:
            yield client
        finally:
            client.process.kill()


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with client_of(tmp_path / "home", tmp_path) as made:
        yield made


def learn(home: Path, folder: Path, *said: str) -> None:
    script = Script(cwd=str(folder))
    script.user("Look into the red build please.")
    for words in said:
        script.assistant(words)
    script.write(home / "c" / "projects")
    settings = load_settings({"HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")})
    with open_memory(settings) as memory:
        memory.ingest(memory.ingestion.find([]))


def test_initialize_returns_name_version_and_capabilities(client: Client) -> None:
    told = client.ask("initialize", **HELLO)["result"]
    assert (
        told["protocolVersion"] == PROTOCOL_VERSIONS[0] and told["serverInfo"]["name"] == "holdfast"
    )
    assert "evidence" in told["instructions"] and "Not known" in told["instructions"]
    client.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    tools = client.ask("tools/list")["result"]["tools"]
    assert [tool["name"] for tool in tools][:2] == ["memory", "memory_recall"]
    for tool in tools:
        schema = tool["inputSchema"]
        assert {*schema.get("required", ())} <= {*schema["properties"]} != set()
    assert client.ask("ping")["result"] == {}


def test_the_server_starts_with_the_standard_library_only() -> None:
    loaded = imported_by("holdfast.interfaces.cli.commands.mcp")
    outside = {"numpy", "orjson", "rich", "onnxruntime", "sqlite3", "mcp"}
    assert not loaded & outside and "holdfast.app.search.recall" not in loaded


def test_an_invalid_message_is_an_error_and_the_next_is_answered(client: Client) -> None:
    for line, code, id in (
        ("{nonsense", -32700, None),
        ("[]", -32600, None),
        ("7", -32600, None),
        ('{"id": 1}', -32600, 1),
        ('{"id": {}, "method": "ping"}', -32600, None),
        ('{"id": "x", "method": "no/such"}', -32601, "x"),
        ('{"id": 2, "method": "ping", "params": [1]}', -32602, 2),
        ('{"id": 3, "method": "tools/call", "params": {"name": "nope"}}', -32602, 3),
        ('{"id": 4, "method": "tools/call", "params": {"name": "x", "arguments": 1}}', -32602, 4),
    ):
        client.send(line)
        answer = client.receive()
        assert (answer["error"]["code"], answer["id"]) == (code, id), line
    for arguments in ({"query": "x", "budget": "all"}, {"query": 1}, {"query": "x", "z": "y"}, {}):
        assert client.call("memory_recall", **arguments)["result"]["isError"]
    client.send('{"method": "no/such/notice"}')
    client.send('{"jsonrpc": "2.0", "id": 9, "result": {}}')
    client.send('[{"id": "a", "method": "ping"}, {"id": "b", "method": "ping"}]')
    assert [client.receive()["id"], client.receive()["id"]] == ["a", "b"]


def test_a_memory_created_later_is_noticed(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "proj"
    folder.mkdir()
    with client_of(home, folder) as client:
        empty = client.call("memory", question="Why does the nightly import fail?")["result"]
        assert empty["structuredContent"]["abstained"] and not home.exists()
        learn(home, folder, "The nightly import fails because the cache is warmed before it.")
        told = client.call("memory", question="Why does the nightly import fail?")["result"]
        cited = told["structuredContent"]["citations"][0]
        assert "warmed before it" in told["structuredContent"]["answer"]
        assert cited["uri"].startswith("holdfast://") and cited["time"]
        assert "warmed before it" in told["content"][0]["text"]
        assert cited["uri"] in told["content"][0]["text"]
        found = client.call("memory_recall", query="nightly import", layer="transcripts")["result"]
        assert {hit["kind"] for hit in found["structuredContent"]["hits"]} == {"turn"}
        assert "warmed before it" in found["content"][0]["text"]


@pytest.mark.parametrize(("name", "is_agent"), [("claude-code", True), ("mcp", False)])
def test_an_agent_gets_the_text_of_a_result_and_a_program_its_data_too(
    tmp_path: Path, name: str, is_agent: bool
) -> None:
    with client_of(tmp_path / "home", tmp_path) as client:
        params = {"protocolVersion": "2025-06-18", "clientInfo": {"name": name, "version": "1"}}
        client.send(json.dumps({"id": 1, "method": "initialize", "params": params}))
        client.receive()
        told = client.call("memory", question="Why does the nightly import fail?")["result"]
        assert told["content"][0]["text"]
        assert ("structuredContent" not in told) is is_agent


def test_an_error_that_the_user_can_fix_is_shown_to_the_model(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text("nonsense = 1\n")
    with client_of(home, tmp_path) as client:
        told = client.call("memory", question="why")["result"]
        assert told["isError"] and "nonsense" in told["content"][0]["text"]


def test_at_end_of_input_pending_calls_are_answered_first(client: Client) -> None:
    assert client.process.stdin is not None and client.process.stdout is not None
    call = {"name": "memory", "arguments": {"question": "why"}}
    client.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call})
    client.process.stdin.close()
    assert json.loads(client.process.stdout.read())["id"] == 1
    assert client.process.wait(timeout=60) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_server_exits_on_a_signal(client: Client, number: signal.Signals) -> None:
    client.ask("ping")
    client.process.send_signal(number)
    assert client.process.wait(timeout=60) == 0


class Beside:
    """Something that runs beside a server."""

    closed = False

    def close(self) -> None:
        self.closed = True


def test_background_services_are_closed_with_the_server() -> None:
    beside, out = Beside(), io.StringIO()
    started = threading.Event()

    def begin() -> list[Beside]:
        started.set()
        return [beside]

    def lines() -> Iterator[str]:
        yield '{"id": 1, "method": "ping"}\n'
        assert started.wait(60)
        yield "\n"

    Server(out.write, load_spec(), begin).serve(lines())
    assert beside.closed and json.loads(out.getvalue())["id"] == 1


def test_a_ping_loads_no_engine() -> None:
    out = io.StringIO()
    server = Server(out.write, load_spec(), lambda: [Beside()])
    server.serve(['{"id": 1, "method": "ping"}\n'])
    assert server.fast.engine is None


@pytest.mark.parametrize("tool", ["memory", "memory_recall"], ids=["slow", "fast"])
def test_the_database_is_closed_when_the_server_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    open_memory(load_settings()).close()
    held: list[str] = []
    begun = threading.Event()

    def write(line: str) -> None:
        held.extend(open_files_in(tmp_path))
        begun.set()

    def lines() -> Iterator[str]:
        asked = {"memory": {"question": "why"}, "memory_recall": {"query": "why", "budget": "low"}}
        params = {"name": tool, "arguments": asked[tool]}
        yield json.dumps({"id": 1, "method": "tools/call", "params": params})
        assert begun.wait(60)

    Server(write, load_spec()).serve(lines())
    assert "memory.db" in held
    assert open_files_in(tmp_path) == []


def test_calls_that_have_not_begun_are_dropped_when_the_input_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    answers = list[str]()

    def lines() -> Iterator[str]:
        params = {"name": "memory", "arguments": {"question": "why"}}
        for id in (1, 2):
            yield json.dumps({"id": id, "method": "tools/call", "params": params})
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 2}}
        yield json.dumps(cancel)

    Server(answers.append, load_spec()).serve(lines())
    assert [json.loads(answer)["id"] for answer in answers] == [1]
