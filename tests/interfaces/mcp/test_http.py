"""`holdfast mcp --http`: asked by the official client, and by those who must not."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from holdfast.app.core.token import read_or_make_token, token_file
from holdfast.errors import InputError
from holdfast.interfaces.mcp.http_server import HttpServer
from holdfast.interfaces.mcp.main_spec import SPEC
from holdfast.interfaces.mcp.server import EngineThreads
from tests.interfaces.cli.test_cli import holdfast
from tests.interfaces.mcp.test_mcp import learn
from tests.support.waiting import wait_until

TOKEN = "t" * 43
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
Json = dict[str, Any]


class Running(NamedTuple):
    """A server in a process of its own."""

    process: subprocess.Popen[str]
    url: str
    token: str


@contextmanager
def running(home: Path, folder: Path) -> Generator[Running]:
    env = {**os.environ, "HOLDFAST_HOME": str(home), "CLAUDE_CONFIG_DIR": str(home / "c")}
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp", "--http", "--port", "0", "--json"],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            assert process.stdout is not None
            told = json.loads(process.stdout.readline())
            yield Running(process, told["url"], Path(told["token_file"]).read_text().strip())
        finally:
            process.kill()


@contextmanager
def listening(call_timeout_s: float = 30.0) -> Generator[HttpServer]:
    """A server in this process."""
    engines = EngineThreads(SPEC)
    server = HttpServer(engines, SPEC, TOKEN, call_timeout_s=call_timeout_s)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        engines.close()


def send(
    server: HttpServer, body: object, method: str = "POST", path: str = "/mcp", **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    usual = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    sent = {name: value for name, value in {**usual, **given}.items() if value != "-"}
    connection.request(method, path, text, sent)
    response = connection.getresponse()
    told = response.read()
    connection.close()
    return response, told


def ping(id: object = 1, **more: Any) -> Json:
    return {"jsonrpc": "2.0", "id": id, "method": "ping", **more}


def begin(server: HttpServer) -> str:
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    response, _ = send(server, message)
    return response.headers["Mcp-Session-Id"]


def test_the_official_client_works_over_http(tmp_path: Path) -> None:
    learn(tmp_path / "home", tmp_path, "The cache is warmed after the nightly import.")

    async def talk(url: str, token: str) -> tuple[list[str], str, list[str]]:
        steps: list[str] = []

        async def note(progress: float, total: float | None, message: str | None) -> None:
            steps.append(message or "")

        headers = {"Authorization": f"Bearer {token}"}
        async with (
            httpx.AsyncClient(headers=headers, timeout=60) as web,
            streamable_http_client(url, http_client=web) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            tools = [tool.name for tool in (await session.list_tools()).tools]
            told = await session.call_tool(
                "memory",
                {"question": "When is the cache warmed?"},
                progress_callback=note,
            )
            again = await asyncio.gather(
                *(session.call_tool("memory_recall", {"query": f"cache {n}"}) for n in range(8))
            )
            assert not any(one.isError for one in again)
            return tools, json.dumps(told.model_dump()), steps

    with running(tmp_path / "home", tmp_path) as server:
        tools, told, steps = asyncio.run(talk(server.url, server.token))
        assert "memory" in tools and "warmed after the nightly import" in told
        assert "holdfast://" in told and steps
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(60) == 0


def test_only_local_requests_with_the_token_are_accepted() -> None:
    with listening() as server:
        for headers in (
            {"Authorization": "-"},
            {"Authorization": "Bearer wrong"},
            {"Authorization": f"Basic {TOKEN}"},
            {"Authorization": f"Bearer {TOKEN}x"},
        ):
            response, told = send(server, ping(), **headers)
            assert response.status == 401 and response.headers["WWW-Authenticate"] == "Bearer"
            assert TOKEN.encode() not in told
        for headers in (
            {"Host": "evil.example"},
            {"Host": "127.0.0.1.evil.example"},
            {"Host": "localhost@evil.example"},
            {"Host": ""},
            {"Origin": "https://evil.example"},
            {"Origin": "null"},
            {"Origin": "http://localhost.evil.example"},
        ):
            assert send(server, ping(), **headers)[0].status == 403, headers
        local = {"Host": "localhost:1", "Origin": "http://127.0.0.1:99"}
        assert send(server, ping(), **local)[0].status == 400  # let in, but it has no session
        assert server.server_address[0] == "127.0.0.1"


def test_an_invalid_request_is_refused_and_the_next_is_answered() -> None:
    with listening() as server:
        id = begin(server)
        for status, body, headers in (
            (415, ping(), {"Content_Type": "text/plain"}),
            (404, ping(), {"Mcp_Session_Id": "unheard-of"}),
            (400, ping(), {"MCP_Protocol_Version": "1999-01-01"}),
            (413, ping(), {"Content_Length": str(10**12)}),
            (411, ping(), {"Content_Length": "x"}),
        ):
            response, _ = send(server, body, **{"Mcp_Session_Id": id, **headers})
            assert response.status == status, headers
        assert send(server, ping(), path="/other")[0].status == 404
        assert send(server, ping(), method="GET")[0].status == 405
        assert send(server, ping(), method="PUT")[0].status == 501
        for body, code in ((b"{nonsense", -32700), (b"[]", -32600), (b"7", -32600)):
            response, told = send(server, body, Mcp_Session_Id=id)
            assert response.status == 200 and json.loads(told)["error"]["code"] == code
        response, told = send(server, ping(), Mcp_Session_Id=id)
        assert json.loads(told) == {"jsonrpc": "2.0", "id": 1, "result": {}}


def test_single_messages_batches_and_notifications_are_handled() -> None:
    with listening() as server:
        id = begin(server)
        notice = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        response, told = send(server, notice, Mcp_Session_Id=id)
        assert (response.status, told) == (202, b"")
        _, told = send(server, [ping("a"), notice, ping(2)], Mcp_Session_Id=id)
        assert [one["id"] for one in json.loads(told)] == ["a", 2]
        meta = {"params": {"_meta": {"progressToken": "p"}}}
        response, told = send(server, ping(3, **meta), Mcp_Session_Id=id)
        assert response.headers["Content-Type"] == "text/event-stream"
        assert told == b'event: message\ndata: {"jsonrpc": "2.0", "id": 3, "result": {}}\n\n'
        assert send(server, b"", method="DELETE", Mcp_Session_Id=id)[0].status == 204
        assert send(server, ping(), Mcp_Session_Id=id)[0].status == 404


@pytest.mark.slow
def test_the_oldest_sessions_are_dropped_and_ids_are_separate_per_session() -> None:
    with listening() as server:
        first = begin(server)
        others = [begin(server) for _ in range(63)]
        assert send(server, ping(), Mcp_Session_Id=first)[0].status == 200  # now the latest
        begin(server)
        assert send(server, ping(), Mcp_Session_Id=first)[0].status == 200
        assert send(server, ping(), Mcp_Session_Id=others[0])[0].status == 404

        def ask(id: str) -> int:
            return json.loads(send(server, ping(7), Mcp_Session_Id=id)[1])["id"]

        with ThreadPoolExecutor(20) as pool:
            assert list(pool.map(ask, others[1:] * 3)) == [7] * 186


URI = {"uri": "holdfast://memory/0"}
SLOW = {"jsonrpc": "2.0", "id": "slow", "method": "resources/read", "params": URI}


def hold_up(server: HttpServer, free: threading.Event) -> None:
    """Keep the engine busy until it is set free."""
    engines = server._engines  # pyright: ignore[reportPrivateUsage]
    engines.fast.thread.submit(free.wait, 60)


def test_a_cancelled_call_ends() -> None:
    free = threading.Event()
    with listening(call_timeout_s=60) as server:
        id = begin(server)
        calls = server.sessions.find(id, "").calls
        hold_up(server, free)
        try:
            with ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(send, server, SLOW, Mcp_Session_Id=id)
                wait_until(lambda: len(calls), "the call is under way")
                _, told = send(server, SLOW, Mcp_Session_Id=id)
                assert "in use" in told.decode()
                params = {"requestId": "slow"}
                cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}
                assert send(server, cancel, Mcp_Session_Id=id)[0].status == 202
                assert json.loads(waiting.result()[1])["error"]["code"] == -32800
        finally:
            free.set()


def test_a_call_past_its_deadline_ends() -> None:
    free = threading.Event()
    with listening(call_timeout_s=0.2) as server:
        id = begin(server)
        hold_up(server, free)
        try:
            _, told = send(server, SLOW, Mcp_Session_Id=id)
            assert "took too long" in told.decode()
        finally:
            free.set()


@pytest.mark.parametrize("meta", [{}, {"_meta": {"progressToken": 1}}])
def test_a_call_is_cancelled_when_its_client_disconnects(meta: Json) -> None:
    free = threading.Event()
    with listening(call_timeout_s=60) as server:
        id = begin(server)
        calls = server.sessions.find(id, "").calls
        hold_up(server, free)
        try:
            body = json.dumps({**SLOW, "params": {**URI, **meta}})
            headers = {
                "Authorization": f"Bearer {TOKEN}",
                "Content-Type": "application/json",
                "Mcp-Session-Id": id,
            }
            connection = HTTPConnection("127.0.0.1", server.server_port)
            connection.request("POST", "/mcp", body, headers)
            assert wait_until(lambda: len(calls), "the call is under way") == 1
            connection.close()
            wait_until(lambda: not len(calls), "the call is taken back")
        finally:
            free.set()


def test_a_disconnected_client_does_not_affect_others() -> None:
    with listening() as server:
        id = begin(server)
        for part in (
            b"",
            b"POST /mcp HTTP/1.1\r\n",
            b"\x16\x03\x01\x02\x00",
            b"GET " + b"x" * 70_000,
        ):
            with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
                connection.sendall(part)
        assert send(server, ping(), Mcp_Session_Id=id)[0].status == 200


def test_the_token_file_is_created_once_and_must_be_private(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(read_or_make_token, [home] * 8))
    assert len(tokens) == 1 and len(tokens.pop()) >= 40
    path = token_file(home)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and [path] == list(home.iterdir())
    path.chmod(0o644)
    with pytest.raises(InputError, match="can be read by other users"):
        read_or_make_token(home)
    path.unlink()
    path.write_text("short")
    path.chmod(0o600)
    with pytest.raises(InputError, match="contains no token"):
        read_or_make_token(home)


def test_invalid_options_are_refused(tmp_path: Path) -> None:
    done = holdfast(tmp_path, "mcp", "--port", "1")
    assert done.returncode == 2 and "--port is for --http." in done.stderr
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for number in (port, "99999", "-1"):
            done = holdfast(tmp_path, "mcp", "--http", "--port", number)
            assert done.returncode == 2 and f"Port {number} cannot be used" in done.stderr


@pytest.mark.slow
def test_half_open_connections_do_not_lock_the_owner_out() -> None:
    """More connections than the server holds begin a request and do not end it."""
    half_open = 700
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(4096, hard)), hard))
    usual = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    with listening() as server, ExitStack() as stack:
        kept = HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        stack.callback(kept.close)

        def ask_on_the_kept_connection() -> int:
            kept.request("POST", "/mcp", json.dumps(ping()).encode(), usual)
            response = kept.getresponse()
            assert response.read()
            return response.status

        first = ask_on_the_kept_connection()
        first_socket = kept.sock
        lines: list[socket.socket] = []
        for _ in range(half_open):
            line = socket.create_connection(("127.0.0.1", server.server_port), 60)
            lines.append(stack.enter_context(line))
            with suppress(ConnectionError):
                line.sendall(b"POST /mcp HTTP/1.1\r\nHost: x\r\nX-Slow: ")
        assert {send(server, ping())[0].status for _ in range(20)} == {first}
        # A connection that has shown its key is older than all of them, and stays.
        assert ask_on_the_kept_connection() == first and kept.sock is first_socket
        # The oldest made room for the latest, and was told why.
        lines[0].settimeout(60)
        assert b"503 Service Unavailable" in lines[0].recv(4096)
        lines[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            lines[-1].recv(1)
        still_open = threading.active_count()
        assert still_open < half_open / 2
