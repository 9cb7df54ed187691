from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import get_introspection_query

from tests.support.http.server import HttpResponse, Server


def post(server: Server, body: object, kind: str = "application/json") -> HttpResponse:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": kind}
    return server.ask("/graphql", headers, json.dumps(body).encode(), "POST")


def asked(server: Server, query: str, **variables: Any) -> Any:
    got = post(server, {"query": query, "variables": variables})
    assert got.status == 200, got
    told = json.loads(got.text)
    assert "errors" not in told, told
    return told["data"]


def test_the_search_mutation_of_the_earlier_browse_page_works(server: Server) -> None:
    found = asked(
        server,
        """mutation SearchMemory($question: String!) {
          searchMemory(question: $question) {
            sessionId answer confidence citations { source excerpt browseUrl }
          }
        }""",
        question="Why not cron with cp?",
    )["searchMemory"]
    assert found["sessionId"].startswith("mem-") and found["answer"]
    assert found["citations"][0]["source"].startswith("holdfast://")
    assert found["citations"][0]["browseUrl"].startswith("/")


def test_related_records_can_be_queried(server: Server) -> None:
    found = asked(
        server,
        """{
          banks { items { name disposition { skepticism }
            sessions(limit: 3) { cursor items { id title digest { outcome }
              exchanges(limit: 2) { items { title } }
              messages(first: 2, limit: 2) { cursor items { role text } } } } } }
          exchanges(limit: 2) { cursor items { uri } }
          recall(query: "nightly backups", budget: "low") { abstained hits { uri score } }
        }""",
    )
    sessions = found["banks"]["items"][0]["sessions"]
    assert len(sessions["items"]) == 3 and sessions["cursor"]
    assert sessions["items"][0]["exchanges"]["items"] and sessions["items"][0]["messages"]["items"]
    assert found["recall"]["hits"]
    first = found["exchanges"]
    query = "query($cursor: String!) { exchanges(limit: 2, cursor: $cursor) { items { uri } } }"
    second = asked(server, query, cursor=first["cursor"])["exchanges"]
    assert not {one["uri"] for one in first["items"]} & {one["uri"] for one in second["items"]}
    uri = first["items"][0]["uri"]
    shown = asked(server, "query($u: String!) { show(id: $u) { uri kind record } }", u=uri)["show"]
    assert shown["kind"] == "exchange" and shown["record"]["uri"] == uri
    assert asked(server, get_introspection_query())["__schema"]["queryType"]["name"] == "Query"


def test_mutations_are_in_the_log(server: Server) -> None:
    made = asked(server, 'mutation { remember(text: "Tag it.", bank: "graph") { uri } }')
    uri = made["remember"]["uri"]
    change = 'mutation($id: String!) { correct(id: $id, text: "Tag them.") { decision { who } } }'
    assert asked(server, change, id=uri)["correct"]["decision"]["who"].endswith("(http)")
    asked(server, "mutation($id: String!) { forget(id: $id) { decision { seq } } }", id=uri)
    asked(server, "mutation($id: String!) { restore(id: $id) { decision { seq } } }", id=uri)
    asked(server, 'mutation { undo(bank: "graph") { undone { action } } }')
    log = asked(server, '{ decisions(bank: "graph") { items { action } } }')["decisions"]["items"]
    assert [one["action"] for one in log] == ["undo", "restore", "forget", "correct", "remember"]


def test_only_one_json_query_per_request_is_accepted(server: Server) -> None:
    question = {"query": "{ banks { items { name } } }"}
    assert post(server, [question]).status == 422
    assert post(server, question, "text/plain").status == 415
    assert post(server, question, "application/x-www-form-urlencoded").status == 415
    assert server.ask("/graphql?query={banks{items{name}}}").status == 405
    assert server.ask("/graphql", {}, b"{}", "POST").status == 401


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ nothing }", "bad_form"),
        ("{ banks { name ", "bad_form"),
        ('{ bank(name: "nowhere") { name } }', "not_found"),
        ('{ recall(query: "x", layer: ["none"]) { abstained } }', "bad_form"),
        ('mutation { searchMemory(question: "x", asOf: "soon") { answer } }', "bad_input"),
        ("{ sessions(limit: 201) { items { id } } }", "bad_form"),
        ("{ sessions(limit: 1) { items { exchanges(limit: -5) { cursor } } } }", "bad_form"),
    ],
)
def test_errors_have_the_codes_of_rest_and_tell_nothing_else(
    server: Server, query: str, code: str
) -> None:
    told = json.loads(post(server, {"query": query}).text)
    assert told["errors"][0]["extensions"]["code"] == code
    assert "Traceback" not in told["errors"][0]["message"]
