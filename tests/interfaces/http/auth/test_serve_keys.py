from __future__ import annotations

import json
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute

from holdfast.interfaces.http.app import prepared_routes, routes_of
from holdfast.interfaces.http.auth.permissions import PUBLIC_ROUTES, permissions
from tests.support.http.server import HttpResponse
from tests.support.http.team import (
    OUR_WORDS,
    OURS,
    THEIR_WORDS,
    THEIRS,
    Team,
    cli,
    new_key,
    team_serving,
    two_banks,
)


class IssuedKeys(NamedTuple):
    """One of each sort; those but `admin` and `looks` are for one bank."""

    admin: str
    looks: str
    reads: str
    writes: str
    owns: str


@pytest.fixture(scope="module")
def keys(env: dict[str, str]) -> IssuedKeys:
    return IssuedKeys(
        new_key(env, "--name", "root", "--all-banks", "--level", "admin"),
        new_key(env, "--name", "looks", "--all-banks"),
        new_key(env, "--name", "reads", "--bank", OURS),
        new_key(env, "--name", "Ana", "--bank", OURS, "--level", "write"),
        new_key(env, "--name", "owns", "--bank", OURS, "--level", "admin"),
    )


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return two_banks(tmp_path_factory.mktemp("team"))


@pytest.fixture(scope="module")
def team(
    env: dict[str, str], keys: IssuedKeys, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Team]:
    with team_serving(env, tmp_path_factory.mktemp("cwd")) as made:
        yield made


def code(got: HttpResponse) -> str:
    return json.loads(got.text)["error"]["code"]


def test_a_key_is_shown_once_and_stored_as_a_hash(env: dict[str, str], keys: IssuedKeys) -> None:
    home = Path(env["HOLDFAST_HOME"])
    secret = keys.admin.split("_", 2)[2]
    assert keys.admin.startswith("hf_") and len(secret) >= 32
    for path in home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path
    listed = json.loads(cli(env, "key", "list", "--json").stdout)["keys"]
    assert [key["name"] for key in listed][:5] == ["root", "looks", "reads", "Ana", "owns"]
    assert listed[2]["banks"] == [OURS] and listed[0]["banks"] is None
    assert secret not in json.dumps(listed)


def test_a_new_key_needs_a_name_known_banks_and_a_future_expiry(env: dict[str, str]) -> None:
    for wrong in (
        ("--name", "x"),
        ("--name", "x", "--bank", "nowhere"),
        ("--name", " ", "--all-banks"),
        ("--name", "x", "--all-banks", "--expires", "soon"),
        ("--name", "x", "--all-banks", "--expires", "2001-01-01"),
        ("--name", "x", "--all-banks", "--bank", OURS),
    ):
        refused = cli(env, "key", "new", *wrong)
        assert refused.returncode == 2 and "→" in refused.stderr, wrong


def test_a_request_without_a_valid_key_is_refused(
    team: Team, env: dict[str, str], keys: IssuedKeys
) -> None:
    id = keys.admin[3:11]
    for wrong in ("", "x", "hf_00000000_" + "x" * 43, f"hf_{id}_" + "x" * 43, keys.admin[:-1]):
        got = team.ask("/api/v1/banks", wrong)
        assert (got.status, code(got)) == (401, "no_key"), wrong
        assert got.headers["www-authenticate"] == "Bearer"
    short = new_key(env, "--name", "short", "--all-banks", "--expires", "1h")
    assert team.ask("/api/v1/me", short).status == 200
    path = Path(env["HOLDFAST_HOME"]) / "memory.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE api_key SET expires = '2026-01-01' WHERE name = 'short'")
    time.sleep(1.1)
    assert team.ask("/api/v1/me", short).status == 401


def test_a_new_key_works_at_once(team: Team, keys: IssuedKeys, env: dict[str, str]) -> None:
    for name in ("soon", "sooner"):
        assert team.ask("/api/v1/me", keys.looks).status == 200
        made = new_key(env, "--name", name, "--bank", OURS)
        assert team.ask("/api/v1/me", made).status == 200


def test_a_revoked_key_stops_working_soon(team: Team, env: dict[str, str]) -> None:
    key = new_key(env, "--name", "gone", "--bank", OURS)
    assert team.ask("/api/v1/me", key).status == 200
    assert cli(env, "key", "revoke", key[3:11]).returncode == 0
    time.sleep(1.1)
    assert team.ask("/api/v1/me", key).status == 401
    assert cli(env, "key", "revoke", key[3:11]).returncode == 2


def test_a_key_shows_what_it_permits(team: Team, keys: IssuedKeys) -> None:
    me = json.loads(team.ask("/api/v1/me", keys.writes).text)
    assert me == {"name": "Ana", "key": keys.writes[3:11], "level": "write", "banks": [OURS]}
    assert json.loads(team.ask("/api/v1/me", keys.admin).text)["banks"] is None


def test_a_key_can_do_what_its_level_allows(team: Team, keys: IssuedKeys) -> None:
    kept = {"text": "Buoys are painted in May.", "bank": OURS}
    refused = team.ask("/api/v1/memories", keys.reads, kept)
    assert (refused.status, code(refused)) == (403, "not_permitted")
    assert team.ask("/api/v1/memories", keys.looks, kept).status == 403
    made = team.ask("/api/v1/memories", keys.writes, kept)
    assert made.status == 201, made.text
    abroad = team.ask("/api/v1/memories", keys.writes, {**kept, "bank": THEIRS})
    assert abroad.status == 404
    assert team.ask("/api/v1/memories", keys.writes, {**kept, "bank": "brand new"}).status == 404
    id = json.loads(made.text)["record"]["id"]
    purge = {"confirm": "purge"}
    assert team.ask(f"/api/v1/records/memory/{id}/purge", keys.writes, purge).status == 403
    log = json.loads(team.ask("/api/v1/decisions", keys.owns).text)["decisions"]
    assert log[0]["who"] == f"Ana, key {keys.writes[3:11]} (http)"
    assert team.ask(f"/api/v1/records/memory/{id}/purge", keys.owns, purge).status == 200


def test_investigations_are_visible_to_whoever_started_them(team: Team, keys: IssuedKeys) -> None:
    asked = {"question": "When is the lamp oiled?"}
    began = json.loads(team.ask("/api/v1/research", keys.reads, asked).text)["session_id"]
    events = team.ask(f"/api/v1/research/{began}/events", keys.reads).text
    assert "event: done" in events and OUR_WORDS in events
    assert json.loads(team.ask("/api/v1/research", keys.reads).text)["sessions"]
    assert team.ask(f"/api/v1/research/{began}", keys.writes).status == 404
    assert team.ask(f"/api/v1/research/{began}/events", keys.writes).status == 404
    answer = team.ask("/api/v1/ask", keys.reads, {"question": "Why does the vault door stick?"})
    assert answer.status == 200 and THEIR_WORDS not in answer.text


def test_a_browser_signs_in_with_its_key(team: Team, keys: IssuedKeys) -> None:
    page = {"Accept": "text/html"}
    sent = team.ask("/memory", **page)
    assert sent.status == 303 and sent.headers["location"] == "/login?to=/memory"
    form = {"Content_Type": "application/x-www-form-urlencoded", "Origin": team.url, **page}
    assert team.ask("/login").status == 200 and team.ask("/static/style.css").status == 200
    wrong = team.ask("/login", "", b"key=hf_x&to=/memory", **form)
    assert wrong.status == 401 and "gives no access" in wrong.text
    foreign = team.ask("/login", "", b"key=x", **{**form, "Origin": "http://evil.example"})
    assert foreign.status == 403
    into = team.ask("/login", "", f"key={keys.reads}&to=//evil.example".encode(), **form)
    assert into.status == 303 and into.headers["location"] == "/"
    cookie = into.headers["set-cookie"].partition(";")[0]
    assert "HttpOnly" in into.headers["set-cookie"]
    seen = team.ask("/memory", Cookie=cookie, **page)
    assert seen.status == 200 and OUR_WORDS in seen.text and THEIR_WORDS not in seen.text
    out = team.ask("/logout", "", b"", Cookie=cookie, **form)
    assert out.status == 303
    assert team.ask("/memory", Cookie=cookie, **page).status == 303


def test_several_records_are_decided_by_a_writer_but_rules_only_by_an_admin(
    team: Team, keys: IssuedKeys
) -> None:
    page = {"Accept": "text/html"}

    def decide(key: str, act: str, name: str, id: str) -> int:
        shown = team.ask("/memory?tab=memories", key, **page)
        found = re.search(r'name="form_key" value="(\w+)"', shown.text)
        form_key = found[1] if found else ""
        form = {"form_key": form_key, "act": act, "pick": urlencode({act: name, "id": id})}
        sent = {"Content_Type": "application/x-www-form-urlencoded", "Origin": team.url, **page}
        return team.ask("/do/several", key, urlencode(form).encode(), **sent).status

    made = team.ask("/api/v1/memories", keys.writes, {"text": "A tern.", "bank": OURS})
    name = json.loads(made.text)["uri"].removeprefix("holdfast://")
    assert decide(keys.reads, "reject", "forget", name) == 403
    assert team.ask(f"/api/v1/records/{name}", keys.writes).status == 200
    assert decide(keys.writes, "reject", "forget", name) == 303
    assert team.ask(f"/api/v1/records/{name}", keys.writes).status == 404
    assert decide(keys.writes, "reject", "promote reject", "00ff") == 303
    for key in (keys.writes, keys.owns):
        assert decide(key, "approve", "promote approve", "00ff") == 403
    assert decide(keys.admin, "approve", "promote approve", "00ff") == 303


def test_every_route_declares_the_permission_it_needs() -> None:
    """What is not listed is for those alone who may do everything; so all of it is listed."""
    ways = {
        f"{method} {route.path}"
        for route in prepared_routes(for_team=True)
        if isinstance(route, APIRoute)
        for method in route.methods or ()
    }
    assert len(ways) > 90
    assert ways == {*permissions(), *PUBLIC_ROUTES} - {"GET /enter"}


def test_a_route_that_checks_no_permission_is_not_served() -> None:
    unchecked = APIRouter()
    unchecked.add_api_route("/secrets", lambda: "all of them")
    with pytest.raises(TypeError, match="/secrets checks no permission"):
        routes_of(unchecked)
