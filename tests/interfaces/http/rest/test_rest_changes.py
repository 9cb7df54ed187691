from __future__ import annotations

import json
from typing import Any

from tests.interfaces.http.rest.test_rest import JSON, get, send
from tests.support.http.server import HttpResponse, Server


def test_a_change_is_visible_can_be_undone_and_is_in_the_log(server: Server) -> None:
    kept = json.loads(send(server, "/memories", {"text": "Tag on Thursdays.", "bank": "made"}).text)
    name = kept["uri"].removeprefix("holdfast://")
    assert kept["bank"] == "made" and get(server, "/memories?bank=made")["memories"]
    assert send(server, f"/records/{name}/correct", {"text": "Tag on Fridays."}).status == 200
    assert get(server, f"/records/{name}")["record"]["what"] == "Tag on Fridays."
    assert send(server, f"/records/{name}/forget", {}).status == 200
    assert get(server, "/memories?bank=made")["memories"] == []
    assert send(server, f"/records/{name}/restore", {}).status == 200
    undone = json.loads(send(server, "/undo", {"count": 1, "bank": "made"}).text)["undone"]
    assert [one["action"] for one in undone] == ["restore"]
    log = get(server, "/decisions?bank=made")["decisions"]
    assert [one["action"] for one in log] == ["undo", "restore", "forget", "correct", "remember"]
    assert all(one["who"].endswith("(http)") for one in log)


def test_retain_merge_bank_settings_reflect_and_ingest_work(server: Server) -> None:
    opinion = {"text": "Tabs are fine.", "bank": "more", "network": "opinion", "confidence": 0.8}
    one = json.loads(send(server, "/memories/retain", opinion).text)
    two = json.loads(send(server, "/memories", {"text": "Tabs it is.", "bank": "more"}).text)
    assert one["record"]["network"] == "opinion" and one["record"]["confidence"] == 0.8
    names = [made["uri"].removeprefix("holdfast://") for made in (one, two)]
    assert send(server, f"/records/{names[1]}/merge", {"into": names[0]}).status == 200
    got = send(server, "/banks/more", {"skepticism": 5, "background": "A shop."}, how="PATCH")
    assert json.loads(got.text)["disposition"]["skepticism"] == 5
    assert send(server, "/banks/more", {}, how="PATCH").status == 400
    assert send(server, "/reflect", {"query": "tabs", "bank": "more", "store": False}).status == 200
    assert send(server, "/ingest", {}).status == 200
    assert send(server, "/doctor/fix", {}).status == 422


def test_erasing_needs_an_explicit_confirmation(server: Server) -> None:
    kept = json.loads(send(server, "/memories", {"text": "hunter22 is it", "bank": "gone"}).text)
    name = kept["uri"].removeprefix("holdfast://")
    assert get(server, f"/records/{name}/purge")["erased"] is False
    assert send(server, f"/records/{name}/purge", {}).status == 400
    assert send(server, f"/records/{name}/purge", {"confirm": "yes"}).status == 422
    counted = json.loads(send(server, "/scrub", {"pattern": "hunter22"}).text)
    assert counted["erased"] is False and counted["records"]
    assert get(server, f"/records/{name}")["record"]["what"] == "hunter22 is it"
    done = json.loads(send(server, f"/records/{name}/purge", {"confirm": "purge"}).text)
    assert done["erased"] is True
    assert server.ask(f"/api/v1/records/{name}").status == 404


def _visit(server: Server) -> dict[str, str]:
    path = server.enter.removeprefix(server.site)
    cookie = server.ask(path, server.as_browser).headers["set-cookie"]
    mine = {"Cookie": cookie.partition(";")[0], "Origin": server.site}
    return {**server.as_browser, **mine, **JSON}


def _key(server: Server, mine: dict[str, str]) -> str:
    page = server.ask("/", mine).text
    return page.partition('name="form-key" content="')[2].partition('"')[0]


def test_a_cookie_alone_changes_nothing(server: Server) -> None:
    mine = _visit(server)
    sent: dict[str, Any] = {"text": "From a page.", "bank": "page"}

    def tried(**more: str) -> HttpResponse:
        return send(server, "/memories", sent, {**mine, **more})

    assert tried().status == 403 and tried(**{"X-Form-Key": "guess"}).status == 403
    assert tried(**{"X-Form-Key": "gu\u00e9ss"}).status == 403
    assert server.ask("/api/v1/memories", mine).status == 200
    key = _key(server, mine)
    assert key and tried(**{"X-Form-Key": key}).status == 201
    assert tried(**{"X-Form-Key": key, "Origin": "http://127.0.0.1:1"}).status == 403
