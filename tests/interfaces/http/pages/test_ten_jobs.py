"""Things that people come for, done in a real browser as they would. Each may take so many
clicks, keys and fields. What it took is logged (`pytest --log-cli-level=INFO`)."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from holdfast.app.memory import Holdfast
from holdfast.settings import load_settings
from tests.support.http.browser import BrowserSession, wait_for_focus
from tests.support.http.server import Server, make_home, serving
from tests.support.http.told_session import tell_a_brief
from tests.support.transcripts import Script

_LOG = logging.getLogger(__name__)
SMS = "22df57da-e090-5039-a962-0a5c544eb68d"
OUTDATED = (
    ("Always deploy the storefront from the release branch.", "storefront release branch"),
    ("Always sign the invoices with the finance key.", "invoices finance key"),
    ("Always warm the search cache before a launch.", "search cache launch"),
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The sample sessions, one that was told a brief, and a second bank with three facts that
    somebody contradicted."""
    folder: Path = tmp_path_factory.mktemp("jobs")
    env = make_home(folder)
    with Holdfast(load_settings(env), create=False) as memory:
        tell_a_brief(memory, folder)
        words = [said for rule, about in OUTDATED for said in (rule, about)]
        paths = [_session(folder, day + 1, said) for day, said in enumerate(words)]
        memory.ingest(memory.ingestion.find(paths))
    with serving(env, folder) as made:
        yield made


def _session(folder: Path, day: int, said: str) -> Path:
    script = Script(f"{day:08}-0000-4000-8000-000000000001", cwd="/home/dev/storefront")
    script.start = script.start.replace(day=day)
    script.user(said if said.endswith(".") else f"The rule about the {said} is outdated.")
    script.assistant("Done, and everything passes.")
    return script.write(folder / "shop")


class Visitor:
    """Somebody at a page, whose clicks, keys and filled fields are counted."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.clicks = self.keys = self.fields = 0
        self._begun = time.perf_counter()

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def fill(self, what: Locator, text: str) -> None:
        what.fill(text)
        self.fields += 1

    def go(self, place: str) -> None:
        """Click a place of the navigation."""
        places = self.page.get_by_role("navigation", name="Places")
        self.click(places.get_by_role("link", name=place))

    def done(self, job: str, clicks: int, keys: int = 0, fields: int = 0) -> None:
        """Say what it took; it must not be more than was given."""
        seconds = time.perf_counter() - self._begun
        took = (self.clicks, self.keys, self.fields)
        _LOG.info("%s: %d clicks, %d keys, %d fields, %.1f s", job, *took, seconds)
        assert took == (clicks, keys, fields), job


@pytest.fixture
def visitor(browser_session: BrowserSession) -> Iterator[Visitor]:
    page = browser_session.open_page("/")
    wait_for_focus(page)
    yield Visitor(page)
    assert browser_session.problems == []


def test_learn_why_something_was_decided(visitor: Visitor) -> None:
    page = visitor.page
    visitor.fill(page.get_by_label("A question"), "Why SQLite and not Postgres?")
    visitor.press("Enter")
    expect(page.locator(".said").first).to_contain_text("only one process on one small box writes")
    visitor.done("why was it decided", clicks=0, keys=1, fields=1)


def test_go_from_an_answer_to_the_raw_line(visitor: Visitor) -> None:
    page = visitor.page
    page.goto("/?q=Why+SQLite+and+not+Postgres%3F")
    source = page.locator(".citations > li").first
    visitor.click(source.locator("summary"))
    visitor.click(source.get_by_role("link", name="Record"))
    visitor.click(page.get_by_text("Raw line"))
    expect(page.locator("pre.out")).to_contain_text("We chose SQLite over Postgres")
    visitor.done("from the answer to the raw line", clicks=3)


def test_correct_what_the_next_session_is_told(visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("Brief")
    line = page.locator(".brief li", has_text="never retry a 4xx")
    visitor.click(line.locator("summary", has_text="Correct"))
    visitor.fill(line.get_by_role("textbox"), "Never retry a 4xx, except 429.")
    visitor.click(line.get_by_role("button", name="Correct"))
    expect(page.get_by_role("status")).to_contain_text("Corrected")
    expect(page.locator(".brief li", has_text="except 429").first).to_be_visible()
    visitor.done("correct", clicks=3, fields=1)


def test_forget_something_and_take_it_back(visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("Brief")
    line = page.locator(".brief li", has_text="always put the unit")
    visitor.click(line.get_by_role("button", name="Forget"))
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    expect(line).to_have_count(0)
    visitor.click(page.get_by_role("button", name="Undo"))
    expect(page.get_by_role("status")).to_have_text("Undone.")
    expect(line).to_have_count(1)
    visitor.done("forget and undo", clicks=3)


def test_review_three_by_keys(visitor: Visitor) -> None:
    page = visitor.page
    visitor.press("g", "r")
    expect(page.get_by_role("heading", level=1)).to_have_text("Review")
    expect(page.locator("li.ruling")).to_have_count(3)
    visitor.press("j")
    for key, note, left in (("a", "Kept", 2), ("r", "Retired", 1), ("a", "Kept", 0)):
        visitor.press(key)
        expect(page.get_by_role("status")).to_contain_text(note)
        expect(page.locator("li.ruling")).to_have_count(left)
        # The keyboard is at the next one, once the page is ready for it.
        expect(page.locator("li.ruling:focus-within")).to_have_count(min(left, 1))
    visitor.done("review three by keys", clicks=0, keys=6)


def test_see_the_brief_and_what_was_used_of_one(visitor: Visitor) -> None:
    page = visitor.page
    visitor.go("Brief")
    expect(page.locator(".brief")).to_contain_text("UTC everywhere")
    visitor.go("Sessions")
    visitor.click(page.get_by_role("link", name="Print the tide table"))
    visitor.click(page.get_by_role("heading", name="Context injected 1 time"))
    visitor.click(page.get_by_role("link", name="Show it line by line"))
    used = page.locator(".brief li", has_text="UTC everywhere")
    expect(used.locator(".badge")).to_have_text("used: cited")
    visitor.done("the brief and its use", clicks=5)


def test_send_somebody_to_a_message(visitor: Visitor, browser_session: BrowserSession) -> None:
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/sessions/{SMS}")
    visitor.click(page.get_by_role("link", name="Copy link to message 8"))
    expect(page.locator("a.copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{browser_session.server.site}/sessions/{SMS}/msg/8"
    page.goto("about:blank")
    page.goto(copied)
    expect(page.locator("#msg-8:target")).to_be_in_viewport()
    visitor.done("deep link", clicks=1)
