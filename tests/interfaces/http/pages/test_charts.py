"""Charts: drawn by the server, named for screen readers, with their numbers in a table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.app.core.context import utc_now
from holdfast.app.memory import Holdfast
from holdfast.interfaces.ui.plots import by_week, duration_bars, sparkline
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.settings import Settings
from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder: Path = tmp_path_factory.mktemp("charts")
    env = make_home(folder)
    uses = (InjectionUse.CITED, InjectionUse.IGNORED, InjectionUse.CONTRADICTED)
    with (
        Holdfast(Settings(folder / "home", folder / "claude")) as memory,
        (store := memory.store).transaction(),
    ):
        for number, use in enumerate(uses):
            at = (f"i{number}", "", "s", utc_now(), InjectionKind.START)
            one = Injection(*at, 800, ("holdfast://turn/x",), True, use, "")
            store.injections.add(one)
            store.injections.record_outcome(one)
    with serving(env, folder) as made:
        yield made


def _session(server: Server) -> str:
    found = json.loads(server.ask("/sessions.json").text)["rows"]
    return max(found, key=lambda row: row["exchanges"])["id"]


def test_health_shows_what_was_captured_by_day(server: Server) -> None:
    page = server.ask("/status").text
    assert 'aria-label="Turns captured by day and bank' in page
    assert '<caption class="sr">Turns captured by day and bank</caption>' in page
    server.ask("/status")
    assert re.search(r'aria-label="the latest \d+, up to \d+ ms"', server.ask("/status").text)


def test_worth_shows_used_ignored_and_wrong_by_week(server: Server) -> None:
    page = server.ask("/worth").text
    for name in ("used", "ignored", "wrong"):
        assert re.search(rf"<title>\d{{4}}-\d\d-\d\d: {name}, 1 text</title>", page), name
    weeks = json.loads(server.ask("/worth.json").text)["worth"]["weeks"]
    assert [week["used"] + week["ignored"] + week["wrong"] for week in weeks.values()] == [3]


def test_a_session_shows_time_and_tokens_by_exchange(
    browser_session: BrowserSession, server: Server
) -> None:
    id = _session(server)
    page = browser_session.open_page(f"/sessions/{id}")
    page.get_by_role("link", name="Time and tokens by exchange").click()
    page.wait_for_url("**/time")
    rows = page.locator("table.waterfall tbody tr:not(.pause)")
    told = json.loads(server.ask(f"/sessions/{id}/time.json").text)
    assert rows.count() == len(told["rows"]) > 1
    ends = [row["offset_s"] + row["duration_s"] for row in told["rows"]]
    assert [row["offset_s"] for row in told["rows"]][1:] == pytest.approx(ends[:-1])
    rows.first.get_by_role("link").click()
    page.wait_for_url("**#msg-*")
    assert server.ask("/sessions/nobody/time").status == 404
    assert browser_session.problems == []


def test_pages_with_charts_are_accessible(browser_session: BrowserSession, server: Server) -> None:
    for path in ("/status", "/worth", f"/sessions/{_session(server)}/time"):
        assert accessibility_problems_in_opposite_layouts(browser_session, path) == [], path


def test_a_plot_has_its_numbers_in_rows_in_the_given_order() -> None:
    plot = by_week(
        {("2026-11-03", "used"): 2, ("2026-11-04", "wrong"): 1}, "2026-11-17", 4, "text",
        ("used", "ignored", "wrong"),
    )  # fmt: skip
    assert plot.names == ("used", "wrong")
    assert [tuple(row) for row in plot.rows] == [("2026-11-02", ("2 texts", "1 text"))]


def test_small_bars_say_what_they_show() -> None:
    spark = sparkline([("2026-11-02", 3), ("2026-11-09", 0)], "session")
    assert spark.text == "3 sessions in 2 weeks, at most 3 a week, in that of 2 Nov"
    assert [bar.tooltip for bar in spark.bars] == ["2 Nov: 3 sessions", "9 Nov: 0 sessions"]
    assert duration_bars([1.0, 4.0]).text == "the latest 2, up to 4 ms"
    nothing = sparkline([("2026-11-02", 0), ("2026-11-09", 0)], "session")
    assert spark.has_bars and not nothing.has_bars
    assert nothing.text == "no sessions in 2 weeks"
