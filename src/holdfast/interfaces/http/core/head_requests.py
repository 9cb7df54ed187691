"""HEAD is answered as GET is, without the body."""

from __future__ import annotations

from starlette.types import ASGIApp, Message, Receive, Scope, Send

# A look at a link that works once would use it up.
_NEVER_LOOKED_AT = ("/enter",)


class HeadRequests:
    """ASGI middleware that answers HEAD by GET."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        if not is_head or scope["path"] in _NEVER_LOOKED_AT:
            await self._app(scope, receive, send)
            return
        scope["method"] = "GET"
        try:
            await self._app(scope, receive, _without_body(send))
        finally:
            scope["method"] = "HEAD"


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
