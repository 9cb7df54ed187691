from __future__ import annotations

import json

from tests.interfaces.http.rest.test_rest import JSON, get, send
from tests.support.http.server import Server


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


def test_a_cookie_changes_nothing(server: Server) -> None:
    link = server.new_link().removeprefix(server.site)
    cookie = server.ask(link, server.as_browser).headers["set-cookie"].partition(";")[0]
    mine = {**server.as_browser, **JSON, "Cookie": cookie, "Origin": server.site}
    assert server.ask("/api/v1/memories", mine).status == 200
    for path, body in (
        ("/api/v1/memories", {"text": "From a page.", "bank": "page"}),
        ("/api/v1/undo", {}),
        ("/graphql", {"query": "mutation { undo { undone { seq } } }"}),
    ):
        refused = server.ask(path, mine, json.dumps(body).encode(), "POST")
        assert refused.status == 403 and "wrong_origin" in refused.text
