from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.metrics import Metrics
from holdfast.interfaces.http.server.logs import Log
from holdfast.interfaces.http.server.request_monitor import MonitorOptions, RequestMonitor
from holdfast.settings import Settings


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers at once, except for `/slow`, which it never does."""
    if scope["path"] == "/slow":
        await asyncio.Event().wait()
    await PlainTextResponse("done")(scope, receive, send)


def test_a_request_past_the_time_limit_is_refused_and_the_next_one_served(tmp_path: Path) -> None:
    options = MonitorOptions(Metrics(), Log())
    pool = MemoryPool(Settings(home=tmp_path / "home", claude_dir=tmp_path / "claude"))

    async def ask(path: str, request_s: float) -> httpx.Response:
        app = RequestMonitor(_answer, options._replace(request_s=request_s), pool)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await client.get(path)

    late = asyncio.run(ask("/slow", 0.05))
    assert (late.status_code, late.headers["retry-after"]) == (504, "5")
    assert late.json()["error"]["code"] == "too_slow"
    assert asyncio.run(ask("/other", 60)).text == "done"
    assert options.metrics.in_flight == 0
    pool.close()
