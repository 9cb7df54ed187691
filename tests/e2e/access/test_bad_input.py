"""Whatever is sent to a server, at every place that takes text: a clear status, nothing that was
not asked for, and the server goes on."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator

import pytest

from tests.e2e.access.key_client import KeyClient, ServerOperations
from tests.e2e.access.operations import PLAIN, Call, Operation, Parameter, own_calls, rest
from tests.e2e.access.serving import Served, make_keys, served
from tests.e2e.access.two_banks import OWN, World, make_world

# SQL, the language of full-text search, globs, patterns, paths, half characters.
NASTY = (
    "' OR 1=1; DROP TABLE turn; --",
    'x" UNION SELECT * FROM bank; --" NEAR("a b", 5) OR turn:* AND (((NOT ^',
    "%_*?[a-z]{9999}\\ $1 {{7*7}} ${jndi:ldap://x}",
    "../../../../etc/passwd\x00.json",
    "99999999999999999999",
    "half \ud800 a character, \u202e turned, \ufeff",
    "(" * 3_000 + "a+" * 400 + ")" * 3_000,
)
NONSENSE = (
    b"\xff\xfe\xfa",
    b'{"text": "\xc3\x28", "bank": "x"}',
    b"[" * 200_000,
    b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    b'{"question": 1e999999}',
    b"null",
    b'"\\ud800"',
    b"{} trailing",
)
# Beyond a page, 32 bits, 64 bits, and any float.
NUMBERS = (-5, 2**31, 99999999999999999999, 10**400)
# The status of a refused argument.
_REFUSED = {"rest": 422, "page": 400, "graph": 200, "tools": 200}
ERASES = ("purge", "scrub", "undo", "fix")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    world = make_world(tmp_path_factory.mktemp("bad"))
    keys = make_keys(world)
    with served(world) as url:
        yield Served(world, keys, url)


@pytest.fixture(scope="module")
def described(whole: Served) -> ServerOperations:
    with KeyClient(whole.url, whole.keys.chief) as chief:
        return ServerOperations(chief)


@pytest.mark.slow
@pytest.mark.parametrize("sort", ["rest", "graph", "tools"])
def test_bad_input_never_causes_an_internal_error(
    whole: Served, described: ServerOperations, sort: str
) -> None:
    """By whoever may do everything, so that nothing else stands in between."""
    world = whole.world
    before = {name: world.rows(world.other.id)[name] for name in ("turn", "session", "passage")}
    assert all(before.values())
    wrong: list[object] = []
    with KeyClient(whole.url, whole.keys.chief) as client:
        for operation, ask in described.ways(sort, client):
            if any(word in operation.path for word in ERASES):
                continue
            for call in bad_calls(operation, world):
                told = ask(call)
                if told.status >= 500 or "Something went wrong" in told.text:
                    wrong.append((operation.name, str(call.values)[:200], told))
    assert not wrong, "\n".join(map(str, wrong[:30]))
    assert {name: world.rows(world.other.id)[name] for name in before} == before


def bad_calls(operation: Operation, world: World) -> Iterator[Call]:
    """One place at a time with each of them, in a request that is otherwise right."""
    usual = list(own_calls(operation, world.own, OWN))[-1]
    for place in operation.parameters:
        kinds = json.dumps(place.schema)
        if "integer" in kinds and place.where != "header":
            yield from (Call(operation, {**usual.values, place.name: one}) for one in NUMBERS)
        if "string" not in kinds or place.where == "header":
            continue
        for number, words in enumerate(NASTY):
            if place.meaning == PLAIN and number > 1:
                break  # an enumeration or a time: refused before it is looked at
            text = words
            if place.where in ("path", "query"):
                text = words.replace("\ud800", "").replace("\x00", "")[:1000]
            value = [text] if "array" in kinds else text
            yield Call(operation, {**usual.values, place.name: value})


@pytest.mark.parametrize("sort", ["rest", "page", "graph", "tools"])
def test_an_unknown_argument_is_refused_by_name_with_the_nearest_known_one(
    whole: Served, described: ServerOperations, sort: str
) -> None:
    """An argument that is ignored looks like one that was obeyed."""
    wrong: list[object] = []
    count = 0
    with KeyClient(whole.url, whole.keys.chief) as client:
        for operation, ask in described.ways(sort, client):
            for call, given, meant in misspelled_calls(operation, whole.world):
                told = ask(call)
                text = html.unescape(told.text)
                succeeded = told.succeeded or told.status != _REFUSED[sort] or given not in text
                if succeeded or (meant and "Did you mean" not in text):
                    wrong.append((operation.name, given, told.status, told.text[:300]))
                count += 1
    assert count >= 14
    assert not wrong, "\n".join(map(str, wrong[:30]))


def misspelled_calls(operation: Operation, world: World) -> Iterator[tuple[Call, str, str]]:
    """A right call with one argument more: a known name with a typing mistake, and the known name,
    or a name that is like none."""
    usual = list(own_calls(operation, world.own, OWN))[-1]
    values = {
        **usual.values,
        **{place.name: "1" for place in operation.parameters if place.where == "path"},
    }
    sorts = {"query"} if operation.path.startswith("/") else {"argument"}
    sorts |= {"body"} & {place.where for place in operation.parameters}
    for where in sorted(sorts):
        known = [place.name for place in operation.parameters if place.where == where]
        long = [name for name in known if len(name) > 3 and f"{name}x" not in known]
        for meant in ("", *long[-1:]):
            given = f"{meant}x" if meant else "zqjw"
            place = Parameter(where, given, PLAIN, {"type": "string"}, False)
            longer = operation._replace(parameters=(*operation.parameters, place))
            yield Call(longer, {**values, given: "2026-01-01"}), given, meant


def test_invalid_request_bodies_never_cause_an_internal_error(whole: Served) -> None:
    with KeyClient(whole.url, whole.keys.chief) as client:
        told = client.web.get("/api/v1/openapi.json").json()
        paths = [
            one.path
            for one in rest(told)
            if any(place.where == "body" for place in one.parameters) and "{" not in one.path
        ]
        assert len(paths) > 10
        for path in (*paths, "/graphql", "/mcp"):
            _send_nonsense(client, path)
        assert client.web.get("/api/v1/banks").status_code == 200


def _send_nonsense(client: KeyClient, path: str) -> None:
    usual = {"Content-Type": "application/json"}
    for body in NONSENSE:
        got = client.web.post(path, content=body, headers=usual)
        succeeded = got.status_code in (400, 404, 413, 415, 422)
        succeeded = succeeded or (path == "/mcp" and "error" in got.json())
        assert succeeded, (path, body[:40], got.status_code, got.text[:200])
    large = client.web.post(path, content=b" " * 1_000_001, headers=usual)
    assert large.status_code == 413, path
    plain = client.web.post(path, content=b"{}", headers={"Content-Type": "text/plain"})
    assert plain.status_code == 415, (path, plain.status_code)
