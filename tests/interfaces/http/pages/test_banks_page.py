from __future__ import annotations

import re

from playwright.sync_api import expect

from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.bank import Bank, Disposition
from tests.support.http.browser import BrowserSession, accessibility_problems_in_opposite_layouts
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server

TRICK = "<script>document.title='run'</script></textarea><h1>mine</h1>"


def bank_of(server: Server) -> str:
    with open_server_memory(server) as memory:
        return memory.banks.get("tidewatch").id


def test_a_bank_can_be_changed_in_a_browser(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/banks", dark=True, phone=True, scripts=False)
    page.get_by_role("link", name="tidewatch").click()
    assert page.url.endswith("/banks/tidewatch")
    page.get_by_role("link", name="Settings").click()
    page.get_by_label("Skepticism").fill("5")
    page.get_by_label("The role and interests of this bank").fill("Two people and a harbour.")
    page.get_by_label("Add a name").fill("harbour")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    with open_server_memory(browser_session.server) as memory:
        bank = memory.banks.get("harbour")
        assert bank.disposition == Disposition(5, 3, 3)
        assert bank.background == "Two people and a harbour."
    page.get_by_label("remove the name harbour").check()
    page.get_by_label("Preset").select_option("support")
    page.get_by_role("button", name="Save").click()
    with open_server_memory(browser_session.server) as memory:
        bank = memory.banks.get("tidewatch")
        assert bank.disposition == Disposition(2, 2, 5) and "name:harbour" not in bank.aliases


def test_sessions_are_hidden_by_retention_only_after_confirmation(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page("/banks/tidewatch?tab=settings")
    page.get_by_label("Hide sessions after").fill("600")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("would be hidden")
    expect(page.get_by_label("Hide sessions after")).to_have_value("600")
    page.get_by_label("Hide older sessions").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    with open_server_memory(browser_session.server) as memory:
        assert memory.banks.get("tidewatch").retention == 600
        memory.banks.change(BankChanges(retention=0), "tidewatch")


def test_a_bank_changed_meanwhile_is_not_overwritten(server: Server) -> None:
    path = f"/banks/{bank_of(server)}"
    client = PageClient(server)
    found = re.search(r'name="seen" value="(\w+)"', client.get(f"{path}?tab=settings").text)
    assert found is not None
    with open_server_memory(server) as memory:
        memory.banks.change(BankChanges(background="Changed by somebody else."), "tidewatch")
    form = {"seen": found.group(1), "background": "My own words.", "skepticism": "1"}
    got = client.post(path, form)
    assert got.status == 409 and "My own words." in got.text
    with open_server_memory(server) as memory:
        assert memory.banks.get("tidewatch").background == "Changed by somebody else."


def test_invalid_settings_are_refused_and_the_input_is_kept(server: Server) -> None:
    path, client = f"/banks/{bank_of(server)}", PageClient(server)

    def post(**form: str) -> tuple[int, str]:
        found = re.search(r'name="seen" value="(\w+)"', client.get(f"{path}?tab=settings").text)
        assert found is not None
        got = client.post(path, {"seen": found.group(1), "background": "Mine.", **form})
        return got.status, got.text

    for form in ({"skepticism": "9"}, {"literalism": "x"}, {"retention": "-3"}, {"alias": "all"}):
        status, text = post(**form)
        assert status == 400 and "Mine." in text, form
    assert client.post(path, {"background": "Mine."}, key="").status == 400
    assert client.post("/banks/nobody", {"background": "Mine."}).status == 404
    assert client.get("/banks/nobody").status == 404


def test_text_of_a_bank_is_never_executed(browser_session: BrowserSession) -> None:
    with open_server_memory(browser_session.server) as memory:
        memory.banks.change(BankChanges(background=TRICK, aliases=(TRICK,)), "tidewatch")
    page = browser_session.open_page("/banks")
    for path in ("/banks", "/banks/tidewatch", "/banks/tidewatch?tab=settings"):
        page.goto(path)
        assert "run" not in page.title() and page.locator("h1").count() == 1
    with open_server_memory(browser_session.server) as memory:
        memory.banks.change(BankChanges(background="", dropped_aliases=(TRICK,)), "tidewatch")
    assert browser_session.problems == []


def test_a_bank_shows_what_it_holds(browser_session: BrowserSession) -> None:
    page = browser_session.open_page("/banks/tidewatch")
    told = page.locator("main").inner_text()
    with open_server_memory(browser_session.server) as memory:
        counts = memory.inventory.counts("tidewatch")
        latest = memory.reader.sessions.latest(memory.banks.get("tidewatch").id, 1)[0]
    assert f"{counts.sessions}\n\nsessions" in told and f"{counts.exchanges}\n\nexchanges" in told
    assert latest.title in told and "src/tidewatch/alerts.py" in told
    assert "No git history yet" in told and "No rule files yet" in told
    page.get_by_role("link", name="src/tidewatch/alerts.py").click()
    page.wait_for_url("**/entities?focus=*&bank=tidewatch")
    assert browser_session.problems == []


def test_banks_are_called_by_name_in_addresses_where_that_is_clear() -> None:
    def bank(id: str, name: str) -> Bank:
        return Bank(id, name, "")

    known = [bank("1", "harbour"), bank("2", "quay"), bank("3", "quay"), bank("4", "a/b")]
    assert bank_keys([*known, bank("5", "all"), bank("6", "2")]) == {
        "1": "harbour", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6",
    }  # fmt: skip


def test_the_banks_pages_are_accessible_in_every_color_scheme(
    browser_session: BrowserSession,
) -> None:
    for path in ("?tab=settings", ""):
        found = accessibility_problems_in_opposite_layouts(
            browser_session, f"/banks/tidewatch{path}"
        )
        assert found == [], path
