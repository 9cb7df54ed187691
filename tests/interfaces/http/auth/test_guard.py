from __future__ import annotations

import asyncio
import json

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import Guard, GuardRules
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
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
    ],
)
def test_other_host_names_and_origins_are_refused(
    server: Server, headers: dict[str, str], status: int
) -> None:
    got = server.ask("/", {"Authorization": f"Bearer {server.token}", **headers})
    assert got.status == status and "Ask" not in json.loads(got.text)["error"]["message"]


def test_head_is_answered_as_get_without_a_body_but_uses_up_no_link(server: Server) -> None:
    page = server.ask("/sessions", method="HEAD")
    assert (page.status, page.text) == (200, "") and int(page.headers["content-length"]) > 1000
    link = server.new_link().removeprefix(server.site)
    assert server.ask(link, server.as_browser, method="HEAD").status == 405
    assert server.ask(link, server.as_browser).status == 303


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers at once, except for `/slow`, which it never does."""
    if scope["path"] == "/slow":
        await asyncio.Event().wait()
    await PlainTextResponse("done")(scope, receive, send)


async def _no_problem() -> str:
    return ""


def test_a_request_past_the_time_limit_is_refused_and_the_next_one_served() -> None:
    async def ask(path: str, request_s: float) -> httpx.Response:
        rules = GuardRules(frozenset({"here"}), request_s=request_s)
        guard = Guard(_answer, OwnerKeys("t" * 30), rules, _no_problem)
        headers = {"Authorization": f"Bearer {'t' * 30}"}
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get(path, headers=headers)

    late = asyncio.run(ask("/slow", 0.05))
    assert (late.status_code, late.headers["retry-after"]) == (504, "5")
    assert late.json()["error"]["code"] == "too_slow"
    assert asyncio.run(ask("/other", 60)).text == "done"


def test_a_page_may_load_and_run_only_shipped_files(server: Server) -> None:
    got = server.ask("/")
    policy = got.headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy
    assert got.headers["x-content-type-options"] == "nosniff"
    assert got.headers["cache-control"] == "no-store"
    assert "http" not in got.text.replace(server.url, "").replace("http-equiv", "")


def test_paths_outside_the_static_folder_are_not_found(server: Server) -> None:
    for path in ("/static/../site.py", "/static/%2e%2e/render.py", "/static//etc/passwd"):
        assert server.ask(path).status in (400, 404)


def test_errors_have_the_format_that_was_requested(server: Server) -> None:
    assert json.loads(server.ask("/nowhere").text)["error"]["code"] == "not_found"
    page = {"Authorization": f"Bearer {server.token}", "Accept": "text/html"}
    assert "<h1>" in server.ask("/nowhere", page).text
