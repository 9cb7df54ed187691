"""Queries that are made to hold up the server: each is refused, and others are answered meanwhile.
All are bounded in number, size and time."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from graphql import parse

from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError, InputError
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.interfaces.http.graphql import limits
from holdfast.interfaces.http.graphql.schema import Context, answer, schema
from holdfast.operations.registry import find_operation
from holdfast.settings import load_settings
from tests.support.http.server import HttpResponse, Server, make_home, serving
from tests.support.waiting import TIMEOUT_S

READERS = 2


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what gets through would hold up other tests, too."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    with serving(make_home(folder), folder) as made:
        yield made


def post(server: Server, body: object) -> HttpResponse:
    headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/json"}
    return server.ask("/graphql", headers, json.dumps(body).encode(), "POST")


def errors(server: Server, query: str, variables: object = None) -> list[dict[str, Any]]:
    got = post(server, {"query": query, "variables": variables})
    assert got.status == 200, got
    return json.loads(got.text).get("errors", [])


def nested_fragments(width: int, levels: int, kind: str = "Bank", inner: str = "name") -> str:
    """Fragments that each spread the next one `width` times: width ** levels fields in all."""
    chain = [
        f"fragment f{n} on {kind} {{ {f'...f{n + 1} ' * width}}}" for n in range(1, levels + 1)
    ]
    return " ".join((*chain, f"fragment f{levels + 1} on {kind} {{ {inner} }}"))


def aliases(count: int, field: str) -> str:
    return " ".join(f"a{n}: {field}" for n in range(count))


NESTED = f"{{ banks {{ items {{ ...f1 }} }} }} {nested_fragments(20, 8)}"
ANSWER = 'searchMemory(question: "Why not cron?") { answer }'
SEARCH = 'recall(query: "cron") { abstained }'
TOO_MANY_SEARCHES = {
    "aliases of answers": f"mutation {{ {aliases(99, ANSWER)} }}",
    "three aliases of answers": f"mutation {{ {aliases(3, ANSWER)} }}",
    "three aliases of searches": f"{{ {aliases(3, SEARCH)} }}",
    "inline fragments": f"{{ {' '.join(f'... {{ s{n}: {SEARCH} }}' for n in range(3))} }}",
    "two fragments": f"{{ ...a ...b }} fragment a on Query {{ {aliases(2, SEARCH)} }}"
    f" fragment b on Query {{ b: {SEARCH} }}",
    "an operation that is not run": "query a { banks { items { id } } } "
    f"query b {{ {aliases(3, SEARCH)} }}",
}


def test_a_query_of_nested_fragments_is_refused_and_the_server_goes_on(attacked: Server) -> None:
    assert len(NESTED) < 1_500
    told = errors(attacked, NESTED)
    assert told[0]["extensions"]["code"] == "bad_input" and "too many" in told[0]["message"]
    assert attacked.ask("/api/v1/banks").status == 200


def test_every_spread_of_a_fragment_counts() -> None:
    fragment = "fragment f on Bank { id name created }"
    limits.check(parse(f"{{ banks {{ items {{ {'...f ' * 90} }} }} }} {fragment}"), schema())
    with pytest.raises(InputError, match="too many"):
        limits.check(parse(f"{{ banks {{ items {{ {'...f ' * 110} }} }} }} {fragment}"), schema())
    nothing = "fragment e on Bank { ... @skip(if: true) { id } }"
    with pytest.raises(InputError, match="too many"):
        limits.check(parse(f"{{ banks {{ items {{ {'...e ' * 410} }} }} }} {nothing}"), schema())


@pytest.mark.parametrize(
    "query",
    [
        "{ ...f } fragment f on Query { ...f }",
        "{ ...f } fragment f on Query { ...g } fragment g on Query { memories { cursor } ...f }",
        "{ banks { items { ...f } } } fragment f on Bank { sessions { items { ...g } } } "
        "fragment g on Session { exchanges { items { ...f } } }",
        f"{{ ...f1 }} {nested_fragments(1, 400, 'Query', 'banks { items { id } }')} ".replace(
            "f401 on Query { banks { items { id } } }", "f401 on Query { ...f1 }"
        ),
    ],
)
def test_cyclic_fragments_are_refused(attacked: Server, query: str) -> None:
    assert errors(attacked, query)
    assert attacked.ask("/api/v1/banks").status == 200


@pytest.mark.parametrize("name", TOO_MANY_SEARCHES)
def test_a_request_searches_at_most_twice(attacked: Server, name: str) -> None:
    before = attacked.ask("/api/v1/research").text
    told = errors(attacked, TOO_MANY_SEARCHES[name])
    # Which of two operations is meant was not said, which is refused before anything is counted.
    words = "operation" if "operation" in name else "searches"
    assert words in told[0]["message"], told
    assert attacked.ask("/api/v1/research").text == before


def test_an_operation_that_is_not_run_may_not_search_more_either(attacked: Server) -> None:
    query = TOO_MANY_SEARCHES["an operation that is not run"]
    got = json.loads(post(attacked, {"query": query, "operationName": "a"}).text)
    assert "searches" in got["errors"][0]["message"]


def test_two_searches_in_one_request_are_answered(attacked: Server) -> None:
    got = json.loads(post(attacked, {"query": f"{{ {aliases(2, SEARCH)} }}"}).text)
    assert "errors" not in got and set(got["data"]) == {"a0", "a1"}


@pytest.mark.parametrize(
    ("query", "variables"),
    [
        (f"{{ recall(query: {'[' * 900}{']' * 900}) {{ abstained }} }}", None),
        (f'{{ recall(query: "x", layer: [{", ".join(["[]"] * 1000)}]) {{ abstained }} }}', None),
        ("query($q: String!) { recall(query: $q) { abstained } }", {"q": "word " * 100_000}),
        ("mutation($q: String!) { searchMemory(question: $q) { answer } }", {"q": "x" * 5_000}),
        (
            'query($k: [String!]) { recall(query: "x", kind: $k) { abstained } }',
            {"k": ["a"] * 50_000},
        ),
        ("query($b: String!) { bank(name: $b) { id } }", {"b": "b" * 500_000}),
        ('mutation($t: String!) { remember(text: $t, bank: "b") { uri } }', {"t": "t" * 900_000}),
        (f"{{ {'{ a ' * 500}", None),
        (f"{{ {'banks { sessions { items { ' * 5} id {'} } } ' * 5} }}", None),
    ],
)
def test_deep_lists_and_huge_values_are_refused(
    attacked: Server, query: str, variables: object
) -> None:
    assert errors(attacked, query, variables)
    assert attacked.ask("/api/v1/banks").status == 200


def test_variables_that_nest_a_thousand_deep_are_refused(attacked: Server) -> None:
    deep: object = "x"
    for _ in range(900):
        deep = [deep]
    query = 'query($k: [String!]) { recall(query: "x", kind: $k) { abstained } }'
    got = post(attacked, {"query": query, "variables": {"k": deep}})
    assert got.status in (200, 422) and ("errors" in got.text or "error" in got.text)
    assert attacked.ask("/api/v1/banks").status == 200


def test_batches_are_refused(attacked: Server) -> None:
    assert post(attacked, [{"query": "{ banks { items { id } } }"}] * 200).status == 422


@pytest.mark.parametrize(
    ("query", "operation"),
    [
        ("query a { banks { items { id } } }", "b"),
        ("query a { banks { items { id } } } query b { banks { items { id } } }", None),
        ("fragment f on Bank { id }", None),
        ("subscription { banks { items { id } } }", None),
    ],
)
def test_a_query_without_its_operation_is_an_error_of_the_client(
    attacked: Server, query: str, operation: str | None
) -> None:
    got = post(attacked, {"query": query, "operationName": operation})
    assert got.status == 200 and json.loads(got.text)["errors"][0]["extensions"]["code"] in (
        "bad_input",
        "bad_form",
    )


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
    assert len(told) == len(checks) and all(told)
    assert answered > 3 * len(checks)


def test_a_query_that_is_not_answered_in_time_gets_an_error_and_no_further_field_is_read(
    tmp_path: Path,
) -> None:
    env = make_home(tmp_path)
    busy, begun = threading.Event(), threading.Event()

    def hold(memory: Holdfast) -> None:
        begun.set()
        busy.wait(TIMEOUT_S)

    async def ask_a_busy_server(pool: MemoryPool) -> tuple[dict[str, Any], dict[str, Any]]:
        set_principal(owner())
        holding = [asyncio.create_task(pool.read(hold)) for _ in range(READERS)]
        assert await asyncio.to_thread(begun.wait, TIMEOUT_S)
        late = await answer(pool, "{ banks { items { name } } }", None, None, read_timeout_s=0.2)
        busy.set()
        await asyncio.gather(*holding)
        return late, await answer(pool, "{ banks { items { name } } }", None, None)

    pool = MemoryPool(load_settings(env), readers=READERS)
    try:
        late, again = asyncio.run(ask_a_busy_server(pool))
    finally:
        busy.set()
        pool.close()
    assert late["data"] is None
    told = late["errors"][0]
    assert "not answered within 0.2 s" in told["message"]
    remedy = "Request less at once, or try again later."
    assert told["extensions"] == {"code": "busy", "remedy": remedy}
    assert "errors" not in again and again["data"]["banks"]


def test_fields_are_not_resolved_after_the_time_is_up() -> None:
    """Also where nothing waits in between, so that a deadline of the loop would not be noticed."""
    ended = Context(cast(MemoryPool, None), 0.0)
    with pytest.raises(BusyError, match="not answered within 0 s"):
        asyncio.run(ended.run(find_operation("banks"), {}))
