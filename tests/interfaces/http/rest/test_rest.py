from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import run_command
from tests.support.http.server import HttpResponse, Server

JSON = {"Content-Type": "application/json"}


def get(server: Server, path: str) -> Any:
    got = server.ask(f"/api/v1{path}")
    assert got.status == 200, got
    return json.loads(got.text)


def send(
    server: Server,
    path: str,
    body: object,
    headers: Mapping[str, str] | None = None,
    how: str = "POST",
) -> HttpResponse:
    given = {"Authorization": f"Bearer {server.token}", **JSON} if headers is None else headers
    return server.ask(f"/api/v1{path}", given, json.dumps(body).encode(), how)


def cli(server: Server, *words: str) -> Any:
    run = run_command([*words], server.env, Path(server.env["HOME"]))
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_responses_have_the_same_shape_as_the_command_line(server: Server) -> None:
    ours, theirs = (
        get(server, "/recall?query=nightly+backups&budget=low"),
        cli(server, "recall", "nightly backups", "--bank", "all", "--budget", "low", "--json"),
    )
    assert [hit["uri"] for hit in ours["hits"]] == [hit["uri"] for hit in theirs["hits"]] != []
    assert [set(hit) for hit in ours["hits"]] == [set(hit) for hit in theirs["hits"]]
    assert set(get(server, "/status")) == set(cli(server, "status", "--json"))
    uri = ours["hits"][0]["uri"]
    ours = get(server, f"/records/{uri.removeprefix('holdfast://')}")
    assert ours == cli(server, "show", uri, "--json")
    sent = {"question": "Why not cron with cp?", "budget": "low"}
    answer = json.loads(send(server, "/ask", sent).text)
    theirs = cli(
        server, "ask", "Why not cron with cp?", "--bank", "all", "--budget", "low", "--json"
    )
    assert set(answer) == set(theirs) and answer["answer"] == theirs["answer"]
    name = answer["session_id"]
    assert get(server, f"/research/{name}")["questions"] == ["Why not cron with cp?"]


def test_pages_of_a_list_neither_miss_nor_repeat_entries(server: Server) -> None:
    for path, items in (
        ("/exchanges", "exchanges"),
        ("/sessions", "sessions"),
        ("/entities", "entities"),
    ):
        whole = [one["uri"] for one in get(server, f"{path}?limit=200")[items]]
        seen: list[str] = []
        cursor = ""
        while cursor is not None:
            page = get(server, f"{path}?limit=7&cursor={cursor}")
            seen += [one["uri"] for one in page[items]]
            cursor = page["cursor"]
        assert whole and seen[: len(whole)] == whole and len(set(seen)) == len(seen)
    known = [get(server, f"/sessions/{one['id']}") for one in get(server, "/sessions")["sessions"]]
    session = max(known, key=lambda one: one["messages"])
    first = get(server, f"/sessions/{session['id']}/messages?limit=3")
    second = get(server, f"/sessions/{session['id']}/messages?limit=3&cursor={first['cursor']}")
    places = [one["seq"] for one in first["messages"] + second["messages"]]
    assert places == sorted(set(places)) and len(places) == 6
    assert session["messages"] > 6 and session["digest"]["session"] == session["id"]
    assert get(server, f"/sessions/{session['id']}/exchanges")["exchanges"]
    assert get(server, f"/handoff?what={session['id']}")["page"].startswith("#")


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/recall", 422, "bad_form"),
        ("/sessions?cursor=garbage", 400, "bad_input"),
        ("/exchanges?cursor=WzFd", 400, "bad_input"),
        ("/research/mem-0123456789", 404, "not_found"),
        ("/research/..%2f..%2fconfig", 404, "not_found"),
        ("/nowhere", 404, "not_found"),
    ],
)
def test_every_error_has_one_form(server: Server, path: str, status: int, code: str) -> None:
    got = server.ask(f"/api/v1{path}")
    error = json.loads(got.text)["error"]
    assert (
        got.status == status
        and error["code"] == code
        and set(error) == {"code", "message", "remedy"}
    )


def test_an_argument_is_given_once_in_the_path_the_address_or_the_body(server: Server) -> None:
    for path, body in (
        ("/memories?bank=b", {"text": "x", "bank": "b"}),
        ("/memories?bank=b&bank=c", {"text": "x"}),
        ("/records/memory/1/correct", {"text": "x", "id": "memory/2"}),
    ):
        got = send(server, path, body)
        assert got.status == 422 and "is given twice" in got.text, got


def test_a_body_must_be_an_object_of_known_arguments(server: Server) -> None:
    with_token = {"Authorization": f"Bearer {server.token}"}
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        got = send(server, "/memories", {}, {**with_token, "Content-Type": kind})
        assert got.status == 415
    bodies: tuple[object, ...] = ({}, [], "text", None, {"text": 7}, {"text": None})
    for body in bodies:
        assert send(server, "/memories", body).status == 422, body
    unknown = send(server, "/memories", {"text": "x", "bank": "b", "more": 1})
    assert unknown.status == 422 and "takes no 'more'" in unknown.text
    assert send(server, "/memories", {"text": "half \ud800", "bank": "b"}).status in (400, 422)
    got = server.ask("/api/v1/ask", {**with_token, **JSON}, b"{", "POST")
    assert got.status == 422 and json.loads(got.text)["error"]["code"] == "bad_form"
