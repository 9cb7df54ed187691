"""The forms of a page besides HTML, and how a request names one: by the end of its path
(`/sessions.json`) or by `Accept`.

Paths are rewritten before they are routed, so that a page has one route, and one permission, for
all its forms. HEAD is answered here, too: as GET, without the body.
"""

from __future__ import annotations

from enum import StrEnum
from urllib.parse import urlsplit

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A path that names no page by itself: the first page, with an end.
_INDEX = "/index"
# What no page is; their ends are their own.
_NOT_PAGES = ("/api/", "/static/", "/graphql", "/mcp", "/enter", "/login", "/metrics", "/health")

# A look at a link that works once would use it up.
_NEVER_LOOKED_AT = ("/enter",)


class PageFormat(StrEnum):
    """A form of a page; its value is the end of the path."""

    HTML = ""
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "md"


MEDIA_TYPES = {
    PageFormat.HTML: "text/html",
    PageFormat.JSON: "application/json",
    PageFormat.CSV: "text/csv",
    PageFormat.MARKDOWN: "text/markdown",
}
_FORMATS = {media: format for format, media in MEDIA_TYPES.items()}
_BY_PATH = "page_format"


class PageFormats:
    """ASGI middleware that takes the end off a path, and answers HEAD."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in ("GET", "HEAD"):
            await self._app(scope, receive, send)
            return
        if not scope["path"].startswith(_NOT_PAGES):
            send = _take_off_end(scope, send)
        if scope["method"] == "GET" or scope["path"] in _NEVER_LOOKED_AT:
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"
        try:
            await self._app(scope, receive, _without_body(send))
        finally:
            scope["method"] = "HEAD"


def format_by_path(scope: Scope) -> PageFormat:
    """The form that the end of the path names; HTML if it names none."""
    return scope.get(_BY_PATH, PageFormat.HTML)


def format_by_accept(accept: str) -> PageFormat:
    """The form that `Accept` prefers; HTML where it has no preference of ours."""
    best, best_weight = PageFormat.HTML, 0.0
    for one in accept.split(","):
        media, *parameters = (part.strip().lower() for part in one.split(";"))
        weight = _weight(parameters)
        if media in _FORMATS and weight > best_weight:
            best, best_weight = _FORMATS[media], weight
    return best


def _weight(parameters: list[str]) -> float:
    for one in parameters:
        name, _, value = one.partition("=")
        if name.strip() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0


def address_in(format: PageFormat, address: str) -> str:
    """The address of a page in another form."""
    parts = urlsplit(address)
    path = _INDEX if parts.path == "/" else parts.path
    return parts._replace(path=f"{path}.{format}", fragment="").geturl()


def _take_off_end(scope: Scope, send: Send) -> Send:
    """Rewrite a path that ends in the name of a form. A redirect keeps the form."""
    path, _, end = str(scope["path"]).rpartition(".")
    if not path or end not in (PageFormat.JSON, PageFormat.CSV, PageFormat.MARKDOWN):
        return send
    format = PageFormat(end)
    scope[_BY_PATH] = format
    scope["path"] = "/" if path == _INDEX else path
    scope["raw_path"] = scope["path"].encode()

    async def out(message: Message) -> None:
        if message["type"] == "http.response.start" and 300 <= message["status"] < 400:
            headers = MutableHeaders(scope=message)
            to = headers.get("location", "")
            if to.startswith("/") and not to.startswith("//"):
                headers["location"] = address_in(format, to)
        await send(message)

    return out


def _without_body(send: Send) -> Send:
    """A `send` that ends a response with its head."""
    is_begun = False

    async def out(message: Message) -> None:
        nonlocal is_begun
        if message["type"] == "http.response.start":
            await send(message)
        elif not is_begun:
            is_begun = True
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    return out
