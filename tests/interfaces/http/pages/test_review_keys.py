"""Deciding what waits by keys alone, and several records at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from holdfast.app.memory import Holdfast
from holdfast.model.knowledge import ReviewState
from holdfast.settings import load_settings
from tests.interfaces.http.pages.test_review_page import RULES, TAUGHT, fill
from tests.refine.rules.test_rules import project, put
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server, empty_home, serving


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return project(tmp_path_factory.mktemp("keys"))


@pytest.fixture(scope="module")
def server(root: Path) -> Iterator[Server]:
    env = empty_home(root.parent)
    with Holdfast(load_settings(env)) as memory:
        fill(memory, root)
    with serving(env, root.parent) as made:
        yield made


def cards(page: Page) -> list[str]:
    return page.locator("li.ruling blockquote.words").all_inner_texts()


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_three_contradictions_are_decided_by_keys_without_losing_the_place(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/review?tab=facts")
    before = cards(page)
    assert len(before) == 3
    # The first key only goes to the first record: nothing is decided that nobody looked at.
    press(page, "r")
    assert cards(page) == before
    press(page, "j", "a")
    expect(page.get_by_role("status")).to_have_text("Kept.")
    # The keyboard is at the record that took the place of the decided one.
    expect(page.locator("li.ruling:focus-within")).to_contain_text(before[2])
    press(page, "k", "r")
    expect(page.get_by_role("status")).to_contain_text("Retired")
    expect(page.locator("li.ruling:focus-within")).to_contain_text(before[2])
    press(page, "e")
    page.keyboard.type("In other words: ")
    expect(page.get_by_label("New text")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Corrected")
    with open_server_memory(browser_session.server) as memory:
        states = sorted(review.state for review in memory.browse.reviews("all", all=True))
    assert states == [ReviewState.KEPT, ReviewState.KEPT, ReviewState.RETIRED]
    assert browser_session.problems == []


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_ticked_is_decided_at_once_and_undone_at_once(
    browser_session: BrowserSession, scripts: bool
) -> None:
    page = browser_session.open_page("/review?tab=agents", scripts=scripts)
    before = cards(page)
    wanted = ("The crane is out of order.", "The gate sticks.")
    for words in wanted:
        page.locator("li.ruling", has_text=words).get_by_role("checkbox").check()
    if scripts:
        press(page, "r")
    else:
        page.get_by_role("button", name="Reject selected").click()
    expect(page.get_by_role("status")).to_have_text("All selected items are decided.")
    assert sorted(cards(page)) == sorted(words for words in before if words not in wanted)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("Undone.")
    assert sorted(cards(page)) == sorted(before)


def test_several_rules_of_one_file_are_written_and_one_that_changed_is_left(
    browser_session: BrowserSession, root: Path
) -> None:
    page = browser_session.open_page("/review?tab=agents")
    put(root, f"{RULES}/logging.md", "# Logging\n\n- Changed meanwhile.\n")
    for words in (TAUGHT["logging"], TAUGHT["naming"], TAUGHT["release"]):
        page.locator("li.ruling", has_text=words).get_by_role("checkbox").check()
    page.get_by_role("button", name="Keep selected").click()
    expect(page.get_by_role("status")).to_contain_text("except the items still listed")
    assert TAUGHT["naming"] in (root / RULES / "naming.md").read_text()
    assert TAUGHT["release"] in (root / RULES / "release.md").read_text()
    assert TAUGHT["logging"] not in (root / RULES / "logging.md").read_text()
    assert TAUGHT["logging"] in cards(page)


def test_a_decision_about_nothing_or_about_something_unknown_changes_nothing(
    server: Server,
) -> None:
    client = PageClient(server)
    assert client.post("/do/several", {"act": "approve"}).status == 400
    for wrong in ("approve=scrub&pattern=x", "approve=dance", ""):
        assert client.post("/do/several", {"act": "approve", "pick": wrong}).status == 400
    assert client.post("/do/several", {"act": "approve"}, key="").status == 400
    for name in ("promote approve", "review decide", "review adopt", "confirm"):
        pick = urlencode({"approve": name, "id": "00ff", "approve.keep": "true", "seen": "x"})
        got = client.post("/do/several", {"act": "approve", "pick": pick})
        assert got.status == 303 and "note=several_left" in got.headers["location"], name
