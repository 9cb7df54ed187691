from __future__ import annotations

import json
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from holdfast.app.search.plugin_search import Providers
from holdfast.errors import ProviderError
from tests.support.plugins import SERVERS, make_plugin, providers_for
from tests.support.ports import free_port
from tests.support.waiting import wait_until

TOOLS = {"tools": [{"name": "search", "inputSchema": {
    "type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"],
}}]}  # fmt: skip
Handle = Callable[[BaseHTTPRequestHandler, dict[str, Any]], None]


@contextmanager
def official_server() -> Generator[str]:
    port = free_port()
    process = subprocess.Popen([sys.executable, str(SERVERS / "official.py"), str(port)])
    try:
        wait_until(lambda: _listens(port), "the server listens")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.terminate()
        process.wait(60)


def _listens(port: int) -> bool:
    with socket.socket() as line:
        return line.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def server(handle: Handle, certificate: Path | None = None) -> Generator[str]:
    """A server of our own, which may do anything; over TLS if it has a certificate."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            handle(self, message)

        def log_message(self, format: str, *args: object) -> None:
            pass

    made = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        made.socket = context.wrap_socket(made.socket, server_side=True)
    thread = threading.Thread(target=made.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{made.server_port}/mcp"
    finally:
        made.shutdown()
        made.server_close()


def reply(
    handler: BaseHTTPRequestHandler, body: bytes, kind: str = "application/json", status: int = 200
) -> None:
    handler.send_response(status)
    handler.send_header("Content-Type", kind)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def answer(message: dict[str, Any]) -> bytes:
    results: dict[str, Any] = {
        "initialize": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "serverInfo": {"name": "s", "version": "1"},
        },
        "tools/list": TOOLS,
        "tools/call": {"content": [{"type": "text", "text": "Retries stop."}]},
    }
    return json.dumps(
        {"jsonrpc": "2.0", "id": message.get("id"), "result": results.get(message["method"], {})}
    ).encode()


def reach(
    tmp_path: Path, url: str, patience_s: float = 60.0, headers: dict[str, str] | None = None
) -> Providers:
    result = {"type": "http", "url": url, "headers": headers or {}}
    tools = ["mcp__main__search_pages", "mcp__main__search"]
    plugin = make_plugin(tmp_path / "wiki", result, tools)
    return providers_for(tmp_path, plugin, patience_s=patience_s, more='env = ["WIKI_TOKEN"]')


def ask(found: Providers) -> list[str]:
    return [result.text for result in found.ask(found.named("wiki"), "retry policy")]


def test_a_server_of_the_official_library_is_queried_over_http(tmp_path: Path) -> None:
    with official_server() as url:
        [result] = ask(reach(tmp_path, url))
    assert result.startswith("Retries of the payment importer")


def test_json_and_event_streams_are_read_and_headers_are_sent(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    def handle(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        version = handler.headers.get("MCP-Protocol-Version", "")
        seen.append((handler.headers["Authorization"], version))
        if message["method"] == "tools/call":
            note = b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}'
            lines = b": hello\r\n\r\ndata: " + note + b"\r\n\r\nevent: message\r\ndata: "
            reply(handler, lines + answer(message) + b"\r\n\r\n", "text/event-stream")
        else:
            reply(handler, answer(message))

    with server(handle) as url:
        headers = {"Authorization": "Bearer ${WIKI_TOKEN}"}
        assert ask(reach(tmp_path, url, headers=headers)) == ["Retries stop."]
    assert seen[0] == ("Bearer t0k", "") and seen[-1] == ("Bearer t0k", "2025-06-18")


@pytest.mark.parametrize(
    ("status", "why"),
    [
        (401, r"it needs a login \(HTTP 401\)"),
        (500, "it refused with HTTP 500"),
    ],
)
def test_http_errors_are_reported(tmp_path: Path, status: int, why: str) -> None:
    with (
        server(lambda handler, message: reply(handler, b"<html>", "text/html", status)) as url,
        pytest.raises(ProviderError, match=why),
    ):
        ask(reach(tmp_path, url))


def test_an_unreachable_server_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="it cannot be reached"):
        ask(reach(tmp_path, "http://127.0.0.1:9/mcp"))


def test_a_server_that_sends_too_slowly_is_cut_off_in_time(tmp_path: Path) -> None:
    over = threading.Event()

    def handle(handler: BaseHTTPRequestHandler, message: dict[str, Any]) -> None:
        while not over.wait(0.05):
            try:
                handler.wfile.write(b"H")
                handler.wfile.flush()
            except OSError:
                return

    with server(handle) as url:
        with pytest.raises(ProviderError, match="it did not answer within 1 s"):
            ask(reach(tmp_path, url, patience_s=1.0))
        over.set()
