"""The page that says what the memory was worth, and what that cannot show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.settings import Settings
from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.server import Server, make_home, serving

EVIL = "<script>alert(1)</script> said otherwise"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("worth")
    env = make_home(folder)
    with (
        Holdfast(Settings(folder / "home", folder / "claude")) as memory,
        (store := memory.store).transaction(),
    ):
        for number, use in enumerate(
            (InjectionUse.CITED, InjectionUse.FILE, InjectionUse.IGNORED, InjectionUse.CONTRADICTED)
        ):
            kind = InjectionKind.START if number else InjectionKind.ERROR
            one = Injection(
                *(f"i{number}", "", "s", utc_now(), kind, 800, ("holdfast://turn/x",)),
                *(True, use, EVIL if use is InjectionUse.CONTRADICTED else ""),
            )
            store.injections.add(one)
            store.injections.record_outcome(one)
    with serving(env, folder) as made:
        yield made


def test_the_page_shows_the_numbers_of_the_ledger(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/worth")
    words = page.locator("main").inner_text()
    assert "50%" in words and "of 4 judged texts were used" in words
    assert "an error occurred" in words and "cost nothing" in words
    assert "there is no session without memory to compare with" in words
    assert "start, 800 characters, 1 record\n" in f"{words}\n"
    page.get_by_label("Days").select_option("7")
    page.get_by_role("button", name="Show").click()
    page.wait_for_url("**days=7*")
    assert browser_session.problems == []


def test_the_page_is_accessible_on_every_screen_and_color_scheme(
    browser_session: BrowserSession,
) -> None:
    assert accessibility_problems_in_opposite_layouts(browser_session, "/worth") == []


def test_text_of_sessions_is_escaped(server: Server) -> None:
    got = server.ask("/worth")
    assert got.status == 200 and "<script>alert" not in got.text and "said otherwise" in got.text
    assert server.ask("/worth?days=9999999").status == 200
    assert server.ask("/worth?days=x").status == 422
    assert server.ask("/worth?bank=nobody").status == 404
