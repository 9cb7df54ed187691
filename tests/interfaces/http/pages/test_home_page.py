"""The first page, over the sample sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("home-page")
    env = make_home(folder)
    seen = {"": ["", "2026-10-27T00:00:00.000Z"]}
    (folder / "home" / "visits.json").write_text(json.dumps(seen))
    with serving(env, folder) as made:
        yield made


def test_an_example_question_is_one_click_from_its_answer(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/")
    expect(page.locator(".examples a")).to_have_count(3)
    page.get_by_role("link", name="What was the cause of the duplicate alerts?").click()
    expect(page.locator(".said")).to_contain_text("made from local time")
    assert browser_session.problems == []


def test_the_sessions_since_the_last_visit_are_marked(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/", scripts=False)
    latest = page.locator("#latest-sessions")
    expect(latest.get_by_role("heading")).to_have_text("Since your last visit")
    expect(latest).to_contain_text("27 Oct 2026, 00:00")
    expect(latest).to_contain_text("3 new sessions")
    expect(latest.locator(".badge", has_text="new")).to_have_count(3)
    expect(latest.locator("li").first).to_contain_text("done")
    latest.get_by_role("link", name="A second harbour").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A second harbour")


def test_capture_and_reviews_lead_to_their_pages(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/", scripts=False)
    expect(page.locator("#waiting")).to_contain_text("Nothing to review.")
    page.locator("#capture").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Health")


def test_the_home_page_is_accessible_on_every_screen(browser_session: BrowserSession) -> None:
    assert accessibility_problems_in_opposite_layouts(browser_session, "/") == []
    assert browser_session.problems == []
