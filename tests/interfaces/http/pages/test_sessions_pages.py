from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.support.http.browser import BrowserSession
from tests.support.http.hostile_sessions import (
    COMPACTED_SESSION,
    FINDABLE_SESSION,
    HOSTILE_SESSION,
    LONG_SESSION,
    write_compacted_session,
    write_findable_session,
    write_hostile_session,
    write_long_session,
)
from tests.support.http.server import SAMPLES, Server, make_home, serving

SMS = "22df57da-e090-5039-a962-0a5c544eb68d"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("sessions")
    more = folder / "more"
    more.mkdir()
    written = (
        write_hostile_session(more),
        write_long_session(more, 150),
        write_compacted_session(more),
        write_findable_session(more),
    )
    env = make_home(folder, SAMPLES, *written, embed=False)
    with serving(env, folder) as made:
        yield made


def test_sessions_are_listed_and_filtered(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/sessions")
    assert page.locator(".sessions > li").count() >= 10
    page.get_by_label("Branch").select_option("alerts")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator(".sessions > li")).to_have_count(1)
    expect(page.get_by_role("link", name="SMS alerts")).to_be_visible()
    assert "1 subagent" in page.locator(".sessions > li").inner_text()
    page.get_by_label("From", exact=True).fill("2030-01-01")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No sessions match these filters.")).to_be_visible()
    page.goto("/sessions?page=2")
    expect(page.get_by_text("No sessions match")).to_be_visible()
    assert browser_session.problems == []


def test_a_session_is_shown_as_a_conversation(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(f"/sessions/{SMS}")
    expect(page.locator("#msg-1")).to_contain_text("text the harbour master")
    call = page.locator("details.call").filter(has_text="src/tidewatch/alerts.py").first
    expect(call.locator(".added").first).to_be_hidden()
    call.locator("summary").click()
    expect(call.locator(".added").first).to_be_visible()
    nested = page.locator("#msg-2 + .nested, #msg-2 ~ .nested").first
    nested.locator("summary").click()
    nested.get_by_role("link", name="Open").click()
    expect(page.get_by_text("A subagent of")).to_be_visible()
    page.get_by_role("link", name="SMS alerts").click()
    aside = page.get_by_role("complementary")
    expect(aside.get_by_text("3 exchanges")).to_be_visible()
    expect(aside.get_by_text("Still to do: a test message")).to_be_visible()
    aside.locator("ol a").nth(1).click()
    expect(page).to_have_url(f"{browser_session.server.site}/sessions/{SMS}?at=4#msg-4")


def test_the_agents_summaries_are_shown_where_they_were_written(server: Server) -> None:
    page = server.ask(f"/sessions/{COMPACTED_SESSION}").text
    shown = ("it is stuck", "The rudder froze", "the anchor, too", "The anchor slipped")
    positions = [page.find(words, page.find('id="msg-1"')) for words in shown]
    assert -1 not in positions and positions == sorted(positions)
    assert page.count('<article class="turn summary"') == 2
    assert page.count("Agent&#39;s summary of the session so far") == 2
    assert 'id="msg-3"' in server.ask(f"/sessions/{COMPACTED_SESSION}?at=3").text


def test_redacted_text_is_marked(browser_session: BrowserSession) -> None:
    server = browser_session.server
    listed = re.findall(
        r'<a class="title"[^>]* href="([^"]+)"', server.ask("/sessions?bank=tidewatch").text
    )
    told = [path for path in listed if "Redacted" in server.ask(path).text]
    assert len(told) == 1 < len(listed)
    page = browser_session.open_page(told[0])
    expect(page.locator("mark.redacted").first).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_a_long_session_is_shown_in_windows(browser_session: BrowserSession, scripts: bool) -> None:
    page = browser_session.open_page(f"/sessions/{LONG_SESSION}", scripts=scripts)
    assert page.locator(".turn, .call").count() == 200
    page.get_by_role("link", name="Later").first.click()
    expect(page.locator("#msg-201")).to_be_visible()
    page.get_by_role("link", name="Earlier").last.click()
    expect(page.locator("#msg-1")).to_be_visible()
    page.get_by_label("Go to message").fill("590")
    page.get_by_role("button", name="Go", exact=True).click()
    expect(page.locator("#msg-590")).to_be_in_viewport()
    page.goto(f"/sessions/{LONG_SESSION}/msg/333")
    expect(page.locator("#msg-333")).to_be_in_viewport()


def test_a_link_to_a_message_opens_it_at_any_position(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(f"/sessions/{LONG_SESSION}#msg-577")
    expect(page.locator("#msg-577")).to_be_in_viewport()
    page.goto(f"/sessions/{LONG_SESSION}?at=2#msg-2")
    expect(page.locator("#msg-2")).to_have_attribute("open", "")


def test_text_of_a_session_is_never_executed(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(f"/sessions/{HOSTILE_SESSION}")
    page.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    expect(page.locator("#msg-1")).to_contain_text("<script>window.owned = 1; alert(1)</script>")
    expect(page.locator("#msg-1")).to_contain_text("a link (javascript:window.owned=1)")
    for path in (f"/sessions/{HOSTILE_SESSION}", "/sessions", "/sessions?branch=%3Cscript%3E"):
        page.goto(path)
        assert page.evaluate("window.owned") is None
        foreign = "main script, main img, main iframe, main svg, [onclick], [onerror], a[href^='j']"
        assert page.locator(foreign).count() == 0
        assert page.locator("main a[href^=http]").count() == 0
    assert browser_session.problems == []


@pytest.mark.parametrize("scripts", [True, False])
def test_words_are_found_in_a_session_of_several_windows(
    browser_session: BrowserSession, scripts: bool
) -> None:
    page = browser_session.open_page(f"/sessions/{FINDABLE_SESSION}", scripts=scripts)
    page.get_by_role("searchbox", name="Find in this session").fill("RUDDER grease")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("1 of 3 messages")
    expect(page.locator(".talk mark", has_text="rudder").first).to_be_visible()
    if scripts:
        expect(page.locator(".talk mark").first).to_be_in_viewport()
    for number in (2, 3):
        page.wait_for_load_state()  # a page that still scrolls to its message loses the click
        page.get_by_role("link", name="Next", exact=True).click()
        expect(page.get_by_role("status")).to_contain_text(f"{number} of 3")
    expect(page.locator(":target mark").first).to_be_visible()
    page.get_by_role("searchbox", name="Find in this session").fill("xyzzy <b>")
    page.get_by_role("button", name="Find", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("No results for “xyzzy <b>”")
    expect(page.get_by_role("link", name="Search all of memory")).to_be_visible()


def test_images_and_hidden_characters_are_shown_for_what_they_are(server: Server) -> None:
    page = server.ask(f"/sessions/{FINDABLE_SESSION}").text
    assert "Image #1, not kept" in page
    assert 'invoice<span class="hidden-sign" title="right-to-left override">U+202E</span>' in page
    for path in ("/sessions", "/search?q=invoice", "/", f"/sessions/{FINDABLE_SESSION}?find=open"):
        assert "\u202e" not in server.ask(path).text, path


def test_a_link_to_a_message_is_copied(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(f"/sessions/{SMS}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("link", name="Copy link to message 8").click()
    expect(page.locator("a.copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{browser_session.server.site}/sessions/{SMS}/msg/8"
    page.goto(copied)
    expect(page.locator("#msg-8:target")).to_be_in_viewport()
