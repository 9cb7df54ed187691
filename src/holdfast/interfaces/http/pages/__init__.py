"""The pages, one module each; a page is a look through the desk and a template."""

from __future__ import annotations

from holdfast.interfaces.http.pages import ask, graph, sessions

ROUTERS = (ask.router, sessions.router, graph.router)
