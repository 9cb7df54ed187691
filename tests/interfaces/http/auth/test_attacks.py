from __future__ import annotations

import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
from playwright.sync_api import Browser

from tests.support.http.server import Server, make_home, serving


def raw(server: Server, text: str | bytes, wait_s: float = 10) -> str:
    """What a server says to bytes as they are."""
    host, port = server.url.removeprefix("http://").split(":")
    data = text.encode("latin-1") if isinstance(text, str) else text
    heard = b""
    with (
        socket.create_connection((host, int(port)), timeout=wait_s) as line,
        suppress(ConnectionError),  # hung up on while still speaking
    ):
        line.sendall(data)
        while piece := line.recv(65536):
            heard += piece
    return heard.decode("latin-1")


def status(heard: str) -> int:
    return int(heard.split(" ", 2)[1]) if heard else 0


def request(server: Server, *headers: str, method: str = "GET", path: str = "/sessions") -> str:
    return "\r\n".join((f"{method} {path} HTTP/1.1", "Connection: close", *headers, "", ""))


def hosts(server: Server) -> list[str]:
    port = server.url.rpartition(":")[2]
    return [
        "",
        "127.0.0.1",
        f"127.0.0.1:{port}.evil.example",
        f"127.0.0.1:{port}@evil.example",
        f"evil.example:{port}",
        f"[::1]:{port}",
        f"[::ffff:127.0.0.1]:{port}",
        f"0.0.0.0:{port}",
        f"2130706433:{port}",
        f"localhost.:{port}",
        f"127.0.0.1:0{port}",
    ]


def test_requests_for_another_host_name_are_refused(server: Server) -> None:
    key = f"Authorization: Bearer {server.token}"
    ours = f"Host: {server.url.removeprefix('http://')}"
    assert status(raw(server, request(server, ours, key))) == 200
    for name in hosts(server):
        assert status(raw(server, request(server, f"Host: {name}", key))) in (400, 421), name
    assert status(raw(server, request(server, key))) == 400
    assert status(raw(server, request(server, ours, "Host: evil.example", key))) == 400
    old = f"GET /sessions HTTP/1.0\r\n{key}\r\n\r\n"
    assert status(raw(server, old)) == 421
    other = request(server, "Host: evil.example", f"X-Forwarded-Host: {server.url[7:]}", key)
    assert status(raw(server, other)) == 421
    absolute = request(server, "Host: evil.example", key, path=f"{server.url}/sessions")
    assert status(raw(server, absolute)) in (400, 404, 421)


def test_wrong_content_lengths_are_refused(server: Server) -> None:
    ours = f"Host: {server.url.removeprefix('http://')}"
    key = f"Authorization: Bearer {server.token}"
    for length in ("-1", "1e9", "0x10", " ", "9" * 30, "5, 6", "١٢"):
        said = request(server, ours, key, "Content-Length: x", method="POST", path="/api/v1/undo")
        sent = said.replace("Content-Length: x", f"Content-Length: {length}").encode()
        assert status(raw(server, sent)) in (0, 400, 413), length
    both = ("Content-Length: 4", "Transfer-Encoding: chunked")
    smuggled = request(server, ours, key, *both, method="POST", path="/api/v1/undo")
    heard = raw(server, smuggled + "0\r\n\r\nGET /sessions HTTP/1.1\r\n\r\n")
    assert heard.count("HTTP/1.1") <= 1 and "Sessions" not in heard


def test_chunked_bodies_are_limited_too(server: Server) -> None:
    ours = f"Host: {server.url.removeprefix('http://')}"
    head = request(
        server,
        ours,
        f"Authorization: Bearer {server.token}",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
        method="POST",
        path="/api/v1/memories",
    )
    piece = f"{0x8000:x}\r\n{'x' * 0x8000}\r\n"
    assert status(raw(server, head + piece * 31)) == 413


def test_a_token_in_the_url_is_not_accepted(server: Server) -> None:
    for path in (f"/?token={server.token}", f"/?key={server.token}", f"/enter?key={server.token}"):
        assert server.ask(path, {}).status in (401, 403)
    for scheme in ("Basic", "Token", ""):
        assert server.ask("/", {"Authorization": f"{scheme} {server.token}"}).status == 401
    assert server.ask("/", {"X-HTTP-Method-Override": "DELETE"}).status == 401
    assert server.ask("/static/style.css", {}).status == 401


def test_responses_are_not_cached_or_shared_across_origins_and_reflect_no_script(
    server: Server,
) -> None:
    for path in ("/", "/api/v1/banks", "/nowhere", "/api/v1/recall"):
        got = server.ask(path)
        assert got.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in got.headers
        assert got.headers["x-frame-options"] == "DENY"
    page = {"Authorization": f"Bearer {server.token}", "Accept": "text/html"}
    shown = server.ask("/sessions/%3Cscript%3Ealert(1)%3C%2Fscript%3E", page)
    assert shown.status == 404 and "<script>alert" not in shown.text
    options = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    assert server.ask("/api/v1/undo", options, method="OPTIONS").status == 403


def test_the_server_listens_on_the_loopback_address_only(tmp_path: Path) -> None:
    with serving(make_home(tmp_path), tmp_path) as server:
        port = urlsplit(server.url).port
        ours = [
            line.laddr.ip
            for line in psutil.net_connections("inet")
            if line.status == psutil.CONN_LISTEN and line.laddr and line.laddr.port == port
        ]
    assert "127.0.0.1" in ours and set(ours) <= {"127.0.0.1", "::1"}


ATTACK = """<!doctype html><title>evil</title><body><script>
const target = "%s";
const got = window.got = {};
async function tried(name, what) {
  try { got[name] = String(await what()); } catch (error) { got[name] = "refused"; }
}
const json = {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"},
  body: JSON.stringify({text: "evil was here", bank: "evil"})};
const plain = {...json, headers: {"Content-Type": "text/plain"}};
function loaded(tag, path) {
  return new Promise((yes, no) => {
    const node = document.createElement(tag);
    node.onload = () => yes("loaded"); node.onerror = () => no(new Error("no"));
    node[tag === "link" ? "href" : "src"] = target + path;
    if (tag === "link") node.rel = "stylesheet";
    document.body.append(node);
  });
}
function posted() {
  return new Promise((yes) => {
    const frame = document.createElement("iframe"); frame.name = "hidden";
    const form = document.createElement("form");
    form.method = "post"; form.action = target + "/api/v1/memories"; form.target = "hidden";
    form.enctype = "text/plain";
    const input = document.createElement("input");
    input.name = '{"text": "evil was here", "bank": "evil", "x": "'; input.value = '"}';
    form.append(input);
    document.body.append(frame, form); form.submit(); setTimeout(() => yes("sent"), 700);
  });
}
function framed() {
  return new Promise((yes) => {
    const frame = document.createElement("iframe"); frame.src = target + "/sessions";
    frame.onload = () => {
      try { yes(frame.contentDocument.body.innerText); } catch (error) { yes("refused"); }
    };
    document.body.append(frame);
  });
}
(async () => {
  const cookies = {credentials: "include"};
  await tried("fetch", async () => (await fetch(target + "/api/v1/banks", cookies)).text());
  await tried("opaque", async () => (await fetch(target + "/api/v1/banks",
    {credentials: "include", mode: "no-cors"})).type + (await fetch(target + "/api/v1/banks",
    {credentials: "include", mode: "no-cors"})).status);
  await tried("json", async () => (await fetch(target + "/api/v1/memories", json)).text());
  await tried("plain", async () => (await fetch(target + "/api/v1/memories",
    {...plain, mode: "no-cors"})).status);
  await tried("graphql", async () => (await fetch(target + "/graphql",
    {...plain, mode: "no-cors", body: '{"query": "{banks{name}}"}'})).status);
  await tried("beacon", async () => {
    navigator.sendBeacon(target + "/api/v1/undo", "{}"); return "sent";
  });
  await tried("img", () => loaded("img", "/static/icon.svg"));
  await tried("script", () => loaded("script", "/static/keys.js"));
  await tried("style", () => loaded("link", "/static/style.css"));
  await tried("frame", framed);
  await tried("form", posted);
  await tried("events", () => new Promise((yes, no) => {
    const stream = "/api/v1/research/mem-0123456789/events";
    const source = new EventSource(target + stream, {withCredentials: true});
    source.onopen = () => yes("open");
    source.onerror = () => no(new Error());
  }));
  await tried("socket", () => new Promise((yes, no) => {
    const socket = new WebSocket(target.replace("http", "ws") + "/api/v1/research");
    socket.onopen = () => yes("open"); socket.onerror = () => no(new Error());
  }));
  window.over = true;
})();
</script>"""


@contextmanager
def another_site(page: str) -> Generator[str]:
    """A site on this machine too, and so of the same `site` as ours to a browser."""

    class Says(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Says) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{web.server_address[1]}"
        web.shutdown()


@pytest.fixture(params=[(), ("--plain-address",)], ids=["private name", "plain address"])
def visited(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Server]:
    """A server that a browser opens under a name of its own, or one at an address that other sites
    share, to which the browser sends the cookie along."""
    with serving(make_home(tmp_path), tmp_path, *request.param) as made:
        yield made


def test_a_page_of_another_origin_gets_no_access(visited: Server, browser: Browser) -> None:
    server = visited
    with another_site(ATTACK % server.site) as address:
        context = browser.new_context()
        page = context.new_page()
        assert page.goto(server.enter) is not None and context.cookies()
        for origin in (address, address.replace("127.0.0.1", "localhost")):
            page.goto(f"http://{origin}/")
            page.wait_for_function("window.over === true", timeout=60_000)
            got: dict[str, str] = page.evaluate("window.got")
            assert got.pop("beacon") == got.pop("form") == "sent"
            assert got.pop("opaque") in ("opaque0", "refused")
            assert got.pop("plain") in ("0", "refused") and got.pop("graphql") in ("0", "refused")
            assert got.pop("frame") in ("refused", "")
            assert set(got.values()) == {"refused"}, got
        assert page.goto(server.site) is not None and page.locator("nav").count()
        context.close()
    assert "evil" not in server.ask("/api/v1/banks").text
    assert '"undo"' not in server.ask("/api/v1/decisions").text
