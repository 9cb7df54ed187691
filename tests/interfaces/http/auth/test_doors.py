"""Ways into `holdfast browse` that must stay shut, and ways that must stay open."""

from __future__ import annotations

import socket
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from holdfast.interfaces.http.auth.browser_token import private_host_name
from tests.interfaces.http.auth.test_attacks import another_site, raw, request, status
from tests.support.command_line import run_command
from tests.support.http.browser import accessibility_problems
from tests.support.http.server import Server, make_home, serving

LINK = '<!doctype html><title>elsewhere</title><a id="go" href="%s">look</a>'
FRAME = '<!doctype html><title>elsewhere</title><iframe src="%s"></iframe>'


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose limits these tests use up."""
    folder: Path = tmp_path_factory.mktemp("door")
    with serving(make_home(folder), folder) as made:
        yield made


@contextmanager
def window(browser: Browser) -> Generator[BrowserContext]:
    """A browser that was never here."""
    context = browser.new_context()
    yield context
    context.close()


def port_of(server: Server) -> int:
    found = urlsplit(server.url).port
    assert found is not None
    return found


# Who asks on whose behalf


def test_nobody_may_say_on_whose_behalf_browse_is_asked(tmp_path: Path) -> None:
    with serving(make_home(tmp_path), tmp_path) as server:
        secure = {"Origin": server.url.replace("http:", "https:"), "X-Forwarded-Proto": "https"}
        key = {"Authorization": f"Bearer {server.token}"}
        assert server.ask("/", {**key, **secure}).status == 403
        assert server.ask("/", {**key, "Origin": server.url}).status == 200


# The cookie


def test_other_servers_of_this_machine_are_not_sent_the_cookie(
    door: Server, browser: Browser
) -> None:
    with window(browser) as context, another_site("<title>other</title>") as other:
        page = context.new_page()
        page.goto(door.new_link())
        assert page.title().endswith("Holdfast") and context.cookies()
        for host in (other, other.replace("127.0.0.1", "localhost")):
            with page.expect_request(f"http://{host}/") as asked:
                page.goto(f"http://{host}/")
            assert "cookie" not in asked.value.all_headers()
        assert [one.get("domain") for one in context.cookies()] == [urlsplit(door.site).hostname]


def test_the_name_of_the_pages_is_secret_and_stays_the_same() -> None:
    name = private_host_name("token")
    assert name == private_host_name("token") != private_host_name("other")
    assert name.startswith("holdfast-") and name.endswith(".localhost") and len(name) < 60
    assert "token" not in name


def test_a_cookie_counts_only_under_the_name_that_it_was_given_for(door: Server) -> None:
    path = door.new_link().removeprefix(door.site)
    cookie = door.ask(path, door.as_browser).headers["set-cookie"].partition(";")[0]
    assert door.ask("/", {**door.as_browser, "Cookie": cookie}).status == 200
    for host in (f"127.0.0.1:{port_of(door)}", f"localhost:{port_of(door)}"):
        assert door.ask("/", {"Host": host, "Cookie": cookie}).status == 401


def test_nobody_else_can_listen_where_a_browser_looks_for_the_server(door: Server) -> None:
    """A name below localhost is either loopback address to a browser, and it tries ::1 first."""
    for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        if family == socket.AF_INET6 and not _has_ipv6():
            continue
        with socket.socket(family) as other, pytest.raises(OSError, match="in use"):
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            other.bind((address, port_of(door)))


def _has_ipv6() -> bool:
    with suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return True
    return False


# Coming from elsewhere


def test_a_link_on_another_page_leads_to_a_page_that_goes_on(
    door: Server, browser: Browser
) -> None:
    asked = "/sessions?agent=claude-code&branch=a%26b%22"
    target = f"{door.site}{asked}".replace("&", "&amp;")
    with window(browser) as context, another_site(LINK % target) as other:
        page = context.new_page()
        page.goto(door.new_link())
        page.goto(f"http://{other}/")
        page.click("#go")
        expect(page.get_by_role("heading")).to_have_text("You followed a link from another site.")
        assert _is_styled(page) and not _problems(page)
        onward = page.get_by_role("link", name="Continue")
        assert onward.get_attribute("href") == asked
        onward.click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Sessions")
        assert page.url == door.site + asked


def test_only_a_visit_from_elsewhere_gets_that_page(door: Server, browser: Browser) -> None:
    with window(browser) as context, another_site(FRAME % f"{door.site}/sessions") as other:
        page = context.new_page()
        page.goto(door.new_link())
        page.goto(f"http://{other}/")
        shown = [frame.inner_text("body") for frame in page.frames[1:]]
        assert not any("Continue" in text for text in shown)
    headers = {**door.as_browser, "Accept": "text/html", "Sec-Fetch-Site": "cross-site"}
    for mode, kind, method in (
        ("cors", "empty", "GET"),
        ("navigate", "iframe", "GET"),
        ("navigate", "document", "POST"),
        ("no-cors", "script", "GET"),
    ):
        sent = {**headers, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind}
        got = door.ask("/sessions", sent, b"" if method == "POST" else None, method)
        assert got.status == 403 and "Continue" not in got.text


@pytest.mark.parametrize("path", ["//evil.example/x", "/\\evil.example", "///evil.example"])
def test_the_page_never_leads_to_another_server(door: Server, path: str) -> None:
    visit = ("Accept: text/html", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate")
    host = f"Host: {door.as_browser['Host']}"
    heard = raw(door, request(door, host, *visit, path=path))
    assert status(heard) == 403
    href = heard.partition('<a class="button" href="')[2].partition('"')[0]
    assert href.startswith("/") and not href.startswith(("//", "/\\"))


def test_words_of_an_address_are_shown_as_words(door: Server) -> None:
    visit = {
        **door.as_browser,
        "Accept": "text/html",
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
    }
    got = door.ask("/search?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E", visit)
    assert got.status == 403 and "<script" not in got.text
    assert "unsafe" not in got.headers["content-security-policy"]


def test_a_browser_that_is_not_signed_in_gets_a_page_that_says_what_to_do(
    door: Server, browser: Browser
) -> None:
    with window(browser) as context:
        page = context.new_page()
        loaded: list[str] = []
        page.on("request", lambda asked: loaded.append(asked.url))
        for path in ("/", "/enter?key=used"):
            answer = page.goto(door.site + path)
            assert answer is not None and answer.status in (401, 403)
            assert "holdfast browse" in page.inner_text("main") and _is_styled(page)
            assert not _problems(page)
        assert {urlsplit(url).path for url in loaded} <= {"/", "/enter", "/favicon.ico"}


def _problems(page: Page) -> list[str]:
    """What is not accessible; a page that leads to one place has no navigation."""
    return [found for found in accessibility_problems(page) if found != "no landmark nav"]


def _is_styled(page: Page) -> bool:
    """Whether the style sheet counts: without one, the body has a margin."""
    margin: str = page.evaluate("getComputedStyle(document.body).margin")
    return margin == "0px"


# New links


def test_a_running_server_hands_out_links_that_each_work_once(door: Server) -> None:
    links = [door.new_link() for _ in range(3)]
    assert len(set(links)) == 3
    for link in links:
        path = link.removeprefix(door.site)
        assert door.ask(path, door.as_browser).status == 303
        assert door.ask(path, door.as_browser).status == 403


def test_the_command_says_that_a_server_runs_already(door: Server) -> None:
    made = run_command(["browse", "--no-open", "--port", str(port_of(door))], door.env)
    assert made.returncode == 0 and f"Open {door.site}/enter?key=" in made.stdout
    assert "already running" in made.stdout


def test_a_server_that_was_killed_is_not_waited_for(tmp_path: Path) -> None:
    env = make_home(tmp_path)
    socket_file = Path(env["HOLDFAST_HOME"]) / "browse.sock"
    with serving(env, tmp_path) as server:
        assert socket_file.is_socket() and not socket_file.stat().st_mode & 0o077
        path = server.enter.removeprefix(server.site)
    assert not socket_file.exists()
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_file))  # nobody listens on it any more
    with serving(env, tmp_path) as server:
        assert server.ask(path, server.as_browser).status == 403
        assert server.new_link()
