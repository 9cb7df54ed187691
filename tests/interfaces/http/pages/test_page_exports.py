"""Every page as JSON, lists as CSV, records and weeks as Markdown, by path or by `Accept`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any

import pytest
from markdown_it import MarkdownIt
from playwright.sync_api import expect

from holdfast.app.status.period_digest import Item, PeriodDigest, Section
from holdfast.interfaces.http.core.page_formats import PageFormat, address_in, format_by_accept
from holdfast.interfaces.http.pages.page_exports import export, formats_of, page_csv
from holdfast.recall.lookup.trace import Trace
from tests.store.conformance.samples import a_session
from tests.support.http.browser import BrowserSession
from tests.support.http.forms import PageClient
from tests.support.http.server import HttpResponse, Server, make_home, serving

LISTS = (
    "/sessions",
    "/memory",
    "/memory?tab=concepts",
    "/memory?tab=memories",
    "/memory?tab=decisions",
    "/banks",
    "/search?q=nightly+backups",
    "/timeline",
)
PAGES = ("/", *LISTS, "/repos", "/review", "/status", "/worth", "/graph", "/brief")
# What Markdown would take for its own.
CODE = (
    "1. Call f(*args, **options) of __init__.py", "# define `it` as Vec<T> and rows[1] #",
    "- Write &lt;b&gt; and ~~never~~ C:\\temp\\* | <br>", "See [x](y), ![x](y) and > all &mut a",
)  # fmt: skip
# A sentence that a spreadsheet would take for a formula.
FORMULA = '=HYPERLINK("http://evil.example","total") is what the ledger of zinnias said.'


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("exports")
    with serving(make_home(folder), folder) as made:
        body = json.dumps({"text": FORMULA, "bank": "tidewatch"}).encode()
        key = {"Authorization": f"Bearer {made.token}", "Content-Type": "application/json"}
        assert made.ask("/api/v1/memories", key, body, "POST").status == 201
        yield made


def as_(server: Server, format: PageFormat, path: str) -> HttpResponse:
    return server.ask(address_in(format, path))


def data(server: Server, path: str) -> dict[str, Any]:
    got = as_(server, PageFormat.JSON, path)
    assert got.status == 200, got.text
    return json.loads(got.text)


def some_record(server: Server) -> str:
    return data(server, "/memory")["rows"][0]["uri"].replace("holdfast://", "/record/")


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_its_json(server: Server, path: str) -> None:
    got = as_(server, PageFormat.JSON, path)
    assert got.status == 200 and got.headers["content-type"].startswith("application/json")
    shown = json.loads(got.text)
    assert shown["title"] or path == "/"
    # What draws the page, and what its forms need, stay out.
    assert not {"form_key", "plot", "lanes"} & set(shown)
    assert "<svg" not in got.text and "<path" not in got.text
    key = PageClient(server).key()
    assert key not in got.text


def test_a_session_and_a_record_have_their_json(server: Server) -> None:
    session = data(server, "/sessions")["rows"][0]
    said = data(server, f"/sessions/{session['id']}")["said"]
    assert said[0]["turn"]["session"] == session["id"]
    record = data(server, f"/record/turn/{said[0]['turn']['id']}")
    assert record["words"] == said[0]["turn"]["text"]
    assert as_(server, PageFormat.JSON, "/sessions/nowhere").status == 404


@pytest.mark.parametrize("path", LISTS)
def test_lists_have_their_csv_with_the_rows_of_the_json(server: Server, path: str) -> None:
    got = as_(server, PageFormat.CSV, path)
    assert got.status == 200 and got.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(got.text)))
    wanted = data(server, path)["rows"]
    assert len(rows) == len(wanted) > 0
    assert all(None not in row and None not in row.values() for row in rows)
    if "uri" in wanted[0]:
        assert [row["uri"] for row in rows] == [row["uri"] for row in wanted]


def test_a_page_that_is_no_list_says_which_forms_it_has(server: Server) -> None:
    got = server.ask("/status.csv", {"Authorization": f"Bearer {server.token}"})
    assert got.status == 404 and ".json" in json.loads(got.text)["error"]["remedy"]


def test_no_cell_of_a_csv_is_a_formula(server: Server) -> None:
    got = as_(server, PageFormat.CSV, "/memory?tab=memories&q=zinnias")
    [row] = csv.DictReader(io.StringIO(got.text))
    assert row["text"] == f"'{FORMULA}"
    hostile = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1"]
    text = page_csv([{"cell": one, one: "name"} for one in hostile])
    cells = [cell for row in csv.reader(io.StringIO(text, newline="")) for cell in row]
    assert len(cells) > len(hostile)
    assert not [cell for cell in cells if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))]
    # A number is none.
    assert page_csv([{"change": -0.5}]).splitlines() == ["change", "-0.5"]


def test_records_and_weeks_have_their_markdown(server: Server) -> None:
    got = as_(server, PageFormat.MARKDOWN, some_record(server))
    assert got.status == 200 and got.headers["content-type"].startswith("text/markdown")
    assert got.text.startswith("# ") and "\n> " in got.text
    assert "- **Bank:** tidewatch" in got.text and "## Evidence for it" in got.text
    week = PeriodDigest("all", "2026-10-26T00:00:00Z", "2026-11-02T00:00:00Z", 0, ())
    assert PageFormat.MARKDOWN in formats_of("week.html", {"digest": week})
    told = export(PageFormat.MARKDOWN, "week.html", {"digest": week}, 200)
    assert bytes(told.body).startswith(b"# 2026-10-26 to 2026-11-02")


def test_words_of_a_record_stay_words_in_markdown(server: Server) -> None:
    [row] = data(server, "/memory?tab=memories&q=zinnias")["rows"]
    got = as_(server, PageFormat.MARKDOWN, row["uri"].replace("holdfast://", "/record/"))
    assert f"> {FORMULA}" in got.text.splitlines()


@pytest.mark.parametrize("text", CODE)
def test_code_reads_as_it_was_written_where_markdown_is_shown(text: str) -> None:
    items = (Item("2026-10-27T09:00:00Z", text, text, note=f"{text}\n{text}"),)
    week = PeriodDigest(text, "2026-10-26", "2026-11-02", 1, (Section("done", items),))
    told = export(PageFormat.MARKDOWN, "week.html", {"digest": week}, 200)
    assert rendered(bytes(told.body).decode()) == [
        f"2026-10-26 to 2026-11-02, bank {text}",
        "What was done",
        f"2026-10-27 {text} ({text} {text})",
    ]
    shown = {
        "title": text, "words": text, "word": "session", "bank": "tidewatch", "time": "",
        "fields": [], "uri": "holdfast://session/x", "above": [],
        "trace": Trace("session", a_session()),
        "below": [{"uri": "holdfast://turn/y", "kind": "turn", "text": text, "time": ""}],
    }  # fmt: skip
    record = bytes(export(PageFormat.MARKDOWN, "any_record.html", shown, 200).body).decode()
    lines = rendered(record)
    assert lines[0] == text and lines[-1] == f"{text} (turn) holdfast://turn/y"
    assert f"> {text}" in record.splitlines()


def rendered(markdown: str) -> list[str]:
    """The lines that somebody reads where Markdown is shown."""
    shown = MarkdownIt("gfm-like", {"linkify": False}).render(markdown)
    lines = unescape(re.sub(r"<[^>]*>", "", shown)).split("\n")
    return [line for line in lines if line]


@pytest.mark.parametrize(
    ("accept", "format"),
    [
        ("", PageFormat.HTML),
        ("*/*", PageFormat.HTML),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", PageFormat.HTML),
        ("application/json", PageFormat.JSON),
        ("application/json, text/plain, */*", PageFormat.JSON),
        ("text/html;q=0.4, application/json;q=0.9", PageFormat.JSON),
        ("application/json;q=0.4, text/html", PageFormat.HTML),
        ("application/json;q=0", PageFormat.HTML),
        ("application/json;q=high", PageFormat.HTML),
        ("text/csv", PageFormat.CSV),
        ("Text/Markdown; charset=utf-8", PageFormat.MARKDOWN),
        ("text/event-stream", PageFormat.HTML),
    ],
)
def test_the_form_that_accept_prefers_is_chosen(accept: str, format: PageFormat) -> None:
    assert format_by_accept(accept) is format


def test_accept_is_honoured_where_the_page_has_that_form(server: Server) -> None:
    def kind(path: str, accept: str) -> str:
        key = {"Authorization": f"Bearer {server.token}", "Accept": accept}
        return server.ask(path, key).headers["content-type"].partition(";")[0]

    assert kind("/sessions", "application/json") == "application/json"
    assert kind("/sessions", "text/csv") == "text/csv"
    assert kind("/status", "text/csv") == "text/html"
    assert kind(some_record(server), "text/markdown") == "text/markdown"
    # An address that names a form is meant as such.
    assert kind("/sessions.json", "text/html") == "application/json"


def test_a_redirect_keeps_the_form(server: Server) -> None:
    record = some_record(server)
    got = server.ask(f"/open.json?uri={record.removeprefix('/record/')}")
    assert got.status == 303 and got.headers["location"] == f"{record}.json"
    found = server.ask("/sessions/abc/msg/4.json")
    assert found.headers["location"] == "/sessions/abc.json?at=4"


@pytest.mark.parametrize("path", ["/", "/sessions", "/sessions.json", "/api/v1/banks"])
def test_head_has_the_headers_of_get_and_no_body(server: Server, path: str) -> None:
    got, head = server.ask(path), server.ask(path, method="HEAD")
    assert got.status == head.status == 200 and head.text == ""
    assert got.headers["content-type"] == head.headers["content-type"]
    assert int(head.headers["content-length"]) > 0
    assert server.ask(path, {}, method="HEAD").status == 401


def test_head_of_a_stream_ends_and_uses_up_no_link(server: Server) -> None:
    assert server.ask("/api/v1/live", method="HEAD").status == 200
    path = server.new_link().removeprefix(server.site)
    assert server.ask(path, server.as_browser, method="HEAD").status == 405
    assert server.ask(path, server.as_browser).status == 303


def test_the_api_describes_how_to_sign_in(server: Server) -> None:
    described = json.loads(server.ask("/api/v1/openapi.json").text)
    schemes: Mapping[str, Mapping[str, str]] = described["components"]["securitySchemes"]
    assert schemes["token"]["scheme"] == "bearer" and schemes["cookie"]["in"] == "cookie"
    assert schemes["formKey"]["name"] == "X-Form-Key"
    named = {name for one in described["security"] for name in one}
    changes = described["paths"]["/api/v1/undo"]["post"]["security"]
    assert named | {name for one in changes for name in one} == set(schemes)


def test_an_answer_of_the_graph_has_its_layers_and_success(server: Server) -> None:
    query = """mutation { searchMemory(question: "Why not cron with cp?") {
        sessionId answer confidence citations { source excerpt layer } searchedLayers success } }"""
    key = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    got = server.ask("/graphql", key, json.dumps({"query": query}).encode(), "POST")
    found = json.loads(got.text)["data"]["searchMemory"]
    assert found["success"] is True and "transcripts" in found["searchedLayers"]


def test_the_footer_leads_to_every_form(browser_session: BrowserSession, server: Server) -> None:
    page = browser_session.open_page("/sessions?agent=claude-code")
    exports = page.locator("footer .export a")
    assert exports.all_inner_texts() == ["JSON", "CSV"]
    for link in exports.evaluate_all("all => all.map((a) => a.getAttribute('href'))"):
        assert server.ask(link).status == 200 and link.endswith("?agent=claude-code")
    page.goto(some_record(server))
    assert page.locator("footer .export a").all_inner_texts() == ["JSON", "Markdown"]


def test_the_link_of_a_message_and_of_a_record_is_copied(
    browser_session: BrowserSession, server: Server
) -> None:
    session = data(server, "/sessions")["rows"][0]
    page = browser_session.open_page(f"/sessions/{session['id']}")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.site)
    place = page.locator("article a.place[data-copy]").first
    seq = place.inner_text().removeprefix("#")
    place.click()
    expect(place).to_have_class("place copied")
    copied: str = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{server.site}/sessions/{session['id']}/msg/{seq}"
    page.goto(copied)
    expect(page.locator(f"#msg-{seq}")).to_be_in_viewport()
    record = some_record(server)
    page.goto(record)
    page.get_by_role("link", name="Copy link").click()
    expect(page.locator("a.copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == server.site + record
    assert browser_session.problems == []
