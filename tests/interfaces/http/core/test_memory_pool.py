"""Who waits for whom where several ask one memory."""

from __future__ import annotations

import asyncio
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from holdfast.app.core.models import load_semantic_search
from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.principal import Level, Principal
from holdfast.settings import ModelSettings, Settings


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


@pytest.mark.model
def test_models_are_loaded_once_for_all_principals(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    parts = [
        load_semantic_search(replace(settings, principal=who)).__dict__["_parts"]
        for who in (None, Principal("a", ("b",), Level.READ), Principal("c", None, Level.READ))
    ]
    assert parts[0] is parts[1] is parts[2]
