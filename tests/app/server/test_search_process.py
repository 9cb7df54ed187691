"""Recalls in a process of its own find what recalls in this one find, and it ends with us."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from holdfast.app.memory import Holdfast
from holdfast.app.server.search_process import SearchProcess, SearchProcesses
from holdfast.errors import BusyError, NewerSchemaError, NotFoundError
from holdfast.model.query import RecallResult
from holdfast.principal import Level, Principal
from holdfast.recall.core.plan import Budget, RecallPlan
from holdfast.settings import Settings
from tests.support.waiting import wait_until

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
def process(settings: Settings) -> Iterator[SearchProcess]:
    made = SearchProcess(settings, timeout_s=60)
    yield made
    made.end()


def bank_id(settings: Settings, name: str) -> str:
    with Holdfast(settings, create=False) as memory:
        return memory.context.bank_id(name) or ""


def texts(found: RecallResult) -> set[str]:
    return {hit.text for hit in found.hits}


def searchers() -> list[psutil.Process]:
    """The processes that recall for this one."""
    children = psutil.Process().children()
    return [one for one in children if "holdfast.app.server.searcher" in one.cmdline()]


def test_it_finds_what_a_recall_here_finds(settings: Settings, process: SearchProcess) -> None:
    with Holdfast(settings, create=False) as memory:
        here = memory.search.recall_in_bank(None, "lighthouse", WORDS)
    found = process.recall(None, None, "lighthouse", WORDS)
    assert texts(found) == {OURS, THEIRS}
    assert found.hits == here.hits


@pytest.mark.model
def test_it_compares_texts_as_a_search_here_does(
    settings: Settings, process: SearchProcess
) -> None:
    with Holdfast(settings, create=False) as memory:
        memory.ingestion.embed()
        memory.search.recall_in_bank(None, "lighthouse", RecallPlan())
        here = memory.search.cosines("the lamp of the lighthouse", [OURS, THEIRS])
    process.recall(None, None, "lighthouse", RecallPlan())
    assert process.cosines("the lamp of the lighthouse", [OURS, THEIRS]) == pytest.approx(here)
    assert here[0] > here[1]


def test_a_principal_sees_only_their_banks(settings: Settings, process: SearchProcess) -> None:
    ours, theirs = bank_id(settings, "ours"), bank_id(settings, "theirs")
    one = Principal("Ada", (ours,), Level.READ, "k1")
    assert texts(process.recall(one, None, "lighthouse", WORDS)) == {OURS}
    with pytest.raises(NotFoundError):
        process.recall(one, theirs, "lighthouse", WORDS)
    everything = process.recall(None, None, "lighthouse", WORDS)
    assert texts(everything) == {OURS, THEIRS}, "what one may see does not stay for the next"


def test_an_error_arrives_as_it_was_raised(settings: Settings, process: SearchProcess) -> None:
    with closing(sqlite3.connect(settings.database)) as raw:
        raw.execute("PRAGMA user_version = 9999")
    with pytest.raises(NewerSchemaError) as raised:
        process.recall(None, None, "lighthouse", WORDS)
    assert raised.value.remedy


def test_after_its_process_was_killed_another_answers(process: SearchProcess) -> None:
    process.recall(None, None, "lighthouse", WORDS)
    (first,) = searchers()
    first.kill()
    assert texts(process.recall(None, None, "lighthouse", WORDS)) == {OURS, THEIRS}
    assert [one.pid for one in searchers()] != [first.pid]


def test_it_reads_a_memory_that_took_the_place_of_another(
    settings: Settings, process: SearchProcess, tmp_path: Path
) -> None:
    process.recall(None, None, "lighthouse", WORDS)
    other = Settings(home=tmp_path / "other", claude_dir=tmp_path)
    with Holdfast(other) as memory:
        memory.remember("The lighthouse is white", "ours", "me")
    other.database.replace(settings.database)
    for suffix in ("-wal", "-shm"):
        settings.database.with_name(settings.database.name + suffix).unlink(missing_ok=True)
    found = process.recall(None, None, "lighthouse", WORDS)
    assert texts(found) == {"The lighthouse is white"}


def test_signals_to_the_group_leave_it_to_the_server(process: SearchProcess) -> None:
    process.recall(None, None, "lighthouse", WORDS)
    (running,) = searchers()
    for number in (signal.SIGINT, signal.SIGTERM):
        os.kill(running.pid, number)
    assert texts(process.recall(None, None, "lighthouse", WORDS)) == {OURS, THEIRS}
    assert [one.pid for one in searchers()] == [running.pid]


def test_a_recall_that_takes_too_long_is_given_up(settings: Settings) -> None:
    process = SearchProcess(settings, timeout_s=0)
    with pytest.raises(BusyError):
        process.recall(None, None, "lighthouse", WORDS)
    assert not searchers() and not process.is_running


def test_once_it_was_ended_it_starts_no_other(process: SearchProcess) -> None:
    process.recall(None, None, "lighthouse", WORDS)
    assert process.is_running
    process.end()
    wait_until(lambda: not searchers(), "its process is gone")
    with pytest.raises(BusyError):
        process.recall(None, None, "lighthouse", WORDS)
    assert not searchers()


def test_threads_that_take_turns_share_one_process(settings: Settings) -> None:
    processes = SearchProcesses(settings, timeout_s=60, count=2)
    try:
        for _ in range(3):
            with ThreadPoolExecutor(1) as thread:
                asked = thread.submit(processes.recall, None, None, "lighthouse", WORDS)
                assert texts(asked.result()) == {OURS, THEIRS}
        assert processes.running == len(searchers()) == 1
    finally:
        processes.end()
    assert processes.running == 0 and not searchers()


def test_more_threads_than_processes_are_all_answered(settings: Settings) -> None:
    processes = SearchProcesses(settings, timeout_s=60, count=2)
    try:
        with ThreadPoolExecutor(6) as threads:
            queries = [f"lighthouse {number}" for number in range(12)]
            asked = [threads.submit(processes.recall, None, None, q, WORDS) for q in queries]
            found = [one.result() for one in asked]
        assert [one.query for one in found] == queries
        assert processes.running == 2
    finally:
        processes.end()


@pytest.mark.model
def test_texts_are_compared_in_the_process_that_recalled(settings: Settings) -> None:
    with Holdfast(settings, create=False) as memory:
        memory.ingestion.embed()
    processes = SearchProcesses(settings, timeout_s=60, count=2)
    try:
        processes.recall(None, None, "lighthouse", RecallPlan())
        with ThreadPoolExecutor(1) as other, processes.borrowed() as taken:
            # The other process, which has loaded no model, answers another thread meanwhile.
            other.submit(processes.recall, None, None, "lamp", WORDS).result()
            assert taken.is_running and processes.running == 2
        near, far = processes.cosines("the lamp of the lighthouse", [OURS, THEIRS])
        assert near > far
    finally:
        processes.end()


def test_a_recall_waits_for_a_process_as_long_as_one_may_take(settings: Settings) -> None:
    processes = SearchProcesses(settings, timeout_s=0, count=1)
    with processes.borrowed(), pytest.raises(BusyError):
        processes.recall(None, None, "lighthouse", WORDS)
