from __future__ import annotations

import json

import pytest

from holdfast.interfaces.http.auth.browser_token import OwnerKeys
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
