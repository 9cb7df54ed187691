"""A server loads what Home needs before it says where it is, what other pages need afterwards, and
not while it answers."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest
from starlette.types import Receive, Scope, Send

from holdfast.capture.home_paths import HomePaths
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.warm_up import prepare_first_page, warm_up
from holdfast.settings import Settings
from tests.support.http.server import make_home

# In a process of its own, because another test may have loaded the same.
_FIRST_PAGES = """
import asyncio, json, sys
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.auth.browser_token import OwnerKeys
from holdfast.interfaces.http.auth.guard import GuardRules
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.server.warm_up import prepare_first_page, warm_up
from holdfast.interfaces.ui.render import templates
from holdfast.settings import load_settings

def loaded():
    return {*(name for name in sys.modules if name.startswith(("holdfast", "numpy", "anyio"))),
            *(key[1] for key in templates().cache.keys())}

async def ask(web, path):
    sent = []
    async def receive():
        return {"type": "http.request", "body": b""}
    async def send(message):
        sent.append(message)
    headers = [(b"host", b"here"), (b"authorization", b"Bearer key"),
        (b"accept", b"text/html")]
    await web.guard({"type": "http", "method": "GET", "scheme": "http", "path": path,
        "query_string": b"", "root_path": "", "headers": headers, "client": ("127.0.0.1", 1)},
        receive, send)
    return sent[0]["status"]

async def load(web, paths):
    before = loaded()
    answers = [await ask(web, path) for path in paths]
    return [answers, sorted(loaded() - before)]

async def main():
    web = WebApp(MemoryPool(load_settings()), OwnerKeys("key"), GuardRules())
    is_prepared = sys.argv[1] == "prepared"
    if is_prepared:
        await prepare_first_page(web)
    first = await load(web, ["/"])
    if is_prepared:
        await warm_up(web)
    others = await load(web, sys.argv[2:])
    web.pool.close()
    print(json.dumps([first, others]))

asyncio.run(main())
"""
_OTHER_PAGES = ("/brief", "/graph", "/sessions", "/week", "/review")


@pytest.fixture(scope="module")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return make_home(tmp_path_factory.mktemp("warm-up"), embed=False)


@pytest.fixture
def web(env: dict[str, str]) -> Iterator[WebApp]:
    pool = MemoryPool(Settings(Path(env["HOLDFAST_HOME"]), Path(env["HOLDFAST_HOME"])))
    yield WebApp(pool, OwnerKeys("key"), GuardRules())
    pool.close()


def _opened(web: WebApp) -> list[str]:
    """The paths that the server opens itself from now on."""
    opened: list[str] = []
    inner = web.unguarded

    async def note(scope: Scope, receive: Receive, send: Send) -> None:
        opened.append(scope["path"])
        await inner(scope, receive, send)

    web.unguarded = note
    return opened


def _loaded_by_first_pages(env: dict[str, str], state: str) -> tuple[list[str], list[str]]:
    """What the first request for Home loads, and then those for other pages."""
    done = subprocess.run(
        [sys.executable, "-c", _FIRST_PAGES, state, *_OTHER_PAGES],
        env=os.environ | env,
        capture_output=True,
        check=True,
    )
    (first, by_home), (others, by_others) = json.loads(done.stdout)
    assert {*first, *others} == {200} and len(others) == len(_OTHER_PAGES)
    return by_home, by_others


@pytest.mark.slow
def test_first_pages_load_nothing_after_the_warm_up(env: dict[str, str]) -> None:
    by_home, by_others = _loaded_by_first_pages(env, "bare")
    assert {"home.html", "anyio._backends._asyncio"} <= {*by_home}
    assert {"numpy", "brief.html", "graph.html"} <= {*by_others}

    assert _loaded_by_first_pages(env, "prepared") == ([], [])


def test_home_opened_by_the_server_itself_is_no_visit(env: dict[str, str], web: WebApp) -> None:
    visits = HomePaths(Path(env["HOLDFAST_HOME"])).visits
    visits.unlink(missing_ok=True)
    opened = _opened(web)

    async def prepare() -> None:
        await (await prepare_first_page(web))

    asyncio.run(prepare())

    assert not visits.exists()
    # Nor is it one of the requests whose times the status page shows.
    assert opened == ["/"]
    assert not web.pool.durations_ms["looks"]


def test_the_warm_up_waits_while_a_request_runs(web: WebApp) -> None:
    answered = Event()
    opened = _opened(web)

    async def use() -> int:
        request = asyncio.create_task(web.pool.read_as_owner(lambda _: answered.wait(30)))
        while not web.pool.is_busy:
            await asyncio.sleep(0)
        warming = asyncio.create_task(warm_up(web))
        web.guard.last_request = float("-inf")
        await asyncio.wait({warming}, timeout=0.2)
        meanwhile = len(opened)
        answered.set()
        await asyncio.gather(request, warming)
        return meanwhile

    assert asyncio.run(use()) == 0
    assert opened == ["/sessions", "/brief", "/graph", "/week", "/review"]


def test_the_warm_up_waits_until_a_browser_has_asked_for_all_of_a_page(web: WebApp) -> None:
    opened = _opened(web)

    async def use() -> int:
        web.guard.last_request = float("inf")
        warming = asyncio.create_task(warm_up(web))
        await asyncio.wait({warming}, timeout=0.2)
        warming.cancel()
        return len(opened)

    assert asyncio.run(use()) == 0


def test_a_memory_that_is_not_there_does_not_stop_the_warm_up(tmp_path: Path) -> None:
    pool = MemoryPool(Settings(tmp_path / "nowhere", tmp_path))

    async def use() -> None:
        web = WebApp(pool, OwnerKeys("key"), GuardRules())
        await (await prepare_first_page(web))
        await warm_up(web)

    asyncio.run(use())

    assert not (tmp_path / "nowhere").exists()
    pool.close()
