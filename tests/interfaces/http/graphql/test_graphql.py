from __future__ import annotations

import json
from typing import Any

import pytest
from graphql import get_introspection_query, parse

from holdfast.errors import InputError
from holdfast.interfaces.http.graphql import limits
from holdfast.interfaces.http.graphql.schema import schema
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


@pytest.mark.parametrize(
    ("graph", "rest"),
    [
        ('network: ["opinion"]', "network=opinion"),
        ('network: ["world", "experience"]', "network=world&network=experience"),
        ('agent: "codex"', "agent=codex"),
        ('asOf: "2026-03"', "as_of=2026-03"),
        ('branch: "any"', "branch=any"),
        ('layer: ["observations"]', "layer=observations"),
    ],
)
def test_a_search_is_limited_as_one_by_rest_is(server: Server, graph: str, rest: str) -> None:
    def hits(found: Any) -> list[tuple[str, float]]:
        return [(hit["uri"], hit["score"]) for hit in found["hits"]]

    query = '{ recall(query: "nightly backups", %s) { hits { uri score } } }'
    found = hits(asked(server, query % graph)["recall"])
    told = server.ask(f"/api/v1/recall?query=nightly+backups&{rest}")
    assert told.status == 200 and found == hits(json.loads(told.text))


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
        ('{ bank(name: "nowhere") { name } }', "bad_input"),
        ('{ session(id: "nowhere") { title } }', "bad_input"),
        ('{ recall(query: "x", layer: ["none"]) { abstained } }', "bad_input"),
        ('{ recall(query: " ") { abstained } }', "bad_input"),
        ('{ recall(query: "x", agent: "nobody at all") { abstained } }', "bad_input"),
        ('mutation { searchMemory(question: "x", asOf: "soon") { answer } }', "bad_input"),
        ("{ sessions(limit: 201) { items { id } } }", "bad_input"),
        ("{ sessions(limit: 1) { items { exchanges(limit: -5) { cursor } } } }", "bad_input"),
        ("{ sessions(limit: 1) { items { messages(first: -5) { cursor } } } }", "bad_input"),
        ("mutation { undo(count: 101) { undone { action } } }", "bad_input"),
        (
            "{ sessions(limit: 200) { items { exchanges(limit: 200) { items { id } } } } }",
            "bad_input",
        ),
    ],
)
def test_errors_say_what_is_wrong_and_nothing_else(server: Server, query: str, code: str) -> None:
    told = json.loads(post(server, {"query": query}).text)
    assert told["errors"][0]["extensions"]["code"] == code
    assert "Traceback" not in told["errors"][0]["message"]


@pytest.mark.parametrize(
    "query",
    [
        "{ a { b { c { d { e { f { g { h { i { j { k } } } } } } } } } } }",
        "{ ...f } fragment f on Query { ...f }",
        "{ " + " ".join(f'a{i}: recall(query: "x") {{ abstained }}' for i in range(101)) + " }",
        "{ sessions(limit: 200) { items { messages(limit: 200) { items { id } } } } }",
        "query($n: Int) { sessions(limit: $n) { items { messages(limit: $n) { items { id } } } } }",
        "{ __schema { types { fields { type { fields { type { fields { type { fields "
        "{ name } } } } } } } } } }",
    ],
)
def test_a_query_that_is_too_expensive_is_refused_before_it_runs(query: str) -> None:
    with pytest.raises(InputError):
        limits.check(parse(query), schema())


def test_an_ordinary_query_is_within_the_limits() -> None:
    for query in (
        get_introspection_query(),
        "{ sessions { items { id exchanges(limit: 20) { items { title } } } } }",
        "{ sessions(limit: 99) { sessions { exchanges(limit: 99) { exchanges { id } } } } }",
    ):
        limits.check(parse(query), schema())
