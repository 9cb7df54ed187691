"""Stands before every request: who asks, from which page, how much and how often.

A server on the loopback is reached by every page that a browser has open, under any name that
somebody's DNS gives 127.0.0.1. So the Host must be ours, a request that names its Origin must come
from our own pages, everything wants a token or a visitor's cookie, and what a page may load or run
is what we ship.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.interfaces.http.keys import COOKIE, Keys

MOST_BYTES = 1_000_000
RATE = 100.0
BURST = 400.0
_SAFE = ("GET", "HEAD", "OPTIONS")
_OPEN = ("/enter", "/health")
_STATIC = "/static/"
HEADERS: Mapping[str, str] = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Refusal(NamedTuple):
    """Why a request is not served."""

    status: int
    code: str
    message: str
    remedy: str = ""


class Guard:
    """The outermost layer."""

    def __init__(self, app: ASGIApp, keys: Keys, hosts: frozenset[str]) -> None:
        self._app = app
        self._keys = keys
        self._hosts = hosts
        self._left = BURST
        self._at = time.monotonic()
        self.last = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            await _told(refusal, scope)(scope, receive, _with_headers(scope, send))
            return
        self.last = time.monotonic()
        await self._app(scope, _bounded(receive), _with_headers(scope, send))

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host not in self._hosts:
            return Refusal(421, "wrong_host", "This server does not answer to that name.")
        origin = headers.get("origin")
        if origin is not None and origin not in {f"http://{name}" for name in self._hosts}:
            return Refusal(403, "wrong_origin", "Other pages may not ask.")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            top = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not (top and scope["path"] == "/enter"):
                return Refusal(403, "wrong_origin", "Other pages may not ask.")
        if not self._has_room():
            return Refusal(429, "too_many", "Too many requests.", "Ask again in a second.")
        if int(headers.get("content-length") or 0) > MOST_BYTES:
            return Refusal(413, "too_large", f"More than {MOST_BYTES:,} bytes are not taken.")
        return self._stranger(scope, headers)

    def _stranger(self, scope: Scope, headers: Headers) -> Refusal | None:
        path = str(scope["path"])
        if path in _OPEN or path.startswith(_STATIC):
            return None
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._keys.knows_token(token.strip()):
            scope["visitor"] = ""
            return None
        cookie = _cookie(headers)
        if not self._keys.knows_cookie(cookie):
            return Refusal(
                401, "no_key", "Who are you?", "Open the link that `holdfast browse` prints."
            )
        scope["visitor"] = cookie
        if scope["method"] in _SAFE:
            return None
        # A browser names the origin of whatever changes something.
        if headers.get("origin") is None and headers.get("sec-fetch-site") != "same-origin":
            return Refusal(403, "wrong_origin", "Other pages may not ask.")
        return None

    def _has_room(self) -> bool:
        now = time.monotonic()
        self._left = min(BURST, self._left + (now - self._at) * RATE)
        self._at = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _told(refusal: Refusal, scope: Scope) -> Response:
    error = {"code": refusal.code, "message": refusal.message, "remedy": refusal.remedy}
    if "text/html" in Headers(scope=scope).get("accept", ""):
        text = f"{refusal.message} {refusal.remedy}".strip()
        return Response(text, refusal.status, media_type="text/plain; charset=utf-8")
    return JSONResponse({"error": error}, refusal.status)


def _with_headers(scope: Scope, send: Send) -> Send:
    async def out(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
            fixed = str(scope["path"]).startswith(_STATIC)
            headers.setdefault("cache-control", "max-age=3600" if fixed else "no-store")
        await send(message)

    return out


def _bounded(receive: Receive) -> Receive:
    """What comes in without saying how long it is ends at the limit as well."""
    taken = 0

    async def into() -> Message:
        nonlocal taken
        message = await receive()
        if message["type"] == "http.request":
            taken += len(message.get("body", b""))
            if taken > MOST_BYTES:
                return {"type": "http.disconnect"}
        return message

    return into
