"""The pages, one module each; a page is a look through the desk and a template."""

from __future__ import annotations

from holdfast.interfaces.http.pages import ask, curating, graph, memory, record, search, sessions

ROUTERS = (
    ask.router,
    sessions.router,
    search.router,
    record.router,
    memory.router,
    curating.router,
    graph.router,
)
