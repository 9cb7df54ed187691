"""The first page, over the sample sessions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("home-page")
    with serving(make_home(folder), folder) as made:
        yield made


def test_capture_and_reviews_lead_to_their_pages(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/", scripts=False)
    expect(page.locator("#waiting")).to_contain_text("Nothing to review.")
    page.locator("#capture").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Health")


def test_the_home_page_is_accessible_on_every_screen(browser_session: BrowserSession) -> None:
    assert accessibility_problems_in_opposite_layouts(browser_session, "/") == []
    assert browser_session.problems == []
