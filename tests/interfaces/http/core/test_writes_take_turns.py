"""Writes on a server: nobody waits for what is derived, nor for all that another key writes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.principal import Level, Principal
from holdfast.settings import Settings
from tests.support.waiting import wait_until

OURS = Principal("ours", None, Level.ADMIN, "k1")
THEIRS = Principal("theirs", None, Level.ADMIN, "k2")


def test_a_key_waits_for_one_task_of_another_not_for_all(tmp_path: Path) -> None:
    pool = MemoryPool(Settings(tmp_path / "home", tmp_path / "claude"))
    order: list[str] = []

    def write(name: str) -> None:
        time.sleep(0.01)
        order.append(name)

    async def run(who: Principal, name: str) -> None:
        set_principal(who)
        await pool.run(lambda _: write(name))

    async def everybody() -> None:
        many = [asyncio.ensure_future(run(OURS, f"ours {n}")) for n in range(20)]
        await asyncio.sleep(0)
        await run(THEIRS, "theirs")
        await asyncio.gather(*many)

    asyncio.run(everybody())
    pool.close()
    assert order.index("theirs") <= 2 and len(order) == 21


def test_what_was_remembered_is_found_at_once_and_its_facts_follow(tmp_path: Path) -> None:
    settings = Settings(tmp_path / "home", tmp_path / "claude", embed_model="none")
    Holdfast(settings).close()
    pool = MemoryPool(settings)
    text = "Never lift more than forty tons with the crane."
    derived_in: list[str] = []

    def remember(memory: Holdfast) -> list[str]:
        memory.context.after_change = lambda: derived_in.append(threading.current_thread().name)
        memory.curation.remember(text, "pier")
        return [hit.text for hit in memory.recall("crane forty tons", "pier").hits]

    async def ask(task: Callable[[Holdfast], Any], change: bool = False) -> Any:
        set_principal(owner())
        return await (pool.run if change else pool.read)(task)

    found = asyncio.run(ask(remember, change=True))
    assert any(text in one for one in found) and not derived_in

    def facts() -> bool:
        return bool(asyncio.run(ask(lambda memory: memory.reader.facts.all(None))))

    wait_until(facts, "the facts of what was remembered are there")
    pool.close()
