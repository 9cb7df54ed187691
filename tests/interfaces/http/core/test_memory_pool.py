"""Who waits for whom where several ask one memory."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Event

import pytest

from holdfast.app.memory import Holdfast
from holdfast.errors import BusyError
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.settings import ModelSettings, Settings
from tests.support.open_files import open_files_in


def test_quick_requests_do_not_wait_behind_long_ones(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    Holdfast(settings).close()
    free = Event()

    def long(memory: Holdfast) -> bool:
        return free.wait(60)

    async def ask(pool: MemoryPool) -> None:
        set_principal(owner())
        reading_in = asyncio.create_task(pool.run_long(long))
        thinking = asyncio.create_task(pool.run_with_model(long))
        await asyncio.sleep(0)
        assert (await pool.run(lambda memory: memory.recall("tide", "all"))).abstained
        assert not reading_in.done() and not thinking.done() and pool.queued == 2
        free.set()
        assert await reading_in and await thinking

    by_model = replace(settings, models=ModelSettings(use="openai"))
    with closing(MemoryPool(by_model)) as pool:
        asyncio.run(ask(pool))


@pytest.mark.slow
def test_a_closed_pool_holds_no_database_open(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    Holdfast(settings).close()
    readers = 3
    reading = Barrier(readers)

    def read(memory: Holdfast) -> bool:
        reading.wait(60)
        return memory.recall("tide", "all").abstained

    async def ask(pool: MemoryPool) -> None:
        set_principal(owner())
        tasks = [pool.read(read) for _ in range(readers)]
        assert await asyncio.gather(pool.run(lambda memory: True), *tasks) == [True] * 4

    pool = MemoryPool(settings, readers)
    asyncio.run(ask(pool))
    assert open_files_in(tmp_path).count("memory.db") >= readers + 1
    pool.close()
    assert open_files_in(tmp_path) == []


def test_a_pool_that_stops_accepts_no_task_and_drops_those_that_wait(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    Holdfast(settings).close()
    free, begun = Event(), Event()
    ran: list[str] = []

    def long(memory: Holdfast) -> bool:
        begun.set()
        return free.wait(60)

    async def ask(pool: MemoryPool) -> None:
        set_principal(owner())
        running = asyncio.create_task(pool.run_long(long))
        waiting = asyncio.create_task(pool.run_long(lambda memory: ran.append("waiting")))
        while not (begun.is_set() and pool.queued == 2):
            await asyncio.sleep(0.001)
        pool.stop_accepting()
        with pytest.raises(BusyError, match="stopping"):
            await pool.read(lambda memory: ran.append("new"))
        with pytest.raises(asyncio.CancelledError):
            await waiting
        assert pool.is_busy
        free.set()
        assert await running

    with closing(MemoryPool(settings)) as pool:
        asyncio.run(ask(pool))
    assert ran == [] and pool.queued == 0
