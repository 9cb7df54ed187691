"""The pages, one module each; a page is a look through the desk and a template."""

from __future__ import annotations

from holdfast.interfaces.http.pages import (
    ask,
    banks,
    curation,
    graph,
    memory,
    record,
    repos,
    review,
    search,
    sessions,
    status,
    timeline,
    worth,
)

ROUTERS = (
    ask.router,
    sessions.router,
    search.router,
    record.router,
    memory.router,
    curation.router,
    review.router,
    banks.router,
    graph.router,
    timeline.router,
    repos.router,
    status.router,
    worth.router,
)
