"""Queries that are made to hold up the server: each is refused, and others are answered meanwhile.
All are bounded in number, size and time."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.interfaces.http.graphql.test_graphql import post
from tests.support.http.server import Server, make_home, serving


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what gets through would hold up other tests, too."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    with serving(make_home(folder), folder) as made:
        yield made


def errors(server: Server, query: str, variables: object = None) -> list[dict[str, Any]]:
    got = post(server, {"query": query, "variables": variables})
    assert got.status == 200, got
    return json.loads(got.text).get("errors", [])


def nested_fragments(width: int, levels: int) -> str:
    """Fragments that each spread the next one `width` times: width ** levels fields in all."""
    chain = [f"fragment f{n} on Bank {{ {f'...f{n + 1} ' * width}}}" for n in range(1, levels + 1)]
    return " ".join((*chain, f"fragment f{levels + 1} on Bank {{ name }}"))


def aliases(count: int, field: str) -> str:
    return " ".join(f"a{n}: {field}" for n in range(count))


ANSWER = 'searchMemory(question: "Why not cron?") { answer }'
SEARCH = 'recall(query: "cron") { abstained }'
ALL = "sessions(limit: 200) { items { exchanges(limit: 200) { items { %s } } } }"


@pytest.mark.parametrize(
    "query",
    [
        f"mutation {{ {aliases(99, ANSWER)} }}",
        f"{{ {aliases(3, SEARCH)} }}",
        f"{{ ...a ...b }} fragment a on Query {{ {aliases(2, SEARCH)} }}"
        f" fragment b on Query {{ b: {SEARCH} }}",
        f"{{ {ALL % aliases(900, 'title')} }}",
        f"{{ banks {{ items {{ {aliases(200, ALL % 'id')} }} }} }}".replace("200", "9", 1),
    ],
)
def test_a_request_that_costs_too_much_is_ended(attacked: Server, query: str) -> None:
    told = errors(attacked, query)
    assert len(told) == 1 and told[0]["extensions"]["code"] in ("bad_input", "bad_form"), told[:2]
    assert len(json.loads(attacked.ask("/api/v1/research").text)["sessions"]) <= 2
    assert attacked.ask("/api/v1/banks").status == 200


def test_two_searches_in_one_request_are_answered(attacked: Server) -> None:
    got = json.loads(post(attacked, {"query": f"{{ {aliases(2, SEARCH)} }}"}).text)
    assert "errors" not in got and set(got["data"]) == {"a0", "a1"}


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        ("{ ...f } fragment f on Query { ...f }", None),
        ("{ ...f } fragment f on Query { ...g } fragment g on Query { banks { bank } ...f }", None),
        (f"{{ recall(query: {'[' * 900}{']' * 900}) {{ abstained }} }}", None),
        (f'{{ recall(query: "x", layer: [{", ".join(["[]"] * 1000)}]) {{ abstained }} }}', None),
        ("query($q: String!) { recall(query: $q) { abstained } }", {"q": "word " * 100_000}),
        ('query($k: [String!]) { recall(query: "x", kind: $k) { hits } }', {"k": ["a"] * 50_000}),
        ('mutation($t: String!) { remember(text: $t, bank: "b") { uri } }', {"t": "t" * 900_000}),
        (f"{{ {'{ a ' * 500}", None),
        ("{ __schema { types { fields { type { fields { type { fields { type { fields "
         "{ name } } } } } } } } } }", None),
        ("subscription { banks { items { id } } }", None),
    ],
)  # fmt: skip
def test_deep_queries_and_huge_values_are_refused(
    attacked: Server, query: str, variables: object
) -> None:
    assert errors(attacked, query, variables)
    assert attacked.ask("/api/v1/banks").status == 200


def test_fragments_that_fan_out_hold_up_nobody(attacked: Server) -> None:
    errors(attacked, f"{{ banks {{ banks {{ ...f1 }} }} }} {nested_fragments(20, 8)}")
    assert attacked.ask("/api/v1/banks").status == 200


def test_variables_that_nest_a_thousand_deep_are_refused(attacked: Server) -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    query = 'query($k: [String!]) { recall(query: "x", kind: $k) { abstained } }'
    got = post(attacked, {"query": query, "variables": {"k": deep}})
    assert got.status in (200, 422) and ("errors" in got.text or "error" in got.text)


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ("query a { banks { items { id } } }", "b"),
        ("query a { banks { items { id } } } query b { banks { items { id } } }", None),
        ("fragment f on Bank { id }", None),
    ],
)
def test_a_query_without_its_operation_is_an_error_of_the_client(
    attacked: Server, query: str, operation: str | None
) -> None:
    got = post(attacked, {"query": query, "operationName": operation})
    code = json.loads(got.text)["errors"][0]["extensions"]["code"]
    assert got.status == 200 and code in ("bad_input", "bad_form")


def test_others_are_answered_while_expensive_queries_are_checked(attacked: Server) -> None:
    """Each takes about a second to validate, in a thread of its own: in the loop of the server, one
    other request would be answered between two of them."""
    slow = f"{{ {'memories { cursor } ' * 900}}}"
    told: list[list[dict[str, Any]]] = []
    checks = [
        threading.Thread(target=lambda: told.append(errors(attacked, slow))) for _ in range(2)
    ]
    for check in checks:
        check.start()
    answered = 0
    while any(check.is_alive() for check in checks) and answered < 100:
        assert attacked.ask("/api/v1/banks").status == 200
        answered += 1
    for check in checks:
        check.join(60)
    assert len(told) == len(checks)
    assert answered > 3 * len(checks)
