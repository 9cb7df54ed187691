"""The page that lists what briefs tell, and the verdicts that are given on it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from holdfast.app.memory import Holdfast
from holdfast.app.views.review_list import LIMITS
from holdfast.model.curation import Judgement, Verdict
from holdfast.model.knowledge import Kind
from holdfast.model.trust import Trust
from tests.brief.test_known_statements import FILLER, retain, session
from tests.brief.test_verdicts import KEPT, OTHER, name_of
from tests.support.http.browser import BrowserSession, accessibility_problems_in_every_layout
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server, empty_home, serving
from tests.support.refine_banks import open_filled

PAGE = "/brief/review?bank=proj"
THIRD = "Each lamp of the pier has its own fuse, since the storm drowned the common one."
TRICK = "<script>document.title='run'</script> The pier has <b>two</b> ends, said a page."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("brief-review")
    env = empty_home(folder)
    with open_filled(
        folder / "home",
        session("2026-09-01", 1, FILLER, KEPT),
        session("2026-09-02", 2, "Look at the cranes, please.", OTHER),
        session("2026-09-03", 3, "Look at the lamps, please.", THIRD),
        session("2026-09-04", 4, "Which lamp of the pier is broken?", "The third lamp is broken."),
    ) as memory:
        for text in (KEPT, OTHER, THIRD):
            retain(memory, text, Kind.FACT, where="src/berth.py")
        memory.remember(TRICK, who="agent (<i>x</i>)", trust=Trust.EXTERNAL)
        memory.context.ensure_bank("quiet")
    with serving(env, folder) as made:
        yield made


@pytest.fixture
def clean(server: Server) -> Iterator[Server]:
    """The server, whose memory has no verdict before and after the test."""
    yield server
    with open_server_memory(server) as memory:
        for bank in memory.reader.banks.all():
            while memory.reader.curation.judgements(bank.id):
                memory.undo(bank=bank.id)


def row(page: Page, text: str) -> Locator:
    return page.locator("li.decided", has_text=text)


def section_of(page: Page, text: str) -> str:
    """The heading above a statement."""
    above = row(page, text).locator("xpath=ancestor::ul[1]/preceding-sibling::h2[1]")
    return above.inner_text().rpartition(" ")[0]


def verdict_on(server: Server, text: str) -> Judgement | None:
    with open_server_memory(server) as memory:
        bank = memory.context.bank_id("proj") or ""
        return memory.reader.curation.judgements(bank).get(name_of(text))


def brief(server: Server) -> str:
    with open_server_memory(server) as memory:
        return memory.briefs.session_brief("proj").text


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("scripts", [True, False])
def test_a_verdict_with_its_reason_is_given_shown_and_undone(
    browser_session: BrowserSession, scripts: bool
) -> None:
    server = browser_session.server
    page = browser_session.open_page(PAGE, scripts=scripts)
    assert section_of(page, KEPT) == "What the next start brief tells" and KEPT in brief(server)
    row(page, KEPT).locator("summary").click()
    row(page, KEPT).get_by_label("Reason (optional)").fill("the berths were sold")
    row(page, KEPT).get_by_role("button", name="Outdated").click()
    expect(page.get_by_role("status")).to_contain_text("Called outdated")
    assert section_of(page, KEPT) == "What was judged, and is not told"
    expect(row(page, KEPT)).to_contain_text("(browse)")
    expect(row(page, KEPT)).to_contain_text("the berths were sold")
    pressed = row(page, KEPT).get_by_role("button", pressed=True)
    expect(pressed).to_have_text("Outdated")
    known = verdict_on(server, KEPT)
    assert known is not None and known.verdict is Verdict.OUTDATED
    assert known.who.endswith("(browse)") and known.why == "the berths were sold"
    assert KEPT not in brief(server)
    row(page, KEPT).get_by_role("button", name="Undo the verdict").click()
    expect(page.get_by_role("status")).to_have_text("Undone.")
    assert section_of(page, KEPT) == "What the next start brief tells"
    assert verdict_on(server, KEPT) is None and browser_session.problems == []


@pytest.mark.usefixtures("clean")
def test_statements_are_judged_by_keys_alone(browser_session: BrowserSession) -> None:
    page = browser_session.open_page(PAGE)
    page.keyboard.press("o")
    # The first key only goes to the first statement: nothing is judged that nobody looked at.
    expect(page.locator("li.decided:focus-within")).to_have_count(1)
    expect(page.get_by_role("status")).to_have_count(0)
    row(page, KEPT).locator("[data-stop]").focus()
    page.keyboard.press("u")
    expect(page.get_by_role("status")).to_contain_text("Called useful")
    row(page, OTHER).locator("[data-stop]").focus()
    page.keyboard.press("e")
    page.keyboard.type("plain from the code")
    # Enter in the field judges nothing: it could only press one of three buttons.
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("n")
    expect(page.get_by_role("status")).to_contain_text("Called unneeded")
    judged = [verdict_on(browser_session.server, text) for text in (KEPT, OTHER)]
    assert [one and (one.verdict.value, one.why) for one in judged] == [
        ("useful", ""),
        ("unneeded", "plain from the code"),
    ]


@pytest.mark.usefixtures("clean")
@pytest.mark.parametrize("scripts", [True, False])
def test_what_is_ticked_is_judged_at_once_and_undone_at_once(
    browser_session: BrowserSession, scripts: bool
) -> None:
    page = browser_session.open_page(PAGE, scripts=scripts)
    for text in (KEPT, OTHER):
        row(page, text).get_by_role("checkbox").check()
    bar = page.locator("#several")
    bar.locator("summary").click()
    bar.get_by_label("Reason for those selected").fill("plain from the code")
    bar.get_by_role("button", name="Unneeded").click()
    expect(page.get_by_role("status")).to_contain_text("Called unneeded")
    for text in (KEPT, OTHER):
        known = verdict_on(browser_session.server, text)
        assert known is not None and known.why == "plain from the code"
    assert verdict_on(browser_session.server, THIRD) is None
    page.locator(".noted").get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_have_text("Undone.")
    assert [verdict_on(browser_session.server, text) for text in (KEPT, OTHER)] == [None, None]


@pytest.mark.usefixtures("clean")
def test_a_statement_of_an_agent_is_put_in_other_words(browser_session: BrowserSession) -> None:
    words = "Every berth has a queue of ships of its own."
    page = browser_session.open_page(PAGE)
    row(page, KEPT).locator("summary").click()
    row(page, KEPT).get_by_label("in other words").fill(words)
    row(page, KEPT).get_by_role("button", name="Outdated").click()
    # Other words are for what is told: what was typed is not lost.
    expect(page.get_by_role("heading", level=1)).to_contain_text("one useful record")
    expect(page.get_by_label("Your text")).to_have_value(words)
    page.goto(PAGE)
    row(page, KEPT).locator("summary").click()
    row(page, KEPT).get_by_label("in other words").fill(words)
    row(page, KEPT).get_by_role("button", name="Useful").click()
    expect(row(page, KEPT)).to_contain_text(f"told as: {words}")
    assert words in brief(browser_session.server)


@pytest.mark.usefixtures("clean")
def test_a_person_overrules_an_agent_and_sees_whose_verdict_counts(
    browser_session: BrowserSession,
) -> None:
    server = browser_session.server
    with open_server_memory(server) as memory:
        memory.curation.judge([name_of(KEPT)], "outdated", "sold", who="agent (cc)")
    page = browser_session.open_page(PAGE)
    expect(row(page, KEPT)).to_contain_text("agent (cc)")
    row(page, KEPT).get_by_role("button", name="Useful").click()
    expect(row(page, KEPT)).to_contain_text("(browse)")
    with open_server_memory(server) as memory:
        memory.curation.judge([name_of(KEPT)], "outdated", "sold", who="agent (cc)")
    page.reload()
    expect(row(page, KEPT)).to_contain_text("(browse)")
    # The agent's verdict came later, so that of the person cannot be undone alone.
    expect(row(page, KEPT).get_by_role("button", name="Undo the verdict")).to_have_count(0)


@pytest.mark.usefixtures("clean")
def test_a_record_is_judged_on_its_own_page(browser_session: BrowserSession) -> None:
    address = f"/record/{name_of(KEPT).removeprefix('holdfast://')}"
    page = browser_session.open_page(address)
    page.get_by_role("button", name="Outdated").click()
    expect(page.get_by_role("status")).to_contain_text("Called outdated")
    assert page.url.partition("?")[0].endswith(address)
    expect(page.locator("dl.facts")).to_contain_text("outdated by")
    expect(page.locator("ol.log")).to_contain_text("outdated")
    page.get_by_role("button", name="Undo the verdict").click()
    expect(page.get_by_role("status")).to_have_text("Undone.")
    assert verdict_on(browser_session.server, KEPT) is None
    with open_server_memory(browser_session.server) as memory:
        (last,) = memory.reader.sessions.latest(bank_id(memory), 1)
        (exchange,) = memory.reader.sessions.exchanges(last.bank, last.id)
    page.goto(f"/record/exchange/{exchange.id}")
    page.get_by_role("button", name="Unneeded").click()
    expect(page.get_by_role("status")).to_contain_text("Called unneeded")
    page.goto(f"/record/session/{last.id}")
    expect(page.get_by_role("button", name="Unneeded")).to_have_count(0)


def bank_id(memory: Holdfast) -> str:
    return memory.context.bank_id("proj") or ""


def test_a_statement_that_changed_meanwhile_is_not_judged(clean: Server) -> None:
    client = PageClient(clean)
    form = {"uri": name_of(KEPT), "verdict": "outdated", "seen": "of another text", "why": "sold"}
    got = client.post("/brief/judge", form)
    assert got.status == 400 and "was changed after you opened the page" in got.text
    assert "sold" in got.text and verdict_on(clean, KEPT) is None


@pytest.mark.slow
def test_what_people_judged_long_ago_is_behind_a_link(clean: Server) -> None:
    client = PageClient(clean)
    with open_server_memory(clean) as memory:
        texts = [f"Lamp {n} of the pier has the fuse {n}." for n in range(LIMITS.judged + 2)]
        notes = [memory.remember(text, "proj", who="ada").id for text in texts]
        memory.curation.judge(notes, "unneeded", who="ada")
    page = client.get(PAGE).text
    (link,) = re.findall(r'href="([^"]*)">Show 2 more that people judged', page)
    assert sum(text in page for text in texts) == LIMITS.judged
    everything = client.get(html.unescape(link)).text
    assert all(text in everything for text in texts) and "more that people" not in everything
    with open_server_memory(clean) as memory:
        memory.undo(len(notes), bank=bank_id(memory))
        for note in notes:
            memory.forget(note)


def test_a_form_that_is_wrong_judges_nothing(clean: Server) -> None:
    client = PageClient(clean)
    known = {"uri": name_of(KEPT), "seen": ""}
    for form, words in (
        ({"verdict": "useful"}, "Nothing was selected."),
        ({**known, "verdict": "splendid"}, "There is no verdict &#39;splendid&#39;."),
        ({**known, "verdict": ""}, "There is no verdict"),
    ):
        got = client.post("/brief/judge", form)
        assert got.status == 400 and words in got.text, got.text
    assert client.post("/brief/judge", {**known, "verdict": "useful"}, key="").status == 400
    gone = {"uri": "memory/00ff", "verdict": "useful", "seen": "x"}
    assert client.post("/brief/judge", gone).status == 404
    assert client.get("/brief/review?bank=none").status == 404
    assert verdict_on(clean, KEPT) is None


def test_the_page_is_accessible_and_shows_hostile_text_as_text(
    browser_session: BrowserSession,
) -> None:
    assert accessibility_problems_in_every_layout(browser_session, PAGE) == []
    page = browser_session.open_page(PAGE)
    expect(row(page, "document.title")).to_be_visible()
    assert "run" not in page.title() and page.locator("main script, main b, main i").count() == 0
    assert browser_session.problems == []


def test_the_list_is_exported_and_an_empty_one_says_so(server: Server, tmp_path: Path) -> None:
    client = PageClient(server)
    told = json.loads(client.get("/brief/review.json?bank=proj").text)
    assert name_of(KEPT) in [one["uri"] for one in told["rows"]]
    assert {*told} == {"title", "banks", "chosen", "sessions", "rows", "more"}
    assert KEPT in client.get("/brief/review.csv?bank=proj").text
    assert PAGE in client.get("/brief?bank=proj").text
    assert "the brief of quiet is empty" in client.get("/brief/review?bank=quiet").text
    env = empty_home(tmp_path)
    with serving(env, tmp_path) as empty:
        assert "The memory is empty." in PageClient(empty).get("/brief/review").text
