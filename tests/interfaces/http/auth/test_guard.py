from __future__ import annotations

import asyncio
import io
import json

import pytest
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import Guard, GuardRules
from holdfast.interfaces.http.core.metrics import Metrics
from holdfast.interfaces.http.server.logs import Log
from holdfast.interfaces.http.server.request_monitor import MonitorOptions, RequestMonitor
from holdfast.principal import Principal
from tests.support.http.server import Server

PAGES = ("/", "/sessions", "/api/v1/openapi.json")


@pytest.mark.parametrize("path", PAGES)
def test_a_request_without_a_key_is_refused(server: Server, path: str) -> None:
    assert server.ask(path, {}).status == 401
    assert server.ask(path, {"Authorization": "Bearer wrong"}).status == 401
    assert server.ask(path, {"Cookie": "holdfast=guess"}).status == 401
    assert server.ask(path).status == 200


def test_a_sign_in_link_works_once_for_one_browser(server: Server) -> None:
    path = server.enter.removeprefix(server.site)
    # Under an address that other servers share, the link gives no cookie, and is not used up.
    assert server.ask(path, {}).status == 401
    got = server.ask(path, server.as_browser)
    cookie = got.headers["set-cookie"]
    assert got.status == 303 and "HttpOnly" in cookie and "SameSite=strict" in cookie
    mine = {**server.as_browser, "Cookie": cookie.partition(";")[0]}
    assert server.ask("/", mine).status == 200
    assert server.ask("/", {"Cookie": mine["Cookie"]}).status == 401
    assert server.ask(path, server.as_browser).status == 403
    # What changes something must come from a page of ours.
    assert server.ask("/", mine, b"", "POST").status == 403
    assert server.ask("/", {**mine, "Origin": "https://evil.example"}).status == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 421),
        ({"Host": "evil.example:80"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
)
def test_other_host_names_and_origins_are_refused(
    server: Server, headers: dict[str, str], status: int
) -> None:
    got = server.ask("/", {"Authorization": f"Bearer {server.token}", **headers})
    assert got.status == status and "Ask" not in json.loads(got.text)["error"]["message"]


def test_a_page_may_load_and_run_only_shipped_files(server: Server) -> None:
    got = server.ask("/")
    policy = got.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cache-control"] == "no-store"
    assert "http" not in got.text.replace(server.url, "").replace("http-equiv", "")


def test_a_form_key_is_valid_only_for_its_own_cookie() -> None:
    keys = OwnerKeys("t" * 30)
    assert keys.enter("guess") is None
    cookie = keys.enter(keys.make_link_key())
    assert cookie is not None and keys.by_cookie(cookie)
    assert keys.is_valid_form_key(cookie, keys.form_key(cookie))
    assert not keys.is_valid_form_key(cookie, keys.form_key("other"))


def test_a_request_that_is_too_long_is_refused(server: Server) -> None:
    assert server.ask("/", body=b"x" * 1_100_000, method="POST").status in (413, 0)


def test_paths_outside_the_static_folder_are_not_found(server: Server) -> None:
    for path in ("/static/../site.py", "/static/%2e%2e/render.py", "/static//etc/passwd"):
        assert server.ask(path).status in (400, 404)


def test_errors_have_the_format_that_was_requested(server: Server) -> None:
    assert json.loads(server.ask("/nowhere").text)["error"]["code"] == "not_found"
    page = {"Authorization": f"Bearer {server.token}", "Accept": "text/html"}
    assert "<h1>" in server.ask("/nowhere", page).text


class _Everybody:
    async def refresh(self, shown: str) -> bool:
        """Nothing changes."""
        return True

    def by_token(self, shown: str) -> Principal | None:
        return Principal(shown, key=shown)

    def by_cookie(self, shown: str) -> Principal | None:
        return None


@pytest.mark.parametrize("accept", ["application/json", "text/html"])
@pytest.mark.parametrize(("rate", "after"), [(50.0, "1"), (0.1, "10")])
def test_a_client_over_the_rate_limit_is_told_when_to_retry(
    accept: str, rate: float, after: str
) -> None:
    guard = Guard(
        PlainTextResponse("in"), _Everybody(), GuardRules(rate=rate, burst=1.0), lambda: 0.0
    )
    said = {"host": "here", "authorization": "Bearer me", "accept": accept}
    headers = [(name.encode(), value.encode()) for name, value in said.items()]
    scope = {"type": "http", "method": "GET", "path": "/", "headers": headers}
    told: list[Message] = []

    async def send(message: Message) -> None:
        told.append(message)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def ask_twice() -> None:
        for _ in range(2):
            await guard({**scope}, receive, send)

    asyncio.run(ask_twice())
    begun = [message for message in told if message["type"] == "http.response.start"]
    assert [message["status"] for message in begun] == [200, 429]
    assert Headers(raw=begun[1]["headers"])["retry-after"] == after
    seconds = "1 second." if after == "1" else f"{after} seconds."
    assert f"Ask again in {seconds}".encode() in told[-1]["body"]


def test_readiness_is_checked_at_most_once_a_second() -> None:
    looks: list[int] = []

    async def readiness() -> str:
        looks.append(1)
        return ""

    async def nobody(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("not handed on")

    async def drop(message: Message) -> None:
        """Nobody reads it."""

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def ask() -> None:
        now_s = 0.0
        options = MonitorOptions(Metrics(), Log(out=io.StringIO()), clock=lambda: now_s)
        watch = RequestMonitor(nobody, options, readiness)
        scope: Scope = {"type": "http", "method": "GET", "path": "/ready", "headers": []}
        for now_s, expected in ((0.0, 1), (0.9, 1), (1.0, 2), (1.9, 2)):
            await asyncio.gather(*(watch({**scope}, receive, drop) for _ in range(50)))
            assert len(looks) == expected, now_s

    asyncio.run(ask())
