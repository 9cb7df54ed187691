from __future__ import annotations

import re

from playwright.sync_api import expect

from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.learn.bank_settings import BankChanges
from holdfast.model.bank import Bank, Disposition
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import PageClient, open_server_memory
from tests.support.http.server import Server

TRICK = "<script>document.title='run'</script></textarea><h1>mine</h1>"
SETTINGS = "/banks/tidewatch?tab=settings"


def seen(client: PageClient) -> str:
    found = re.search(r'name="seen" value="(\w+)"', client.get(SETTINGS).text)
    assert found is not None
    return found.group(1)


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
    page.get_by_label("The role and interests of this bank").fill("")
    page.get_by_role("button", name="Save").click()
    page.get_by_label("Disposition by a preset").select_option("support")
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    with open_server_memory(browser_session.server) as memory:
        bank = memory.banks.get("tidewatch")
        assert bank.disposition == Disposition(2, 2, 5) and bank.background == ""
        assert "name:harbour" not in bank.aliases


def test_sessions_are_hidden_by_retention_only_after_confirmation(
    browser_session: BrowserSession,
) -> None:
    page = browser_session.open_page(SETTINGS)
    page.get_by_label("Hide sessions after").fill("600")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text("older than 600 months will be hidden")
    with open_server_memory(browser_session.server) as memory:
        assert not memory.banks.get("tidewatch").retention
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_contain_text("Saved")
    with open_server_memory(browser_session.server) as memory:
        assert memory.banks.get("tidewatch").retention == 600
    page.get_by_label("Hide sessions after").fill("all")
    page.get_by_role("button", name="Save").click()
    with open_server_memory(browser_session.server) as memory:
        assert not memory.banks.get("tidewatch").retention


def test_a_bank_changed_meanwhile_is_not_overwritten(server: Server) -> None:
    client = PageClient(server)
    form = {"name": "tidewatch", "seen": seen(client), "background": "My own words."}
    with open_server_memory(server) as memory:
        memory.banks.change(BankChanges(background="Changed by somebody else."), "tidewatch")
    got = client.post("/do/bank_set", form)
    assert got.status == 409 and "My own words." in got.text
    assert "Changed by somebody else." in got.text
    with open_server_memory(server) as memory:
        assert memory.banks.get("tidewatch").background == "Changed by somebody else."


def test_invalid_settings_are_refused_and_the_input_is_kept(server: Server) -> None:
    client = PageClient(server)
    form = {"name": "tidewatch", "background": "Mine."}
    for wrong in (
        {"skepticism": "9"},
        {"literalism": "x"},
        {"retention": "-3"},
        {"aliases": "all"},
    ):
        got = client.post("/do/bank_set", {**form, "seen": seen(client), **wrong})
        assert got.status == 400 and "Mine." in got.text, wrong
    assert client.post("/do/bank_set", form, key="").status == 400
    assert client.post("/do/bank_set", {**form, "name": "nobody"}).status == 404
    assert client.get("/banks/nobody").status == 404


def test_text_of_a_bank_is_never_executed(browser_session: BrowserSession) -> None:
    with open_server_memory(browser_session.server) as memory:
        memory.banks.change(BankChanges(background=TRICK, aliases=(TRICK,)), "tidewatch")
    page = browser_session.open_page("/banks")
    for path in ("/banks", "/banks/tidewatch", SETTINGS):
        page.goto(path)
        assert "run" not in page.title() and page.locator("h1").count() == 1
    with open_server_memory(browser_session.server) as memory:
        memory.banks.change(BankChanges(background="", dropped_aliases=(TRICK,)), "tidewatch")
    assert browser_session.problems == []


def test_banks_are_called_by_name_in_addresses_where_that_is_clear() -> None:
    def bank(id: str, name: str) -> Bank:
        return Bank(id, name, "")

    known = [bank("1", "harbour"), bank("2", "quay"), bank("3", "quay"), bank("4", "a/b")]
    assert bank_keys([*known, bank("5", "all"), bank("6", "2")]) == {
        "1": "harbour", "2": "2", "3": "3", "4": "4", "5": "5", "6": "6",
    }  # fmt: skip
