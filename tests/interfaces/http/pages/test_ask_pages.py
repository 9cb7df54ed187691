from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.support.http.browser import (
    BrowserSession,
    wait_for_focus,
)
from tests.support.http.hostile_sessions import write_hostile_session
from tests.support.http.server import SAMPLES, Server, make_home, serving

WHY = "Why SQLite and not Postgres?"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("ask")
    more = folder / "more"
    more.mkdir()
    with serving(
        make_home(folder, SAMPLES, write_hostile_session(more), embed=False), folder
    ) as made:
        yield made


def _ask(page: Page, question: str) -> None:
    page.locator("main input[name=q]").fill(question)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator("#latest .badges").first).to_contain_text("confidence")


def test_a_question_is_answered_and_its_citations_open_in_place(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/")
    wait_for_focus(page)
    page.keyboard.type(WHY)
    page.keyboard.press("Enter")
    expect(page.locator(".said")).to_contain_text("We chose SQLite over Postgres")
    assert "/research/mem-" in page.url
    page.locator(".said sup a").first.click()
    source = page.locator(".citations > li").first
    expect(source.locator(".it")).to_contain_text("only one process on one small box writes")
    expect(source.locator(".near").first).to_be_visible()
    source.get_by_role("link", name="Open in its session").click()
    expect(page.locator("#msg-4")).to_be_in_viewport()
    assert browser_session.problems == []


def test_follow_up_questions_stay_in_one_conversation(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/")
    _ask(page, WHY)
    talk = page.url.partition("#")[0]
    _ask(page, "And the cache in Redis?")
    assert page.url.startswith(talk)
    expect(page.locator("section.answer")).to_have_count(2)
    expect(page.get_by_role("heading", level=1)).to_have_text(WHY)
    page.goto("/")
    recent = page.locator(".asked li").first
    expect(recent).to_contain_text(WHY)
    expect(recent).to_contain_text("and 1 more")
    page.goto(talk)
    page.get_by_role("button", name="Delete this conversation").click()
    expect(page.get_by_role("status")).to_have_text("The conversation is deleted.")
    page.goto(talk)
    expect(page.get_by_role("heading", level=1)).to_contain_text("There is no session")


def test_everything_can_be_asked_and_read_without_scripts(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/", scripts=False)
    _ask(page, "What was the root cause of the duplicate alerts?")
    page.locator(".citations summary").first.click()
    expect(page.locator(".citations .it").first).to_be_visible()
    page.goto("/?q=Why+SQLite+and+not+Postgres")
    expect(page.locator(".said")).to_contain_text("We chose SQLite over Postgres")


def test_an_answer_can_be_marked_useful_once(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/", scripts=False)
    _ask(page, "Do we still cache API responses in Redis?")
    page.get_by_role("button", name="It was useful").click()
    expect(page.get_by_role("status")).to_contain_text("Noted")
    expect(page.get_by_text("You found this useful.")).to_be_visible()
    assert page.get_by_role("button", name="It was useful").count() == 0


def test_an_answer_links_directly_to_the_correction_of_its_sources(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/?q=Why+SQLite+and+not+Postgres")
    page.locator(".citations summary").first.click()
    page.get_by_role("link", name="Wrong? Correct it").first.click()
    expect(page.get_by_label("Correct it")).to_be_visible()


def test_text_in_an_answer_is_never_executed(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(
        "/?q=what+does+the+zeppelin+deploy+use+%3Cscript%3Ealert(1)%3C/script%3E"
    )
    for fold in page.locator("details").all():
        fold.evaluate("node => { node.open = true; }")
    expect(page.locator(".citations")).to_contain_text("window.owned")
    assert page.evaluate("window.owned") is None
    assert page.locator("main script, main img, main iframe, main svg, [onclick]").count() == 0
    assert browser_session.problems == []
