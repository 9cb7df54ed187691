"""Every route of the permission table, on both stores: a key of one bank hears nothing of another.

The requests are made from the table and from what a route reads, whatever it describes of itself:
each is asked for records, banks and words of the other bank at every place where one could be
named. A new route must be in the table (`tests/interfaces/http/auth/test_serve_keys.py`), so it is
swept by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from contextlib import closing
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import pytest
from fastapi.routing import APIRoute

from holdfast.interfaces.http.app import prepared_routes
from holdfast.interfaces.http.auth.permissions import permissions, query_names
from tests.e2e.access.plain_client import Answer, PlainClient
from tests.e2e.access.serving import Served, make_keys, served
from tests.e2e.access.test_bank_keys import others_rows
from tests.e2e.access.two_banks import OTHER, Named, make_world
from tests.support.postgres_server import Server

# Every name by which any route takes a bank, a record or words, in a query, a form or a body.
_BANKS = ("bank", "banks")
_IDS = ("id", "uri", "session", "session_id", "anchor", "into", "record", "commit", "review")
_WORDS = ("q", "query", "question", "about", "text", "words", "file", "topic", "name", "content")
_PLACE = re.compile(r"\{(\w+)(?::path)?\}")
_WORD = f"Why is {OTHER.asked} in {OTHER.asked.lower()}.py slow?"
# Records of these kinds; the others are swept by what a server describes of itself.
_KINDS = ("session", "turn", "fact", "memory", "research")
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_JSON = {"Content-Type": "application/json"}


class Question(NamedTuple):
    """One request: what its address and its body or form say."""

    method: str
    path: str
    query: dict[str, str]
    body: dict[str, Any]

    def said(self) -> str:
        return " ".join((self.path, *self.query.values(), *map(str, self.body.values()))).lower()

    def ask(self, client: PlainClient) -> Answer:
        if self.method == "GET":
            return client.request("GET", self.path, params=self.query)
        is_form = not self.path.startswith(("/api/", "/graphql", "/mcp"))
        body, headers = (urlencode, _FORM) if is_form else (json.dumps, _JSON)
        return client.request(self.method, self.path, body(self.body), headers, self.query)


class Names(NamedTuple):
    """The names that a route takes in its address and in its body. It refuses any other, so that
    nothing is learnt from these (test_bad_input.py). None: any name."""

    query: frozenset[str] | None = None
    body: frozenset[str] | None = None


def _names(route: APIRoute) -> Names:
    if route.openapi_extra is not None:
        return _described(route.openapi_extra)
    models: list[Any] = [field.field_info.annotation for field in route.dependant.body_params]
    fields = {field.alias or name for model in models for name, field in model.model_fields.items()}
    return Names(frozenset(query_names(route.dependant)), frozenset(fields) or None)


def _described(route: dict[str, Any]) -> Names:
    """The names that the route of an operation describes."""
    query = (one["name"] for one in route.get("parameters", ()) if one["in"] == "query")
    content = route.get("requestBody", {}).get("content", {}).get("application/json", {})
    fields = content.get("schema", {}).get("properties", {})
    return Names(frozenset(query), frozenset(fields) or None)


@cache
def _names_by_route() -> dict[str, Names]:
    return {
        f"{method} {route.path}": _names(route)
        for route in prepared_routes(for_team=True)
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }


def questions(route: str, other: Named) -> Iterator[Question]:
    """A route, asked for a record of each kind, and for the bank by each of its names."""
    method, path = route.split(" ", 1)
    names = _names_by_route().get(route, Names())
    records = [both for both in other.records() if both[1].split("/")[0] in _KINDS]
    first, *others = other.names
    named = [(first, id, uri) for id, uri in records] + [(name, *records[0]) for name in others]
    for bank, id, uri in named:
        values: dict[str, str] = dict.fromkeys(_BANKS, bank)
        values |= dict.fromkeys(_IDS, uri) | dict.fromkeys(_WORDS, _WORD)
        query = _only(names.query, values)
        body: dict[str, Any] = _only(names.body, values)
        if names.body and "ids" in names.body:
            body |= {"ids": [uri], "verdict": "outdated"}
        if path == "/graphql":
            body = _graph_body(values)
        for own in (id, bank) if _PLACE.search(path) else (id,):
            word = uri.split("/")[0]
            places: dict[str, str] = {"word": word, "n": "1"}
            filled = _PLACE.sub(lambda at: quote(places.get(at[1], own), safe=""), path)  # noqa: B023
            yield Question(method, filled, query, {} if method == "GET" else body)


def _only(names: frozenset[str] | None, values: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in values.items() if names is None or name in names}


def _graph_body(values: dict[str, str]) -> dict[str, str]:
    words, bank = json.dumps(values["q"]), json.dumps(values["bank"])
    return {"query": f"{{ recall(query: {words}, bank: {bank}) {{ hits {{ text }} }} }}"}


def test_the_table_has_routes_of_every_interface() -> None:
    paths = {route.split(" ", 1)[1] for route in permissions()}
    assert {"/graphql", "/mcp", "/search", "/api/v1/recall", "/api/v1/records/{id:path}"} <= paths
    names = {name for path in paths for name in _PLACE.findall(path)}
    assert names <= {"id", "name", "session", "word", "n"}, "say above what this stands for"


@pytest.fixture(scope="module", params=["sqlite", "postgres"])
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("sweep")
    if request.param == "sqlite":
        world = make_world(folder)
        with served(world) as url:
            yield Served(world, make_keys(world), url)
        return
    with closing(Server()) as postgres:
        world = make_world(folder, postgres.database())
        keys = make_keys(world)
        env = {**world.env, "HOLDFAST_STORE": postgres.member(world.settings.store)}
        with served(world._replace(env=env)) as url:
            yield Served(world, keys, url)


@pytest.mark.slow
def test_no_route_of_the_table_tells_or_changes_another_bank(whole: Served) -> None:
    world, secrets = whole.world, whole.world.secrets()
    before = others_rows(world)
    wrong: list[Any] = []
    answered: dict[str, set[int]] = {}
    with closing(client_of(whole, whole.keys.admin)) as client:
        for route in permissions():
            for question in questions(route, world.other):
                answer = question.ask(client)
                answered.setdefault(route, set()).add(answer.status_code)
                leaks = leaked(secrets, question, answer)
                if leaks or answer.status_code >= 500:
                    wrong.append((route, question.path, answer.status_code, leaks))
    assert not wrong, "\n".join(map(str, wrong[:20]))
    assert answered.keys() == permissions().keys()
    assert others_rows(world) == before


@pytest.mark.slow
def test_the_questions_find_something_for_the_key_of_the_other_bank(whole: Served) -> None:
    """So that the silence above is not for want of a right question: the same requests, by whoever
    may see that bank, are answered with its words on a good part of the routes that read."""
    told: set[str] = set()
    reading = [route for route in permissions() if route.startswith("GET ")]
    wanted, secrets = len(reading) // 3 + 1, whole.world.secrets()
    with closing(client_of(whole, whole.keys.other)) as client:
        for route in reading:
            asked = questions(route, whole.world.other)
            if any(leaked(secrets, question, question.ask(client)) for question in asked):
                told.add(route)
            if len(told) == wanted:
                break
    assert len(told) == wanted, sorted(told)


def client_of(whole: Served, key: str) -> PlainClient:
    return PlainClient(whole.url, {"Authorization": f"Bearer {key}"}, "127.0.0.1")


def leaked(secrets: Collection[str], question: Question, answer: Answer) -> list[str]:
    """What an answer tells of the other bank that the question did not say."""
    text, said = f"{answer.headers.get('location', '')} {answer.text}".lower(), question.said()
    return [one for one in secrets if one in text and one not in said]
