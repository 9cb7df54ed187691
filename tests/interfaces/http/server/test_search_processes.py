"""A team server whose searches run in several processes: one set of keys, limits and metrics, the
same answers, and no process left behind."""

from __future__ import annotations

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
    Team,
    cli,
    new_key,
    team_serving,
    two_banks,
)
from tests.support.waiting import wait_until

pytestmark = [pytest.mark.model, pytest.mark.slow]


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
    return [one for one in children if "multiprocessing.spawn" in " ".join(one.cmdline())]


def all_at_once(team: Team, key: str, paths: list[str]) -> list[HttpResponse]:
    """The answers, in the order of the paths."""
    with ThreadPoolExecutor(len(paths)) as clients:
        return list(clients.map(partial(team.ask, key=key), paths))


def together(team: Team, key: str, paths: list[str]) -> list[int]:
    """Ask all at once; returns the statuses."""
    return [answer.status for answer in all_at_once(team, key, paths)]


def test_searches_at_the_same_time_run_in_two_processes(team: Team) -> None:
    key = new_key(team.env, "--name", "root", "--all-banks", "--level", "admin")
    paths = [f"/api/v1/recall?query=lighthouse+{number}" for number in range(8)]
    assert together(team, key, paths) == [200] * 8
    assert len(searchers(team)) == 2


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
