"""What a server loads before its first pages are asked for, so that they come as fast as others.

Imports, patterns and templates that a page needs are loaded by opening it, as its owner would.
Home is opened, and NumPy loaded, before the server says where it is; the pages that people open
next, after it. Each of these is opened when nobody has asked for anything for a moment: a request
that comes while one is opened waits for that one at most.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial

from starlette.types import Message

from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.core.memory_pool import IS_OWN_REQUEST
from holdfast.interfaces.http.core.request_principal import owner, set_principal
from holdfast.interfaces.http.pages.graph import load_drawing
from holdfast.interfaces.http.pages.home import LIVE_HEADER
from holdfast.interfaces.ui.render import template_names, templates

# How long the address waits for Home, which takes 0.1 s: a memory that somebody else has locked, or
# that is far away, should not keep a server from saying that it runs.
_MAX_WAIT_S = 0.5
# How long nobody has asked for anything before the next page is opened. A browser that shows a page
# asks for what belongs to it within this time.
_QUIET_S = 0.3
_CHECK_S = 0.05
# In the order in which people open them after Home, by how often their template is needed and how
# much they load. All other pages load little but their templates.
_NEXT = ("/sessions", "/brief", "/graph", "/week", "/review")


async def prepare_first_page(web: WebApp) -> asyncio.Task[None]:
    """Open Home, or begin to where that takes long; returns the task that does."""
    # With NumPy, which the graph needs: a tenth of a second in which nothing else is answered.
    load_drawing()
    opening = asyncio.create_task(_open(web, "/"))
    await asyncio.wait({opening}, timeout=_MAX_WAIT_S)
    return opening


async def warm_up(web: WebApp) -> None:
    """Open the next pages."""
    for step in _steps(web):
        while web.pool.is_busy or time.monotonic() - web.guard.last_request < _QUIET_S:
            await asyncio.sleep(_CHECK_S)
        await step()


def _steps(web: WebApp) -> Iterator[Callable[[], Awaitable[object]]]:
    for path in _NEXT:
        yield partial(_open, web, path)
    for name in template_names():
        load = partial(templates().get_template, name)
        yield partial(asyncio.to_thread, load)


async def _open(web: WebApp, path: str) -> None:
    """Open a page as a browser does, but without noting a visit."""
    set_principal(owner())
    IS_OWN_REQUEST.set(True)

    async def receive() -> Message:
        return {"type": "http.request", "body": b""}

    async def send(_: Message) -> None:
        """Nobody reads the page."""

    scope = {
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "root_path": "",
        "headers": [(b"accept", b"text/html"), (LIVE_HEADER.encode(), b"1")],
    }
    # Whoever asks for the page is told what is wrong with it.
    with suppress(Exception):
        await web.unguarded(scope, receive, send)
