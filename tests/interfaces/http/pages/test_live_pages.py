"""Pages that bring themselves up to date while they are looked at, in a real browser."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, expect

from holdfast.app.views.last_visit import note_visit
from holdfast.model.trust import Trust
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import open_server_memory
from tests.support.http.server import Server
from tests.support.transcripts import Script

TIDEWATCH = "/home/ada/tidewatch"


def _capture(server: Server, folder: Path, number: int) -> None:
    """A session ends, and is read: a later one than all with lower numbers."""
    session = f"7777777{number}-0000-4000-8000-000000000001"
    ended = datetime(2026, 11, 13 + number, 9, 0, tzinfo=UTC)
    script = Script(session, cwd=TIDEWATCH, start=ended)
    script.user(f"Please paint buoy {number}, it is rusty")
    script.assistant(f"Buoy {number} is painted.")
    path = script.write(folder / "more")
    with open_server_memory(server) as memory:
        memory.ingest(memory.ingestion.find([path]))


def test_new_sessions_are_offered_and_nothing_moves_until_they_are_wanted(
    browser_session: BrowserSession, tmp_path: Path
) -> None:
    pages = [browser_session.open_page(path) for path in ("/", "/sessions")]
    listed = [page.locator("[data-live-list] [data-id]") for page in pages]
    pills = [page.get_by_role("status").get_by_role("button") for page in pages]
    before = [(every.count(), *_place(every.first)) for every in listed]
    _capture(browser_session.server, tmp_path, 1)
    for pill in pills:
        expect(pill).to_have_text("1 new")
    assert [(every.count(), *_place(every.first)) for every in listed] == before
    _capture(browser_session.server, tmp_path, 2)
    for pill, every, (count, *_) in zip(pills, listed, before, strict=True):
        expect(pill).to_have_text("2 new")
        pill.click()
        expect(every.first).to_contain_text("buoy 2")
        expect(pill).to_have_count(0)
        assert every.count() >= min(count, 8)
    assert browser_session.problems == []


def _place(row: Locator) -> tuple[FloatRect | None, str]:
    """Where a row is, and its words."""
    return row.bounding_box(), row.inner_text()


def test_the_number_of_reviews_follows_on_every_page(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/timeline")
    count = page.locator('header nav a[href="/review"] .count')
    expect(count).to_have_count(0)
    with open_server_memory(browser_session.server) as memory:
        kept = memory.remember("Gauges are read hourly.", "tidewatch", trust=Trust.ASSISTANT)
    expect(count).to_have_text("1")
    with open_server_memory(browser_session.server) as memory:
        memory.forget(kept.id, who="ada")
    expect(count).to_have_count(0)
    assert browser_session.problems == []


def test_the_health_page_counts_on(browser_session: BrowserSession, tmp_path: Path) -> None:
    page = browser_session.open_page("/status")
    sessions = page.locator("#tiles .big").first
    count = int(sessions.inner_text())
    assert count >= 11
    _capture(browser_session.server, tmp_path, 0)
    expect(sessions).to_have_text(str(count + 1))
    assert browser_session.problems == []


def test_a_page_that_updates_itself_is_no_visit(tmp_path: Path) -> None:
    assert note_visit(tmp_path, "", "2026-11-01T10:00:00Z") == ""
    assert note_visit(tmp_path, "", "2026-11-03T10:00:00Z") == "2026-11-01T10:00:00Z"
    for hour in range(11, 20):
        assert note_visit(tmp_path, "", f"2026-11-03T{hour}:00:00Z", is_look=False)
    assert note_visit(tmp_path, "", "2026-11-04T08:00:00Z") == "2026-11-03T10:00:00Z"
