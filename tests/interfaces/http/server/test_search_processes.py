"""A team server whose searches run in several processes: one set of keys, limits and metrics, the
same answers, and no process left behind."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import psutil
import pytest

from tests.support.http.server import HttpResponse
from tests.support.http.team import (
    OUR_WORDS,
    OURS,
    THEIR_WORDS,
    Team,
    cli,
    new_key,
    team_serving,
    two_banks,
)
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.model, pytest.mark.slow]

_MCP = f"/mcp?bank={OURS}"
_ACCEPT = "application/json, text/event-stream"


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return two_banks(tmp_path_factory.mktemp("workers"))


@pytest.fixture(scope="module")
def team(env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    with team_serving(env, tmp_path_factory.mktemp("cwd"), "--workers", "2") as made:
        yield made


def searchers(team: Team) -> list[psutil.Process]:
    """The processes of a server that recall."""
    children = psutil.Process(team.process.pid).children()
    return [one for one in children if "holdfast.app.server.searcher" in one.cmdline()]


def all_at_once(team: Team, key: str, paths: list[str]) -> list[HttpResponse]:
    """The answers, in the order of the paths."""
    with ThreadPoolExecutor(len(paths)) as clients:
        return list(clients.map(partial(team.ask, key=key), paths))


def together(team: Team, key: str, paths: list[str]) -> list[int]:
    """Ask all at once; returns the statuses."""
    return [answer.status for answer in all_at_once(team, key, paths)]


def call_tool(team: Team, key: str, name: str, **arguments: str) -> str:
    """What a tool answers to an agent with a session of its own."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t"}}
    begun = team.ask(_MCP, key, _message("initialize", hello), Accept=_ACCEPT)
    session = begun.headers["mcp-session-id"]
    call = _message("tools/call", {"name": name, "arguments": arguments})
    return team.ask(_MCP, key, call, Accept=_ACCEPT, Mcp_Session_Id=session).text


def _message(method: str, params: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def counted(team: Team, key: str, name: str) -> float:
    """The sum of a metric over all its labels."""
    text = team.ask("/metrics", key).text
    return sum(float(one) for one in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))


def test_searches_at_the_same_time_run_in_two_processes_and_count_together(team: Team) -> None:
    key = new_key(team.env, "--name", "root", "--all-banks", "--level", "admin")
    before = counted(team, key, "holdfast_requests_total")
    paths = [f"/api/v1/recall?query=lighthouse+{number}" for number in range(8)]
    assert together(team, key, paths) == [200] * 8
    assert len(searchers(team)) == 2
    assert counted(team, key, "holdfast_search_processes") == 2
    assert counted(team, key, "holdfast_requests_total") - before >= 8


@pytest.mark.parametrize("word", ["lighthouse", "vault"])
def test_every_interface_finds_in_them_what_the_key_may_see(team: Team, word: str) -> None:
    ours = new_key(team.env, "--name", f"ours-{word}", "--bank", OURS)
    # A page marks the word itself.
    shown = OUR_WORDS.partition(word)[2] if word == "lighthouse" else ""
    answers = [
        team.ask(f"/api/v1/recall?query={word}", ours).text,
        team.ask("/api/v1/ask", ours, {"question": f"What is known of the {word}?"}).text,
        team.ask(f"/search?q={word}", ours).text,
        json.dumps(team.graph(f'{{ recall(query: "{word}") {{ hits {{ text }} }} }}', ours)),
        call_tool(team, ours, "memory_recall", query=word),
    ]
    for answer in answers:
        assert THEIR_WORDS not in answer
        assert shown in answer, answer


def test_a_revoked_key_is_refused_by_all_of_them(team: Team) -> None:
    gone = new_key(team.env, "--name", "gone", "--all-banks")
    assert team.ask("/api/v1/recall?query=lamp", gone).status == 200
    assert cli(team.env, "key", "revoke", gone.split("_")[1]).returncode == 0
    wait_until(
        lambda: team.ask("/api/v1/recall?query=lamp", gone).status == 401,
        "the key is worth nothing",
    )


def test_what_was_just_remembered_is_found_by_each_process(team: Team) -> None:
    key = new_key(team.env, "--name", "writer", "--all-banks", "--level", "admin")
    together(team, key, [f"/api/v1/recall?query=pier+{number}" for number in range(4)])
    sent = team.ask("/api/v1/memories", key, {"text": "The pier was painted green", "bank": OURS})
    assert sent.status in (200, 201), sent.text
    paths = [f"/api/v1/recall?query=pier+painted+{number}" for number in range(6)]
    assert all("painted green" in one.text for one in all_at_once(team, key, paths))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left_behind(
    env: dict[str, str], tmp_path: Path, number: signal.Signals
) -> None:
    key = new_key(env, "--name", f"end-{number}", "--all-banks")
    with team_serving(env, tmp_path, "--workers", "2") as team:
        together(team, key, [f"/api/v1/recall?query=lamp+{n}" for n in range(6)])
        started = searchers(team)
        assert started
        team.process.send_signal(number)
        team.process.wait(60)
        wait_until(lambda: not any(one.is_running() for one in started), "all have ended")


def test_one_worker_recalls_in_the_server_itself(env: dict[str, str], tmp_path: Path) -> None:
    key = new_key(env, "--name", "alone", "--all-banks")
    with team_serving(env, tmp_path, "--workers", "1") as team:
        assert OUR_WORDS in team.ask("/api/v1/recall?query=lighthouse", key).text
        assert searchers(team) == []


def test_a_number_of_workers_that_cannot_be_is_refused(env: dict[str, str]) -> None:
    refused = cli(env, "serve", "--workers", "1000")
    assert refused.returncode == 2
    assert "Choose 1 to 64" in refused.stderr
