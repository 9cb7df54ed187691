"""Two servers over one memory on PostgreSQL: what is done on one holds on the other, and neither
needs a hand when the database goes away under both."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import NamedTuple

import pytest

from tests.support.http.team import OURS, THEIRS, Team, cli, new_key, team_serving
from tests.support.postgres_server import Server as Postgres
from tests.support.waiting import wait_until

_WORDS = {OURS: "The pier is closed.", THEIRS: "The vault sticks."}


class Two(NamedTuple):
    """Two servers, what they share, and a key for everything."""

    one: Team
    other: Team
    postgres: Postgres
    env: dict[str, str]
    root: str


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    folder = tmp_path_factory.mktemp("two")
    with closing(Postgres({"synchronous_commit": "on", "max_connections": "60"})) as postgres:
        store = postgres.database()
        envs: list[dict[str, str]] = []
        member = f"{postgres.member(store)}&wait_s=2"
        for name in ("one", "other"):
            (folder / name).mkdir()
            home = folder / name / "home"
            home.mkdir(mode=0o700)
            made = {**os.environ, "HOLDFAST_HOME": str(home), "HOME": str(folder / name)}
            envs.append({**made, "HOLDFAST_STORE": member, "HOLDFAST_EMBEDDER": "none"})
        for bank, text in _WORDS.items():
            assert cli(envs[0], "remember", text, "--bank", bank).returncode == 0
        root = new_key(envs[0], "--name", "root", "--all-banks", "--level", "admin")
        with (
            team_serving(envs[0], folder / "one") as one,
            team_serving(envs[1], folder / "other") as other,
        ):
            yield Two(one, other, postgres, envs[0], root)


def test_a_record_written_on_one_server_is_found_on_the_other(two: Two) -> None:
    assert _WORDS[OURS] in two.other.ask("/api/v1/memories", two.root).text
    body = {"text": "The crane is yellow.", "bank": OURS}
    assert two.one.ask("/api/v1/memories", two.root, body).status in (200, 201)
    assert "crane is yellow" in two.other.ask("/api/v1/memories", two.root).text
    found = two.other.ask("/api/v1/recall?query=crane+yellow", two.root)
    assert "crane is yellow" in found.text


def test_a_revoked_key_is_refused_by_both_servers(two: Two) -> None:
    key = new_key(two.env, "--name", "gone", "--bank", OURS)
    for team in (two.one, two.other):
        assert team.ask("/api/v1/me", key).status == 200
    assert cli(two.env, "key", "revoke", key[3:11]).returncode == 0
    time.sleep(2.1)
    for team in (two.one, two.other):
        assert team.ask("/api/v1/me", key).status == 401


def test_both_servers_recover_when_the_database_is_killed_during_requests(two: Two) -> None:
    keys = {
        bank: new_key(two.env, "--name", bank, "--bank", bank, "--level", "write")
        for bank in _WORDS
    }
    told: list[int] = []
    leaks: list[str] = []
    kept: list[str] = []
    refused: list[int] = []
    over = threading.Event()

    def ask(team: Team, bank: str, number: int) -> None:
        foreign = _WORDS[THEIRS if bank == OURS else OURS]
        count = 0
        while not over.is_set():
            count += 1
            text = f"note {bank} {number} {count}"
            said = team.ask("/api/v1/memories", keys[bank], {"text": text, "bank": bank})
            told.append(said.status)
            if said.status < 300:
                kept.append(text)
            got = team.ask("/api/v1/memories?limit=200", keys[bank])
            told.append(got.status)
            if max(said.status, got.status) >= 500:
                refused.append(count)
            if foreign in got.text:
                leaks.append(got.text)

    threads = [
        threading.Thread(target=ask, args=(team, bank, number))
        for number, (team, bank) in enumerate(
            (team, bank) for team in (two.one, two.other) for bank in _WORDS
        )
    ]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            _wait_for_more(kept, "notes are kept")
            two.postgres.kill()
            _wait_for_more(refused, "a request is refused")
            two.postgres.start()
        _wait_for_more(kept, "notes are kept again")
    finally:
        over.set()
        for thread in threads:
            thread.join(60)
    wait_until(
        lambda: all(team.ask("/ready").status == 200 for team in (two.one, two.other)),
        "both servers are ready",
        every_s=0.1,
    )
    assert not leaks
    assert set(told) <= {200, 201, 503}, Counter(told)
    assert kept and len(kept) == told.count(201)
    there = two.other.ask("/api/v1/memories?limit=200", two.root).text
    assert all(f'"{text}"' in there for text in kept)


def _wait_for_more(found: Sequence[object], what: str) -> None:
    before = len(found)
    wait_until(lambda: len(found) >= before + 4, what)


def test_a_key_that_cannot_be_checked_is_not_reported_as_wrong(two: Two) -> None:
    strange = "hf_0a1b2c3d_" + "s" * 43
    assert two.one.ask("/api/v1/me", strange).status == 401
    two.postgres.stop()
    time.sleep(0.1)  # what was looked up is believed for half as long
    try:
        got = two.one.ask("/api/v1/me", strange)
        assert (got.status, got.headers["retry-after"]) == (503, "2")
        assert two.one.ask("/api/v1/me").status == 401
    finally:
        two.postgres.start()
    wait_until(
        lambda: two.one.ask("/api/v1/me", strange).status == 401,
        "keys can be looked up again",
        every_s=0.1,
    )
