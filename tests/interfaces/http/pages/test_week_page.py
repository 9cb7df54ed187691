"""The page of a week, over the sample sessions."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.server import Server

ALERTS = "/week?of=2026-10-28"


def test_a_week_tells_what_was_done_decided_and_left_open(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(ALERTS, scripts=False)
    expect(page.get_by_role("heading", level=1)).to_have_text("Week of 26 Oct 2026")
    expect(page.locator("#done")).to_contain_text("Double alerts after the clock change")
    expect(page.locator("#done")).not_to_contain_text("A second harbour")
    expect(page.locator("#decided")).to_contain_text("UTC everywhere")
    expect(page.locator("#open")).to_contain_text("on both sides of the clock change")
    expect(page.locator("#wrong")).to_contain_text("Nothing was corrected")
    expect(page.locator("rect.sort-0")).to_have_count(3)  # two days, and the legend
    page.locator("#decided").get_by_role("link", name="UTC everywhere").click()
    expect(page.locator("article.turn", has_text="UTC everywhere")).to_be_visible()
    assert browser_session.problems == []


def test_a_line_of_a_week_names_its_session(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(ALERTS, scripts=False)
    line = page.locator("#decided li", has_text="UTC everywhere")
    line.get_by_role("link", name="Double alerts after the clock change").click()
    title = "Double alerts after the clock change"
    expect(page.get_by_role("heading", level=1)).to_have_text(title)


def test_weeks_are_walked_through_and_filtered_by_bank(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/week")
    expect(page.get_by_role("heading", level=1)).to_have_text("Week of 9 Nov 2026")
    page.get_by_role("link", name="Previous week").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Week of 2 Nov 2026")
    expect(page.locator("#done")).to_contain_text("Nightly backups")
    page.get_by_label("Bank", exact=True).select_option(label="tidewatch")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**bank=*")
    expect(page.locator("#done")).to_contain_text("Nightly backups")


def test_a_week_is_copied_as_markdown(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(ALERTS)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy as Markdown").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("# 2026-10-26 to ") and "## What was decided" in copied


def test_a_question_for_a_time_leads_to_its_page(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/?q=What+was+done+in+October+2026%3F", scripts=False)
    page.get_by_role("link", name="Show the whole period").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("1 Oct 2026 to 31 Oct 2026")
    expect(page.locator("#done")).to_contain_text("SMS alerts")
    expect(page.locator("#done")).not_to_contain_text("Nightly backups")


def test_a_question_for_a_time_without_sessions_leads_to_its_page_in_its_bank(
    server: Server,
) -> None:
    got = server.ask("/?q=What+was+done+in+March+2019%3F&bank=tidewatch")
    assert "/week?since=2019-03-01&amp;until=2019-03-31&amp;bank=tidewatch" in got.text


def test_a_question_for_more_than_a_time_does_not(server: Server) -> None:
    got = server.ask("/?q=Why+did+we+choose+SQLite+in+September+2026%3F")
    assert got.status == 200 and "/week?since" not in got.text


def test_a_bar_of_the_home_page_leads_to_its_week(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/")
    page.get_by_role("link", name="2026-10-26: 2 sessions").click(force=True)
    expect(page.get_by_role("heading", level=1)).to_have_text("Week of 26 Oct 2026")


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("of=yesterday", 400), ("of=2026-13-45", 400), ("bank=nobody", 404), ("of=0001-01-01", 400),
        ("of=9999-12-31", 400), ("since=2026-11-12&until=2020-01-01", 200),
        ("since=1950-01-01", 200),
    ],
)  # fmt: skip
def test_a_week_that_cannot_be_is_refused(server: Server, query: str, status: int) -> None:
    assert server.ask(f"/week?{query}").status == status


def test_the_week_page_is_accessible(browser_session: BrowserSession) -> None:
    assert accessibility_problems_in_opposite_layouts(browser_session, ALERTS) == []
    assert browser_session.problems == []
