"""Through all pages by keys alone; and banks of one name, which are told apart wherever one is
chosen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from holdfast.interfaces.ui.render import PLACES
from tests.support.http.browser import BrowserSession, accessibility_problems, wait_for_focus
from tests.support.http.forms import PageClient
from tests.support.http.server import SAMPLES, Server, make_home, serving
from tests.support.transcripts import Script

NAME = "a-gearbox-of-a-rather-long-name"
ROOTS = (f"/home/dev/red/{NAME}", f"/home/dev/blue/{NAME}")
CHOOSING = (
    *("/", "/search?q=gear", "/sessions", "/memory?tab=memories", "/entities", "/timeline"),
    *("/repos", "/status"),
)
_OPTION = re.compile(r'<option value="([0-9a-f]{16})"[^>]*>([^<]*a-gearbox[^<]*)</option>')
# Notes of everything that gets the focus whether one sees it.
_WATCH_FOCUS = """() => {
  window.focused = [];
  document.addEventListener("focusin", () => {
    const at = document.activeElement, own = getComputedStyle(at);
    const inner = at.querySelector(".ring, .column");
    const seen = (own.outlineStyle !== "none" && parseFloat(own.outlineWidth) > 0)
      || (inner && getComputedStyle(inner).stroke !== "none") || at.type === "date";
    window.focused.push([at.outerHTML.slice(0, 120), Boolean(seen && at.checkVisibility())]);
  });
}"""
_FOCUS_ALL = """() => {
  const all = document.querySelectorAll(
    "a[href], button, input:not([type=hidden]), select, textarea, summary, [tabindex='0']");
  const shown = [...all].filter((one) => one.checkVisibility());
  for (const one of shown) one.focus();
  return [shown.length, window.focused];
}"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("walking")
    told: list[Path] = []
    for number, root in enumerate(ROOTS):
        script = Script(f"{number:08}-0000-4000-8000-000000000009", cwd=root)
        script.user(f"Please oil the {root.split('/')[3]} gear, it **rattles**")
        script.assistant(f"The {root.split('/')[3]} gear is oiled because it rattled.")
        told.append(script.write(folder / "told"))
    with serving(make_home(folder, SAMPLES, *told, embed=False), folder) as made:
        yield made


def test_banks_with_the_same_name_can_be_distinguished_and_chosen(server: Server) -> None:
    client = PageClient(server)
    known: dict[str, str] = {}
    for path in CHOOSING:
        known = {words: id for id, words in _OPTION.findall(client.get(path).text)}
        assert len(known) == len(set(known.values())) == 2, path
        assert any(ROOTS[0] in words for words in known), path
    red = next(id for words, id in known.items() if "/red/" in words)
    text = client.get(f"/sessions?bank={red}").text
    assert "red gear" in text and "blue gear" not in text
    assert f'<option value="{red}" selected>' in text
    session = re.search(r'href="(/sessions/[^"?]+)"', text)
    assert session and f'"/banks/{red}"' in client.get(session.group(1)).text
    nothing = client.get(f"/search?q=xyzzyq&bank={red}").text
    assert f"No results in bank “{NAME}”" in nothing


def test_a_conversation_stays_in_the_bank_it_started_in(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/")
    page.get_by_label("A question").fill("Why was the gear oiled?")
    page.get_by_label("Bank").select_option(label=f"{NAME} ({ROOTS[1]})")
    page.get_by_role("button", name="Ask").click()
    for _ in range(2):
        page.get_by_label("Follow up").wait_for()
        expect(page.get_by_label("Bank").locator("option:checked")).to_contain_text("/blue/")
        page.get_by_label("Follow up").fill("Which gear was oiled?")
        page.get_by_role("button", name="Ask").click()
    page.get_by_label("Follow up").wait_for()
    expect(page.locator("main")).not_to_contain_text("red gear")
    assert browser_session.problems == []


def _walk(page: Page, start: str, tabs: int) -> None:
    """Press Tab some times, then focus everything that can be: after a key that looks the same."""
    page.evaluate(f"scrollTo(0, 0); document.querySelector('{start}').focus()")
    page.evaluate(_WATCH_FOCUS)
    for _ in range(tabs):
        page.keyboard.press("Tab")
    by_key: list[tuple[str, bool]] = page.evaluate("window.focused")
    assert len({told for told, _ in by_key}) > 2, page.url
    shown, stops = page.evaluate(_FOCUS_ALL)
    assert len(stops) >= shown > tabs, page.url
    assert [told for told, seen in stops if not seen] == [], page.url


@pytest.mark.slow
def test_every_page_is_reachable_by_keyboard_and_focus_is_visible(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/nowhere")  # the keys work there, too
    # All pages have the same header, with eleven stops, which is walked through once.
    start, tabs = ".brand", 20
    for address, _, key in PLACES:
        page.keyboard.press("Escape")  # the first page begins in its field
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(browser_session.server.site + address)
        wait_for_focus(page)
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        expect(page.get_by_text("through a list")).to_be_in_viewport()
        page.keyboard.press("?")
        _walk(page, start, tabs)
        start, tabs = "main", 6
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("/")
        expect(page.get_by_role("searchbox", name="Search memory")).to_be_focused()
    for path in ("/sessions", "/timeline", "/memory?tab=facts", "/entities", "/banks"):
        page.goto(path)
        stops: list[str] = []
        for key in "jjk":
            page.keyboard.press(key)
            stops.append(page.evaluate("document.activeElement.outerHTML"))
        assert stops[0] == stops[2] != stops[1] and stops[0].startswith("<a"), path
    assert len(browser_session.problems) == 1 and "404" in browser_session.problems[0]


def test_a_few_letters_lead_anywhere(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/memory?tab=facts")
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    page.keyboard.type("cache dash")
    choice = page.get_by_role("option", name="A cache for the dashboard")
    expect(choice).to_have_attribute("aria-selected", "true")
    assert accessibility_problems(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("A cache for the dashboard")
    page.keyboard.press("Meta+k")
    page.keyboard.type("tidew")
    expect(page.get_by_role("option", name="tidewatch bank")).to_be_visible()
    page.keyboard.press("ArrowUp")  # to the last, which asks, and the one before, which searches
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("“tidew”")
    page.keyboard.press("Control+k")
    page.keyboard.press("Escape")
    expect(field).to_be_hidden()
    assert browser_session.problems == []
