from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from holdfast.app.views.search_results import DATE, SearchQuery, read_box, search_results
from holdfast.model.query import Hit
from tests.support.http.browser import (
    BrowserSession,
    accessibility_problems,
    accessibility_problems_in_opposite_layouts,
)
from tests.support.http.forms import open_server_memory
from tests.support.http.hostile_sessions import write_hostile_session
from tests.support.http.server import SAMPLES, Server, make_home, serving

# "Then SQLite. We chose SQLite over Postgres because ...", message 4 of its session.
CHOSE = "/record/turn/7a220314feb0c437"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("search")
    more = folder / "more"
    more.mkdir()
    with serving(
        make_home(folder, SAMPLES, write_hostile_session(more), embed=False), folder
    ) as made:
        yield made


def test_search_works_from_every_page_by_keyboard_alone(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/sessions")
    page.keyboard.press("/")
    page.keyboard.type("SQLite over Postgres")
    page.keyboard.press("Enter")
    expect(page.locator(".hit").first).to_contain_text("We chose SQLite over Postgres")
    expect(page.locator(".hit .badge").first).to_have_text("transcripts")
    why = page.locator(".hit details").first
    why.locator("summary").click()
    expect(why.get_by_role("cell", name="coverage", exact=True)).to_be_visible()
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("#msg-4")).to_be_in_viewport()
    assert browser_session.problems == []


def test_a_search_is_filtered_by_bank_layer_and_kind(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/search?q=SQLite", scripts=False)
    page.get_by_label("Kind").select_option("exchange")
    page.get_by_role("button", name="Search", exact=True).click()
    kinds = page.locator(".hit .origin").all_inner_texts()
    assert kinds and all(kind.startswith("exchange · ") for kind in kinds)
    page.get_by_label("Kind").select_option("")
    page.get_by_label("Layer").select_option("summaries")
    page.get_by_role("button", name="Search", exact=True).click()
    assert set(page.locator(".hit .badge:first-child").all_inner_texts()) == {"summaries"}
    page.goto("/search?q=SQLite&bank=nowhere")
    expect(page.get_by_role("heading", level=1)).to_contain_text("There is no bank")


def test_an_unknown_subject_has_no_clear_results(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/search?q=quantum+flamingo+telemetry")
    expect(page.get_by_role("heading", name="No clear results")).to_be_visible()
    expect(page.get_by_role("heading", name="Only loosely related")).to_be_visible()
    assert page.locator(".hit").count() > 0
    tried = page.locator(".tried").inner_text()
    assert "retrievers:" in tried and "words (nothing)" in tried
    assert "The files of the transcripts were searched" in tried and "_" not in tried


def test_a_search_without_results_says_which_filter_leaves_them_out(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/search?q=SQLite+since:2099-01", scripts=False)
    expect(page.get_by_role("heading", name="No results")).to_be_visible()
    left_out = page.locator(".tried li", has_text="Since: 2099-01")
    expect(left_out).not_to_contain_text("0 results")
    left_out.get_by_role("link", name="Without this filter").click()
    assert page.locator(".hit").count() > 0


def test_filters_among_the_words_count_and_can_be_taken_away(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/search?q=harbour", scripts=False)
    every = int(page.locator(".found strong").first.inner_text().split()[0])
    page.get_by_label("Words").fill("harbour since:2026-11 bank:tidewatch")
    page.get_by_role("button", name="Search", exact=True).click()
    found = page.locator(".found > div > ol .origin time")
    times = [one.get_attribute("datetime") or "" for one in found.all()]
    assert 0 < len(times) < every and all(time.startswith("2026-11") for time in times)
    chosen = page.locator(".chosen li").all_inner_texts()
    assert [text.splitlines()[-1].removesuffix(" ×") for text in chosen] == [
        "Bank: tidewatch",
        "Since: 2026-11",
    ]
    page.get_by_role("link", name="Remove the filter Since").click()
    expect(page.locator(".chosen li")).to_have_count(1)
    expect(page.locator(".found > div > ol h2")).to_have_count(min(every, 20))


def test_results_are_counted_paged_and_sorted(server: Server) -> None:
    query = SearchQuery("harbour tide alert gauge reading")
    with open_server_memory(server) as memory:

        def hits(query: SearchQuery) -> list[Hit]:
            pages = (query._replace(page=n) for n in range(1, first.pages + 2))
            return [hit for page in pages for hit in search_results(memory, page).hits]

        first = search_results(memory, query)
        ranked, by_date = hits(query), hits(query._replace(sort=DATE))
    assert first.total > 20 and first.pages == -(-first.total // 20)
    assert len({hit.uri for hit in ranked}) == len(ranked) == first.total
    scores, times = [hit.score for hit in ranked], [hit.time for hit in by_date]
    assert scores == sorted(scores, reverse=True) and times == sorted(times, reverse=True)
    assert {hit.uri for hit in by_date} == {hit.uri for hit in ranked}


@pytest.mark.parametrize("name", ["kind", "speaker", "month", "file", "bank", "knowledge"])
def test_a_facet_leads_to_as_many_results_as_it_says(server: Server, name: str) -> None:
    query = SearchQuery("harbour tide")
    with open_server_memory(server) as memory:
        values = search_results(memory, query).facets[name]
        assert values
        for one in values[:3]:
            found = search_results(memory, query._replace(**{name: one.value})).total
            # Of a kind, recall also looks for these alone where there are few, and may find more.
            is_more_allowed = name in ("kind", "knowledge") and one.results < 20
            assert found == one.results or (is_more_allowed and found > one.results)


def test_tool_output_is_folded_and_can_be_looked_at(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/search?q=harbour+tide", scripts=False)
    fold = page.locator("details.tools")
    said = fold.locator("summary").first.inner_text()
    assert said.endswith(" in tool output") and fold.get_attribute("open") is None
    count = int(said.split()[0])
    page.get_by_role("link", name="tool output").click()
    expect(page.locator(".found strong").first).to_have_text(f"{count} results")
    assert page.locator("details.tools").count() == 0


def test_work_is_found_by_its_file_or_its_time_alone(server: Server) -> None:
    with open_server_memory(server) as memory:
        results = search_results(memory, SearchQuery(file="src/tidewatch/alerts.py"))
    assert results.total > 0 and results.found is None
    assert {hit.kind for hit in results.hits} <= {"exchange", "commit", "pull", "imported"}
    assert server.ask("/search?q=since:soon").status == 400
    assert server.ask("/search?q=kind:nothing+cron").status == 400


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("why cron", SearchQuery("why cron")),
        ("bank:a why kind:decision cron", SearchQuery("why cron", bank="a", knowledge="decision")),
        ('bank:"two words" x', SearchQuery("x", bank="two words")),
        ("kind:turn file:src/a.py x", SearchQuery("x", kind="turn", file="src/a.py")),
        ("since:2026-10 until:2026-11-02", SearchQuery(since="2026-10", until="2026-11-02")),
        ("http://a.example error: file: x", SearchQuery("http://a.example error: file: x")),
        ("mybank:a x", SearchQuery("mybank:a x")),
    ],
)
def test_the_box_takes_filters_among_the_words(text: str, query: SearchQuery) -> None:
    assert read_box(text) == query


def test_a_record_links_to_its_parents_its_parts_and_its_source(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page(CHOSE)
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_contain_text("only one process on one small box writes")
    page.get_by_text("Raw line").click()
    expect(page.locator("pre.out")).to_contain_text("We chose SQLite over Postgres")
    page.get_by_role("link", name="Open in its session").click()
    expect(page.locator("#msg-4")).to_be_in_viewport()
    page.goto(CHOSE)
    page.locator("h2:has-text('Part of') + ul a").first.click()
    expect(page.locator(".origin").first).to_contain_text("exchange · ")
    expect(page.get_by_role("heading", name="Made of")).to_be_visible()


def test_a_record_can_be_corrected_forgotten_and_restored(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(CHOSE, scripts=False)
    page.locator("summary", has_text="Correct").click()
    box = page.get_by_label("New text")
    assert "We chose SQLite" in box.input_value()
    box.fill("We chose <b>DuckDB</b> in the end.")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("status")).to_contain_text("Corrected.")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("We chose <b>DuckDB</b> in the end.")
    expect(page.locator("blockquote")).to_contain_text("We chose SQLite over Postgres")
    page.locator("#forget summary").click()
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("This turn is not shown")
    page.get_by_role("button", name="Restore").click()
    expect(page.get_by_role("status")).to_contain_text("Restored")
    for action in ("correct", "forget", "restore"):
        expect(page.locator(".log li", has_text=f"{action} by")).to_contain_text("(browse)")


def test_a_concurrent_change_is_shown_and_nothing_is_lost(browser_session: BrowserSession) -> None:
    with open_server_memory(browser_session.server) as memory:
        session = memory.reader.sessions.latest(None)[0]
        said = memory.reader.sessions.exchanges(session.bank, session.id)[0]
    page = browser_session.open_page(f"/record/exchange/{said.id}", scripts=False)
    page.locator("summary", has_text="Correct").click()
    page.get_by_label("New text").fill("Mine.")
    with open_server_memory(browser_session.server) as memory:
        memory.correct(f"exchange/{said.id}", "Theirs.", who="ben")
    page.get_by_role("button", name="Correct").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The record has changed")
    expect(page.locator(".words")).to_have_text("Theirs.")
    expect(page.get_by_label("Your text")).to_have_value("Mine.")
    page.get_by_role("button", name="Correct anyway").click()
    expect(page.get_by_role("status")).to_contain_text("Corrected.")
    expect(page.get_by_role("heading", level=1)).to_have_text("Mine.")


def test_a_change_needs_a_form_key_of_this_server(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(CHOSE)
    page.locator("#forget [name=form_key]").evaluate("node => { node.value = 'guess'; }")
    page.locator("#forget summary").click()
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("This form is too old")
    assert page.goto(CHOSE) and "is not shown" not in page.content()


def test_text_in_results_is_never_executed(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(
        "/search?q=zeppelin+deploy+%3Cscript%3Ewindow.owned=1%3C/script%3E"
    )
    expect(page.locator(".hit").first).to_contain_text("<iframe src=http")
    places = page.locator(".hit h2 + p + div > a").evaluate_all("all => all.map((a) => a.href)")
    for place in places[:4]:
        page.goto(place)
        assert page.evaluate("window.owned") is None
        assert page.locator("main script, main img, main iframe, main svg, [onclick]").count() == 0
    assert len(places) > 1 and browser_session.problems == []


@pytest.mark.slow
def test_search_and_record_pages_are_accessible_in_every_color_scheme(
    browser_session: BrowserSession,
) -> None:
    for path in (
        "/search?q=harbour+tide+bank:tidewatch",
        "/search?q=quantum+flamingo+since:2026-10",
        CHOSE,
        "/record/turn/none",
    ):
        assert accessibility_problems_in_opposite_layouts(browser_session, path) == [], path


def test_results_are_headed_by_their_words_and_name_session_bank_and_age(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/search?q=cache+redis")
    first = page.locator("li.hit").first
    heading = first.locator("h2 a").inner_text()
    assert len(heading.split()) > 3 and "cache" in first.inner_text().lower()
    told = first.locator(".origin").inner_text()
    assert re.fullmatch(r"\w+ · .+ · tidewatch · \d+ \w+ ago", told), told
    first.locator(".origin a").click()
    page.wait_for_url("**/sessions/*")
    assert browser_session.problems == []


def test_a_record_is_headed_by_its_words(browser_session: BrowserSession) -> None:
    with open_server_memory(browser_session.server) as memory:
        hits = memory.recall("cache redis", "tidewatch").hits
    turn = next(hit for hit in hits if hit.kind == "turn" and "Redis" in hit.text)
    page = browser_session.open_page(f"/record/turn/{turn.uri.rpartition('/')[2]}")
    heading = page.locator("h1").inner_text()
    assert turn.text.startswith(heading.rstrip("…")[:60]) and " of " not in heading[:12]
    assert re.search(
        r"turn · .+ · tidewatch · \d+ \w+ ago", page.locator(".origin").first.inner_text()
    )
    assert accessibility_problems(page) == []
