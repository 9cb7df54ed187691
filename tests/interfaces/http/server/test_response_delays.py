"""Nobody waits for what need not be waited for: answers over a connection that stays open are not
held back, and what is made once is made before anybody comes."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from pydantic import TypeAdapter

from holdfast.interfaces.http.app import WebApp, prepared_routes
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server import browse_server, team_server
from holdfast.settings import Settings


@pytest.mark.parametrize(
    "listen",
    [
        lambda: browse_server.listen(0),
        lambda: [team_server.listen(team_server.ListenOptions(port=0))],
    ],
    ids=["browse", "serve"],
)
def test_accepted_sockets_are_tcp_so_that_responses_are_not_delayed(
    listen: Callable[[], list[socket.socket]],
) -> None:
    for one in listen():
        with closing(one) as listening:
            listening.setblocking(True)
            with socket.create_connection(listening.getsockname()[:2]):
                accepted, _ = listening.accept()
                with accepted:
                    # By this, asyncio tells where it may switch the holding back off.
                    assert accepted.proto == socket.IPPROTO_TCP


@pytest.mark.slow
def test_the_first_request_does_not_wait_for_the_other_routes_to_be_built(tmp_path: Path) -> None:
    pool = MemoryPool(Settings(home=tmp_path / "home", claude_dir=tmp_path / "claude"))
    prepared_routes.cache_clear()
    app = WebApp(pool, OwnerKeys("t" * 40), GuardRules(frozenset({"here"})))
    made = _adapters()

    async def ask() -> int:
        headers = {"Authorization": f"Bearer {'t' * 40}", "Host": "here"}
        way = httpx.ASGITransport(app.guard)
        async with httpx.AsyncClient(transport=way, base_url="http://here") as client:
            return (await client.get("/api/v1/nothing", headers=headers)).status_code

    assert asyncio.run(ask()) == 404
    assert _adapters() < made + 100
    pool.close()


def _adapters() -> int:
    """How many types of parameters and answers were looked at so far: that takes the time."""
    return sum(type(one) is TypeAdapter for one in gc.get_objects())
