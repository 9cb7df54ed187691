"""`/mcp` of the server: asked by the official client, and by those who must not."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.interfaces.http.mcp.mcp_endpoint import McpSessions
from holdfast.interfaces.mcp.servers import load_spec
from holdfast.settings import Settings
from tests.support.http.server import HttpResponse, Server
from tests.support.waiting import wait_until_async

HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
Json = dict[str, Any]


@asynccontextmanager
async def connected(server: Server, path: str = "/mcp") -> AsyncGenerator[ClientSession]:
    headers = {"Authorization": f"Bearer {server.token}"}
    async with (
        httpx.AsyncClient(headers=headers, timeout=60) as web,
        streamable_http_client(server.url + path, http_client=web) as (reading, writing, _),
        ClientSession(reading, writing) as session,
    ):
        await session.initialize()
        yield session


def send(server: Server, body: object, path: str = "/mcp", **more: str) -> HttpResponse:
    """One POST, with the usual headers and more; "-" takes one away."""
    usual = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    given = {name.replace("_", "-"): value for name, value in more.items()}
    headers = {name: value for name, value in {**usual, **given}.items() if value != "-"}
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    return server.ask(path, headers, data)


def call(method: str, id: object = 1, **params: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def begin(server: Server) -> str:
    got = send(server, call("initialize", **HELLO))
    assert got.status == 200, got.text
    return got.headers["Mcp-Session-Id"]


def test_the_official_client_can_ask_and_write(server: Server) -> None:
    bank = json.loads(server.ask("/api/v1/banks").text)["banks"][0]["name"]

    async def talk() -> None:
        steps: list[str] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")

        async with connected(server, f"/mcp?bank={bank}") as session:
            listed = await session.list_tools()
            assert [tool.name for tool in listed.tools] == [tool.name for tool in load_spec().tools]
            said = "The lighthouse keeper counts the gulls at dawn."
            kept = await session.call_tool("remember", {"text": said})
            assert not kept.isError and (kept.structuredContent or {})["bank"] == bank
            found = await session.call_tool(
                "memory", {"question": "Who counts the gulls?"}, progress_callback=note
            )
            told = found.structuredContent or {}
            assert "lighthouse keeper" in told["answer"] and steps
            many = await asyncio.gather(
                *(session.call_tool("memory_recall", {"query": f"gulls {n}"}) for n in range(8))
            )
            assert not any(one.isError for one in many)
            record = await session.call_tool("show", {"id": told["citations"][0]["uri"]})
            assert "gulls" in record.model_dump_json()

    asyncio.run(talk())
    log = json.loads(server.ask("/api/v1/decisions").text)
    assert any("agent (mcp" in entry["who"] for entry in log["decisions"]), log


def test_remember_needs_a_bank_and_an_unknown_bank_is_an_error(server: Server) -> None:
    session = begin(server)
    wanted = call("tools/call", name="remember", arguments={"text": "No bank was named."})
    got = json.loads(send(server, wanted, Mcp_Session_Id=session).text)
    assert got["result"]["isError"]
    asked = call("tools/call", name="memory_recall", arguments={"query": "anything"})
    got = json.loads(send(server, asked, "/mcp?bank=nowhere", Mcp_Session_Id=session).text)
    assert got["result"]["isError"] and "nowhere" in json.dumps(got)


def test_an_agent_decides_about_records_of_the_bank_in_the_address_alone(server: Server) -> None:
    session = begin(server)

    def use(name: str, bank: str, **given: str) -> Json:
        wanted = call("tools/call", name=name, arguments=given)
        path = f"/mcp?bank={bank}" if bank else "/mcp"
        return json.loads(send(server, wanted, path, Mcp_Session_Id=session).text)["result"]

    for bank in ("quay", "mole"):
        kept = json.dumps({"text": f"The {bank} has a lamp.", "bank": bank}).encode()
        typed = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
        assert server.ask("/api/v1/memories", typed, kept).status == 201
    found = json.loads(server.ask("/api/v1/recall?query=lamp&bank=quay").text)["hits"]
    uri = found[0]["uri"]
    for tool, given in (("correct", {"text": "Mine now."}), ("forget", {})):
        for bank in ("mole", ""):
            told = use(tool, bank, id=uri, **given)
            assert told["isError"], (tool, bank)
            wanted = "no record" if bank else "needs one bank"
            assert wanted in told["content"][0]["text"]
    made = use("correct", "quay", id=uri, text="The quay has two lamps.")
    assert made["structuredContent"]["who"] == "agent (t)"
    decided = json.loads(server.ask("/api/v1/decisions?bank=quay").text)["decisions"]
    assert [(one["action"], one["target"]) for one in decided] == [
        ("correct", uri), ("remember", uri),
    ]  # fmt: skip


def test_malformed_or_unauthorised_requests_are_refused(server: Server) -> None:
    session = begin(server)
    ping = call("ping")
    assert send(server, ping, Mcp_Session_Id=session).status == 200
    assert send(server, ping).status == 400
    assert send(server, ping, Mcp_Session_Id="x" * 32).status == 404
    assert send(server, ping, Mcp_Session_Id=session, Authorization="-").status == 401
    assert send(server, ping, Mcp_Session_Id=session, Authorization="Bearer no").status == 401
    assert send(server, ping, Mcp_Session_Id=session, Origin="http://evil.example").status == 403
    assert send(server, ping, Mcp_Session_Id=session, Content_Type="text/plain").status == 415
    wrong = send(server, ping, Mcp_Session_Id=session, MCP_Protocol_Version="1999-01-01")
    assert wrong.status == 400
    assert send(server, b"x" * 1_000_001, Mcp_Session_Id=session).status in (0, 413)
    assert send(server, b"\xff\xfe{}", Mcp_Session_Id=session).status == 400
    assert send(server, [ping] * 51, Mcp_Session_Id=session).status == 400
    for body in (b"{", b"[" * 100_000, b"[]", b"1", b'{"id": []}', b'{"method": 1, "id": 2}'):
        told = json.loads(send(server, body, Mcp_Session_Id=session).text)
        assert "error" in told, body
    assert server.ask("/mcp").status == 405
    there = {"Authorization": f"Bearer {server.token}", "Mcp-Session-Id": session}
    assert server.ask("/mcp", there, method="DELETE").status == 204
    assert send(server, ping, Mcp_Session_Id=session).status == 404


def test_notifications_get_no_response_and_batches_one_response(server: Server) -> None:
    session = begin(server)
    notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    got = send(server, notice, Mcp_Session_Id=session)
    assert (got.status, got.text) == (202, "")
    both = [call("ping", 1), notice, call("nonsense", 2), call("tools/call", 3, name="nothing")]
    told = json.loads(send(server, both, Mcp_Session_Id=session).text)
    assert [("result" in one, one["id"]) for one in told] == [(True, 1), (False, 2), (False, 3)]


@asynccontextmanager
async def own_site(folder: Path) -> AsyncGenerator[tuple[WebApp, httpx.AsyncClient]]:
    """A server in this process, with a client that is connected."""
    settings = Settings(home=folder / "home", claude_dir=folder / "claude")
    Holdfast(settings).close()
    listening = socket.create_server(("127.0.0.1", 0))
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    app = WebApp(MemoryPool(settings), OwnerKeys("t" * 40), GuardRules(frozenset({host})))
    server = uvicorn.Server(uvicorn.Config(app.guard, log_level="critical"))
    running = asyncio.create_task(server.serve([listening]))
    headers = {"Authorization": f"Bearer {'t' * 40}"}
    async with httpx.AsyncClient(base_url=f"http://{host}", headers=headers, timeout=120) as client:
        got = await client.post("/mcp", json=call("initialize", **HELLO))
        client.headers["Mcp-Session-Id"] = got.headers["mcp-session-id"]
        yield app, client
    server.should_exit = True
    await running
    listening.close()


@pytest.mark.slow
def test_a_call_is_cancelled_by_its_id_or_by_disconnecting(tmp_path: Path) -> None:
    """While the one thread that answers is busy."""
    recall = call("tools/call", 7, name="memory_recall", arguments={"query": "gulls"})
    back = {"method": "notifications/cancelled", "params": {"requestId": 7}, "jsonrpc": "2.0"}

    async def talk() -> None:
        async with own_site(tmp_path) as (app, client):
            set_principal(owner())
            free = threading.Event()
            calls = app.mcp_sessions.find(client.headers["Mcp-Session-Id"], owner().key).calls
            busy = asyncio.create_task(app.pool.run(lambda memory: free.wait(120)))
            waiting = asyncio.create_task(client.post("/mcp", json=recall))
            await wait_until_async(lambda: len(calls), "the call is under way")
            assert (await client.post("/mcp", json=back)).status_code == 202
            assert (await waiting).json()["error"]["code"] == -32800
            hanging_up = asyncio.create_task(client.post("/mcp", json=recall))
            await wait_until_async(lambda: len(calls), "the call is under way again")
            hanging_up.cancel()
            await wait_until_async(lambda: not len(calls), "the call is taken back")
            after = asyncio.create_task(client.post("/mcp", json=recall))  # the id is free again
            await wait_until_async(lambda: len(calls), "the last call is under way")
            free.set()
            await busy
            assert "result" in (await after).json()

    asyncio.run(talk())


def test_sessions_are_limited_and_belong_to_one_key() -> None:
    sessions = McpSessions(limit=2)
    first, second = sessions.begin("ann", "a"), sessions.begin("ann", "b")
    with pytest.raises(NotFoundError):
        sessions.find(first.id, "bob")
    sessions.find(first.id, "ann")
    sessions.begin("bob", "c")  # the second was silent longest
    with pytest.raises(NotFoundError):
        sessions.find(second.id, "ann")
    assert sessions.find(first.id, "ann") is first
