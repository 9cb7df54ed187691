from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.pages.forms import Look
from holdfast.interfaces.http.pages.memory import TABS
from holdfast.model.trust import Trust
from holdfast.recall.lookup.path import describe_record
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server

BANK = "tidewatch"
TRICK = (
    "</title><script>window.ran=1</script><img src=x onerror='window.ran=1'> "
    "[go](javascript:window.ran=1) **loud** </textarea><h1>mine</h1>"
)


def test_every_section_opens_and_says_if_it_is_empty(server: Server) -> None:
    for tab in (*TABS, "remembered"):
        got = server.ask(f"/memory?tab={tab}")
        assert got.status == 200 and 'aria-current="page"' in got.text, tab
    assert "There are no shared records yet" in server.ask("/memory?tab=shared").text
    assert server.ask("/memory?tab=nonsense").status == 404
    assert server.ask("/memory?tab=facts&cursor=&status=nonsense").status == 200


def test_links_of_citations_open_their_record(server: Server) -> None:
    with open_server_memory(server) as memory:
        fact = memory.browse.facts(BANK)[0]
        concept = memory.browse.concepts(BANK)[0]
        kept = memory.reader.memories.retained(memory.banks.get(BANK).id)[0]
    for tab, record, said in (
        ("facts", fact, fact.content),
        ("concepts", concept, concept.name),
        ("remembered", kept, kept.what.split("`")[0].split("“")[0]),
    ):
        moved = server.ask(f"/memory?tab={tab}&id={record.id}")
        assert moved.status == 303 and moved.headers["location"].startswith("/record/"), tab
        got = server.ask(moved.headers["location"])
        assert got.status == 200 and record.id in got.text and said[:20] in got.text, tab
    got = server.ask(f"/open?uri=holdfast://fact/{fact.id}")
    assert got.status == 303 and got.headers["location"] == f"/record/fact/{fact.id}"
    moved = server.ask(f"/open?uri={fact.evidence[0]}").headers["location"]
    assert moved.startswith("/sessions/") and "#msg-" in moved
    assert server.ask("/open?uri=holdfast://fact/ffffffff").status == 404


def test_memories_can_be_added_corrected_and_forgotten_in_a_browser(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/memory?tab=memories")
    page.get_by_text("Remember something").click()
    page.get_by_label("Text", exact=True).fill("The quay floods at 4.2 metres.")
    page.get_by_role("button", name="Remember").click()
    expect(page.get_by_role("status")).to_contain_text("Remembered")
    page.get_by_label("Correct it").fill("The quay floods at 4.1 metres.")
    page.get_by_role("button", name="Correct").click()
    expect(page.locator("h1")).to_have_text("The quay floods at 4.1 metres.")
    expect(page.locator("del")).to_have_text("The quay floods at 4.2 metres.")
    page.reload()
    expect(page.locator("h1")).to_have_text("The quay floods at 4.1 metres.")
    page.get_by_role("button", name="Forget").click()
    expect(page.get_by_role("status")).to_contain_text("Forgotten")
    expect(page.get_by_text("floods at 4.1 metres")).to_have_count(0)
    page.get_by_role("link", name="Forgotten").click()
    row = page.locator("li", has_text="floods at 4.1 metres")
    row.get_by_role("button", name="Restore").click()
    expect(page.locator("h1")).to_have_text("The quay floods at 4.1 metres.")
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status")).to_contain_text("Undone")
    expect(page.get_by_role("button", name="Restore")).to_be_visible()
    page.goto("/memory?tab=forgotten")
    expect(page.locator("li", has_text="floods at 4.1 metres")).to_have_count(1)
    # The page of a record that is not shown any more is answered with 404.
    assert [what for what in browser_session.problems if "404" not in what] == []


def test_everything_works_on_a_phone_in_the_dark_without_scripts(
    browser_session: BrowserSession,
) -> None:
    with open_server_memory(browser_session.server) as memory:
        one = memory.remember("Gauges are read every ten minutes.", BANK)
        other = memory.remember("Gauges are read every 10 minutes.", BANK)
    page = browser_session.open_page(
        f"/memory?tab=memories&id={one.id}", dark=True, phone=True, scripts=False
    )
    page.get_by_role("link", name="Merge into another").click()
    page.get_by_label("Gauges are read every 10 minutes.").check()
    page.get_by_role("button", name="Merge").click()
    expect(page.get_by_role("status")).to_contain_text("Merged")
    assert other.id in page.url
    with open_server_memory(browser_session.server) as memory:
        assert memory.curation.target(one.id).shown is False
    gone = browser_session.open_page(f"/memory?tab=memories&id={one.id}", phone=True, scripts=False)
    gone.get_by_role("button", name="Restore").click()
    expect(gone.locator("h1")).to_have_text("Gauges are read every ten minutes.")


def test_erasing_shows_first_what_will_be_lost_and_cannot_be_undone(
    browser_session: BrowserSession,
) -> None:
    with open_server_memory(browser_session.server) as memory:
        kept = memory.remember("The old gate code is written on the wall.", BANK)
    page = browser_session.open_page(f"/memory?tab=memories&id={kept.id}")
    page.get_by_role("button", name="Erase permanently …").click()
    expect(page.locator("main")).to_contain_text("1 memory")
    with open_server_memory(browser_session.server) as memory:
        assert memory.curation.target(kept.id).shown
    page.get_by_role("button", name="Erase permanently").click()
    expect(page.get_by_role("status")).to_contain_text("Erased")
    assert page.locator(".noted").get_by_role("button", name="Undo").count() == 0
    with open_server_memory(browser_session.server) as memory:
        assert kept.id not in {m.id for m in memory.store.memories.remembered_uncurated(kept.bank)}
    name = f"holdfast://memory/{kept.id}"
    assert PageClient(browser_session.server).post("/do/restore", {"id": name}).status == 404


def test_nothing_is_erased_that_was_not_looked_at(server: Server) -> None:
    with open_server_memory(server) as memory:
        kept = memory.remember("The key hangs by the door.", BANK)
    client, form = PageClient(server), {"id": f"memory/{kept.id}", "confirm": "purge"}
    assert client.post("/do/purge", form).status == 200
    assert client.post("/do/purge", {**form, "seen": "0" * 24}).status == 409
    assert "Erase permanently" not in server.ask("/memory?tab=facts").text
    with open_server_memory(server) as memory:
        assert memory.curation.target(kept.id).shown


def test_a_form_without_the_key_of_its_visitor_is_refused(browser_session: BrowserSession) -> None:
    server = browser_session.server
    cookies = browser_session.open_page("/").context.cookies()
    cookie = "; ".join(f"{c.get('name')}={c.get('value')}" for c in cookies)
    mine, other = PageClient(server, cookie), PageClient(server)
    with open_server_memory(server) as memory:
        fact = memory.browse.facts(BANK)[0]
        before = len(memory.reader.curation.log(fact.bank))
    form = {"id": f"holdfast://fact/{fact.id}", "text": "other words", "seen": "x"}
    for key in ("", "0" * 64, other.key()):
        assert mine.post("/do/correct", form, key=key).status == 400
    with open_server_memory(server) as memory:
        assert len(memory.reader.curation.log(fact.bank)) == before


def test_stored_text_is_never_executed(browser_session: BrowserSession) -> None:
    with open_server_memory(browser_session.server) as memory:
        kept = _hostile_texts(memory)
    page = browser_session.open_page("/memory?tab=facts")
    _nothing_ran(page)
    for path in (
        *(f"/memory?tab={tab}" for tab in ("memories", "concepts", "decisions", "forgotten")),
        *(f"/memory?tab={tab}&id={kept[tab]}" for tab in ("memories", "concepts")),
    ):
        page.goto(path)
        _nothing_ran(page)
    assert browser_session.problems == []


def _hostile_texts(memory: Holdfast) -> dict[str, str]:
    mine = memory.remember(TRICK, BANK)
    concept = memory.browse.concepts(BANK)[0]
    memory.correct(f"holdfast://concept/{concept.id}", TRICK, BANK)
    gone = memory.remember(f"gone {TRICK}", BANK, who="<b>eve</b>", trust=Trust.ASSISTANT)
    if memory.curation.target(gone.id).shown:
        memory.forget(gone.id, BANK, who="<i>eve</i>")
    return {"memories": mine.id, "concepts": concept.id}


def _nothing_ran(page: Page) -> None:
    assert page.evaluate("window.ran") is None, page.url
    assert page.locator("script:not([src]), :not(.brand) > img, main b, main i").count() == 0
    assert page.locator("h1", has_text="mine").count() in (0, 1)
    assert page.locator("h1").count() == 1
    assert page.locator("a[href^='javascript']").count() == 0


def test_a_record_changed_meanwhile_is_not_overwritten(server: Server) -> None:
    with open_server_memory(server) as memory:
        kept = memory.remember("The siren is tested on Mondays.", BANK)
    client, name = PageClient(server), f"holdfast://memory/{kept.id}"
    seen = Look(kept.what).seen
    with open_server_memory(server) as memory:
        memory.correct(name, "The siren is tested on Tuesdays.", BANK)
    form = {"id": name, "text": "It is tested\r\non Wednesdays.", "seen": seen}
    got = client.post("/do/correct", form)
    assert got.status == 409 and "was changed after you opened it" in got.text
    assert "on Wednesdays." in got.text and "on Tuesdays." in got.text
    with open_server_memory(server) as memory:
        assert "Tuesdays" in describe_record(memory.show(name).record)[0]
        memory.forget(name)
    got = client.post("/do/correct", form)
    assert got.status == 400 and "is forgotten" in got.text and "on Wednesdays." in got.text
    assert client.post("/do/forget", {"id": name}).status == 400
    assert client.post("/do/forget", {"id": "holdfast://memory/00ff00ff"}).status == 404


def test_a_decision_is_undone_although_others_were_made_since(server: Server) -> None:
    with open_server_memory(server) as memory:
        kept = memory.remember("Boats moor at the west pier.", BANK)
        other = memory.remember("Boats never moor at the east pier.", BANK)
        first = memory.reader.curation.log(kept.bank)[-2]
    assert first.target.endswith(kept.id)
    got = PageClient(server).post("/do/undo", {"numbers": str(first.seq), "from": "/brief?bank=x"})
    assert got.status == 303 and got.headers["location"] == "/brief?bank=x&note=undo"
    with open_server_memory(server) as memory:
        assert not memory.curation.target(kept.id).shown
        assert memory.curation.target(other.id).shown


def test_undo_is_refused_if_a_later_decision_depends_on_it(server: Server) -> None:
    with open_server_memory(server) as memory:
        kept = memory.remember("Boats moor at the north pier.", BANK)
        first = memory.reader.curation.log(kept.bank)[-1]
        memory.correct(kept.id, "Boats moor at the south pier.", BANK)
    for seq in (str(first.seq), "999999999", "x"):
        got = PageClient(server).post("/do/undo", {"numbers": seq})
        assert got.status == 400, seq
    with open_server_memory(server) as memory:
        assert memory.curation.target(kept.id).shown


@pytest.mark.parametrize("to", ["//evil.example", "https://evil.example", "/\\evil.example"])
def test_a_form_leads_back_to_this_server_only(server: Server, to: str) -> None:
    with open_server_memory(server) as memory:
        kept = memory.remember(f"Buoys are counted yearly, {to}.", BANK)
    got = PageClient(server).post("/do/forget", {"id": f"holdfast://memory/{kept.id}", "from": to})
    assert got.status == 303 and got.headers["location"].startswith("/?note=forget")


def test_text_that_could_not_be_stored_is_shown_again(server: Server) -> None:
    client = PageClient(server)
    form = {"text": "Keep these words.", "bank": BANK, "network": "opinion"}
    got = client.post("/do/retain", form)
    assert got.status == 400 and "Keep these words." in got.text


def test_secrets_are_redacted_from_new_memories(server: Server) -> None:
    token = "ghp_" + "Zx81" * 9
    form = {"text": f"The token is {token}, keep it.", "bank": BANK}
    got = PageClient(server).post("/do/retain", form)
    assert got.status == 303
    assert token not in server.ask("/memory?tab=memories").text
