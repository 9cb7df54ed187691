"""What a server loads after it listens, so that its first pages come as fast as later ones.

Compiled templates, the patterns behind a brief and NumPy take a fresh server up to half a second of
processor time. Each step runs when no request does; a request that comes earlier waits for at most
the step that is under way.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial

from holdfast.errors import HoldfastError
from holdfast.interfaces.http.app import WebApp
from holdfast.interfaces.http.pages import brief, graph
from holdfast.interfaces.ui.render import templates

# How often it is looked whether requests are running.
_BUSY_CHECK_S = 0.02
# The templates of the pages that are opened first.
_FIRST = ("home.html", "brief.html", "graph.html", "sessions.html", "session.html")


async def warm_up(web: WebApp) -> None:
    """Load what first requests need. A memory that cannot be read is left to them."""
    for step in _steps(web):
        while web.pool.is_busy:
            await asyncio.sleep(_BUSY_CHECK_S)
        with suppress(HoldfastError):
            await step()


def _steps(web: WebApp) -> Iterator[Callable[[], Awaitable[object]]]:
    async def load_template(name: str) -> None:
        await asyncio.to_thread(templates().get_template, name)

    for name in ("base.html", "bits.html", *_FIRST):
        yield partial(load_template, name)
    yield partial(web.pool.read_as_owner, partial(brief.load_brief, cache=web.briefs))
    yield partial(web.pool.read_as_owner, graph.prepare_picture)
    for name in templates().list_templates():
        yield partial(load_template, name)
