"""Recalls in other processes find what recalls in this one find, and they end with us."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from multiprocessing import active_children
from pathlib import Path

import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.search_process import SearchProcesses
from holdfast.errors import BusyError, NewerSchemaError
from holdfast.model.query import RecallResult
from holdfast.principal import Level, Principal
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import Settings

pytestmark = [pytest.mark.process, pytest.mark.slow]

OURS = "The lighthouse lamp is oiled on Thursdays"
THEIRS = "The lighthouse vault sticks in winter"
WORDS = RecallPlan(budget=Budget.LOW)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = Settings(home=tmp_path, claude_dir=tmp_path)
    with Holdfast(made) as memory:
        memory.remember(OURS, "ours", "me")
        memory.remember(THEIRS, "theirs", "me")
    return made


@pytest.fixture
def processes(settings: Settings) -> Iterator[SearchProcesses]:
    made = SearchProcesses(settings, timeout_s=60, count=2)
    yield made
    made.end()
    assert not active_children()


def lighthouse(processes: SearchProcesses, who: Principal | None = None) -> set[str]:
    return texts(processes.recall(who, None, "lighthouse", WORDS))


def texts(found: RecallResult) -> set[str]:
    return {hit.text for hit in found.hits}


@pytest.mark.model
def test_it_finds_and_compares_what_a_search_here_does(
    settings: Settings, processes: SearchProcesses
) -> None:
    with Holdfast(settings, create=False) as memory:
        memory.ingestion.embed()
        here = memory.search.recall_in_bank(None, "lighthouse", RecallPlan())
        near = memory.search.cosines("the lamp of the lighthouse", [OURS, THEIRS])
    found = processes.recall(None, None, "lighthouse", RecallPlan())
    assert found.hits == here.hits and texts(found) == {OURS, THEIRS}
    assert processes.cosines("the lamp of the lighthouse", [OURS, THEIRS]) == pytest.approx(near)
    assert near[0] > near[1]


def test_a_principal_sees_only_their_banks(settings: Settings, processes: SearchProcesses) -> None:
    with Holdfast(settings, create=False) as memory:
        ours, theirs = (memory.context.bank_id(name) or "" for name in ("ours", "theirs"))
    one = Principal("Ada", (ours,), Level.READ, "k1")
    assert lighthouse(processes, one) == {OURS}
    assert not processes.recall(one, theirs, "lighthouse", WORDS).hits
    assert lighthouse(processes) == {OURS, THEIRS}, "what one may see does not stay for the next"


def test_an_error_arrives_as_it_was_raised(settings: Settings, processes: SearchProcesses) -> None:
    with closing(sqlite3.connect(settings.database)) as raw:
        raw.execute("PRAGMA user_version = 9999")
    with pytest.raises(NewerSchemaError, match="schema 9999") as raised:
        lighthouse(processes)
    assert raised.value.remedy


def test_after_a_process_was_killed_another_answers(processes: SearchProcesses) -> None:
    lighthouse(processes)
    (first,) = active_children()
    first.kill()
    assert lighthouse(processes) == {OURS, THEIRS}
    assert [one.pid for one in active_children()] != [first.pid]


def test_it_reads_a_memory_that_took_the_place_of_another(
    settings: Settings, processes: SearchProcesses, tmp_path: Path
) -> None:
    lighthouse(processes)
    other = Settings(home=tmp_path / "other", claude_dir=tmp_path)
    with Holdfast(other) as memory:
        memory.remember("The lighthouse is white", "ours", "me")
    other.database.replace(settings.database)
    for suffix in ("-wal", "-shm"):
        settings.database.with_name(settings.database.name + suffix).unlink(missing_ok=True)
    assert lighthouse(processes) == {"The lighthouse is white"}


def test_an_interrupt_of_the_group_is_left_to_the_server(processes: SearchProcesses) -> None:
    lighthouse(processes)
    (running,) = active_children()
    os.kill(running.pid or 0, signal.SIGINT)
    assert lighthouse(processes) == {OURS, THEIRS}
    assert [one.pid for one in active_children()] == [running.pid]


def test_a_recall_that_takes_too_long_is_given_up(settings: Settings) -> None:
    processes = SearchProcesses(settings, timeout_s=0, count=1)
    with pytest.raises(BusyError):
        lighthouse(processes)
    assert not active_children() and processes.running == 0


def test_once_they_were_ended_no_other_starts(processes: SearchProcesses) -> None:
    lighthouse(processes)
    assert processes.running == 1
    processes.end()
    with pytest.raises(BusyError):
        lighthouse(processes)
    assert not active_children()


def test_more_threads_than_processes_are_all_answered(processes: SearchProcesses) -> None:
    with ThreadPoolExecutor(6) as threads:
        queries = [f"lighthouse {number}" for number in range(12)]
        asked = [threads.submit(processes.recall, None, None, q, WORDS) for q in queries]
        assert [one.result().query for one in asked] == queries
    assert processes.running == 2
