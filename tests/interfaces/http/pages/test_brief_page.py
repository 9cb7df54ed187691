"""The page of the next brief, and the page of what a session was told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from holdfast.app.memory import Holdfast
from holdfast.settings import load_settings
from tests.support.http.browser import BrowserSession
from tests.support.http.server import Server, make_home, serving
from tests.support.http.told_session import TOLD_SESSION, tell_a_brief

EVIL = "<script>window.owned = 1</script>"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The sample sessions, and one that was told a brief and cited a line of it."""
    folder: Path = tmp_path_factory.mktemp("brief-page")
    env = make_home(folder)
    with Holdfast(load_settings(env), create=False) as memory:
        tell_a_brief(memory, folder, f"{EVIL} (fact/00000000)")
    with serving(env, folder) as made:
        yield made


def test_a_line_of_the_brief_is_corrected_and_forgotten_in_place(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/brief", scripts=False)
    expect(page.locator("main")).to_contain_text("the start of the next session of tidewatch")
    line = page.locator(".brief li", has_text="never retry a 4xx")
    line.get_by_text("Correct", exact=True).first.click()
    line.get_by_role("textbox").fill("Never retry a 4xx, except 429.")
    line.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Brief")
    expect(page.get_by_role("status")).to_contain_text("Corrected")
    corrected = page.locator(".brief li", has_text="Never retry a 4xx, except 429.")
    expect(corrected).to_have_count(1)
    corrected.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    expect(corrected).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    expect(corrected).to_have_count(1)
    assert browser_session.problems == []


def test_a_line_of_the_brief_leads_to_its_record(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/brief?bank=tidewatch")
    page.get_by_role("link", name="always put the unit in a column's name").click()
    expect(page.locator("h1")).to_contain_text("always put the unit in a column's name")


def test_the_text_can_be_copied_as_the_session_gets_it(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/brief")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('<holdfast-brief id="start-')
    assert copied.endswith("</holdfast-brief>")


def test_a_session_shows_what_it_was_told_and_what_it_used(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(f"/sessions/{TOLD_SESSION}")
    page.get_by_role("heading", name="Context injected 1 time").click()
    page.get_by_role("link", name="Show it line by line").click()
    used = page.locator(".brief li", has_text="UTC everywhere")
    expect(used.locator(".badge")).to_have_text("used: cited")
    expect(page.locator(".brief li", has_text="put the unit").locator(".badge")).to_have_text(
        "ignored"
    )
    expect(page.locator(".brief")).to_contain_text(EVIL)
    assert page.evaluate("window.owned") is None
    used.get_by_role("link", name="where", exact=True).click()
    expect(page.locator("#msg-2")).to_be_in_viewport()
    assert browser_session.problems == []


def test_an_unknown_bank_or_session_has_no_brief(server: Server) -> None:
    assert server.ask("/brief?bank=nobody").status == 404
    assert server.ask("/sessions/nobody/injected").status == 404
