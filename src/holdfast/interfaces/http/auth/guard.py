"""Stands before every request: who asks, from which page, how much and how often.

A server on the loopback is reached by every page that a browser has open, under any name that
somebody's DNS gives 127.0.0.1. So the Host must be ours, a request that names its Origin must come
from our own pages, everything wants a token or a visitor's cookie, and what a page may load or run
is what we ship.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from math import ceil
from typing import NamedTuple, Protocol
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import COOKIE
from holdfast.interfaces.http.core.request_principal import carry_out_as
from holdfast.principal import Principal

MOST_BYTES = 1_000_000
RATE = 500.0
BURST = 2000.0
# Whoever has no key shares another measure, so that nobody is kept waiting by strangers.
STRANGERS_RATE = 20.0
STRANGERS_BURST = 100.0
BODY_S = 30.0
SAFE = ("GET", "HEAD", "OPTIONS")
_MOST_MEASURES = 10_000
_STATIC = "/static/"
_DIGITS = 12
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
    # In how many seconds it may be asked again; 0 where waiting does not help.
    after: int = 0


_ANOTHER = Refusal(403, "wrong_origin", "Other pages may not ask.")
_NO_KEY = Refusal(401, "no_key", "Who are you?", "Open the link that `holdfast browse` prints.")
_NOT_NOW = Refusal(
    503, "unavailable", "Keys cannot be looked up right now.", "Ask again in a moment.", 2
)
_AT_ONCE = Refusal(
    429, "too_many", "Too many requests of this key at once.", "Wait for those to be answered.", 1
)


def _too_many(after: float) -> Refusal | None:
    """What is said to whoever has to wait so long; nothing, if they need not."""
    if not after:
        return None
    whole = max(1, ceil(after))
    told = f"Ask again in {whole} second{'s' * (whole > 1)}."
    return Refusal(429, "too_many", "Too many requests.", told, whole)


class _Measure:
    """So many at once, and so many a second."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate = rate
        self._burst = self._left = burst
        self._at = time.monotonic()

    def take(self) -> float:
        """Count one more; if that is too many, in how many seconds it will not be."""
        now = time.monotonic()
        self._left = min(self._burst, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 1:
            return (1 - self._left) / self._rate
        self._left -= 1
        return 0.0


class Door(Protocol):
    """Who knows people by what they show."""

    async def refresh(self, shown: str) -> bool:
        """See what has changed, before somebody who shows this comes in; whether it can be known
        who they are."""
        ...

    def by_token(self, shown: str) -> Principal | None:
        """Who shows a token or a key."""
        ...

    def by_cookie(self, shown: str) -> Principal | None:
        """Whose cookie it is."""
        ...


class Rules(NamedTuple):
    """How a server is reached and how much it takes. `hosts` are the names it answers to; none:
    any."""

    hosts: frozenset[str] = frozenset()
    rate: float = RATE
    burst: float = BURST
    no_key: Refusal = _NO_KEY
    # Where whoever is not known may go, too; what ends in a slash, with all below it.
    doors: tuple[str, ...] = ("/enter",)
    # Where a browser is sent whose visitor is not known.
    login: str = ""
    # How many requests of one key are answered at a time; 0: any number.
    at_once: int = 0
    most_bytes: int = MOST_BYTES

    @property
    def too_large(self) -> Refusal:
        """What is said to whoever sends too much."""
        return Refusal(413, "too_large", f"More than {self.most_bytes:,} bytes are not taken.")

    def is_door(self, path: str) -> bool:
        """Whether everybody may go there."""
        return any(path == one or (one[-1] == "/" and path.startswith(one)) for one in self.doors)


class _Measures:
    """A measure for each of many; who was not seen for longest is forgotten."""

    def __init__(self, rate: float, burst: float) -> None:
        self._how = (rate, burst)
        self._of: OrderedDict[str, _Measure] = OrderedDict()

    def take(self, name: str) -> Refusal | None:
        """Count one more of somebody; what is said to them if that is too many."""
        found = self._of.pop(name, None) or _Measure(*self._how)
        self._of[name] = found
        if len(self._of) > _MOST_MEASURES:
            self._of.popitem(last=False)
        return _too_many(found.take())


class Guard:
    """Lets nobody by who is not known, and says in whose name a request is carried out."""

    def __init__(self, app: ASGIApp, keys: Door, rules: Rules) -> None:
        self._app = app
        self._keys = keys
        self._rules = rules
        # By the key, or by the address of who has none.
        self._known = _Measures(rules.rate, rules.burst)
        self._strangers = _Measures(STRANGERS_RATE, STRANGERS_BURST)
        self._now: Counter[str] = Counter()
        self.last = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        known = await self._keys.refresh(_bearer(Headers(scope=scope)))
        refusal = self._refusal(scope)
        if refusal is not None and refusal.status == 401 and not known:
            refusal = _NOT_NOW
        if refusal is not None:
            answer = self._shown_in(scope) if refusal.status == 401 else None
            answer = answer or _told(refusal, scope)
            await answer(scope, receive, _with_headers(scope, send))
            return
        self.last = time.monotonic()
        body = _Body(receive, self._rules.most_bytes)
        who: Principal | None = scope.get("principal")
        name = who.key if who else ""
        self._now[name] += 1
        try:
            onward = _unless_too_large(body, self._rules.too_large, scope, send)
            await self._app(scope, body.receive, onward)
        finally:
            self._now[name] -= 1
            if not self._now[name]:
                del self._now[name]

    def _shown_in(self, scope: Scope) -> Response | None:
        """To the door, for a browser that looks for a page."""
        page = "text/html" in Headers(scope=scope).get("accept", "") and scope["method"] == "GET"
        if not page or not self._rules.login:
            return None
        return RedirectResponse(f"{self._rules.login}?to={quote(scope['path'])}", 303)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or (self._rules.hosts and hosts[0] not in self._rules.hosts):
            return Refusal(421, "wrong_host", "This server does not answer to that name.")
        ours = {f"{scope.get('scheme', 'http')}://{name}" for name in self._rules.hosts or hosts}
        if any(origin not in ours for origin in headers.getlist("origin")):
            return _ANOTHER
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            top = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate"
            if not (top and self._rules.is_door(scope["path"])):
                return _ANOTHER
        return self._stranger(scope, headers) or _unfit(headers, self._rules)

    def _stranger(self, scope: Scope, headers: Headers) -> Refusal | None:
        token = _bearer(headers)
        if token and (known := self._keys.by_token(token)):
            return self._welcome(scope, known, "")
        cookie = _cookie(headers)
        # A browser names the origin of whatever changes something.
        named = headers.get("origin") is not None or headers.get("sec-fetch-site") == "same-origin"
        fit = scope["method"] in SAFE or named
        if cookie and (known := self._keys.by_cookie(cookie)):
            return self._welcome(scope, known, cookie) or (None if fit else _ANOTHER)
        if too_many := self._strangers.take(_address(scope)):
            return too_many
        if self._rules.is_door(scope["path"]):
            return None if fit else _ANOTHER
        return self._rules.no_key

    def _welcome(self, scope: Scope, known: Principal, cookie: str) -> Refusal | None:
        scope["visitor"] = cookie
        scope["principal"] = known
        carry_out_as(known)
        if too_many := self._known.take(known.key):
            return too_many
        most = self._rules.at_once
        return _AT_ONCE if most and self._now[known.key] >= most else None


def _address(scope: Scope) -> str:
    client = scope.get("client")
    return str(client[0]) if client else ""


def _bearer(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _told(refusal: Refusal, scope: Scope) -> Response:
    error = {
        "code": refusal.code,
        "message": refusal.message,
        "remedy": refusal.remedy,
        **named_request(scope),
    }
    aside = {"www-authenticate": "Bearer"} if refusal.status == 401 else {}
    aside |= {"retry-after": str(refusal.after)} if refusal.after else {}
    if "text/html" in Headers(scope=scope).get("accept", ""):
        text = f"{refusal.message} {refusal.remedy}".strip()
        return Response(text, refusal.status, aside, "text/plain; charset=utf-8")
    return JSONResponse({"error": error}, refusal.status, aside)


def named_request(scope: Scope) -> dict[str, str]:
    """What an error says of the request it is about, where requests have names."""
    return {"request_id": scope["request_id"]} if "request_id" in scope else {}


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


def _unfit(headers: Headers, rules: Rules) -> Refusal | None:
    """What says itself that it is too long; how long that is was counted by nobody yet."""
    said = headers.get("content-length") or "0"
    if not (said.isascii() and said.isdigit() and len(said) <= _DIGITS):
        return Refusal(400, "bad_input", "The request does not say how long it is.")
    return rules.too_large if int(said) > rules.most_bytes else None


class _Body:
    """What comes in. What does not say how long it is ends at the limit as well, and so does what
    has not come whole in time, however regularly pieces of it do."""

    def __init__(self, receive: Receive, most: int) -> None:
        self._receive = receive
        self._most = most
        self._taken = 0
        self._whole = False
        self._until = 0.0
        self.too_large = False

    async def receive(self) -> Message:
        """The next piece."""
        if self._whole:
            return await self._receive()  # that the client went away, some time
        now = time.monotonic()
        self._until = self._until or now + BODY_S
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, self._until - now))
        except TimeoutError:
            return {"type": "http.disconnect"}
        if message["type"] == "http.request":
            self._taken += len(message.get("body", b""))
            self._whole = not message.get("more_body", False)
            if self._taken > self._most:
                self.too_large = True
                return {"type": "http.disconnect"}
        return message


def _unless_too_large(body: _Body, refusal: Refusal, scope: Scope, send: Send) -> Send:
    """Whatever is answered to a body that was cut off, it was too large."""
    onward, told = _with_headers(scope, send), False

    async def out(message: Message) -> None:
        nonlocal told
        if body.too_large and (told or message["type"] == "http.response.start"):
            if not told:
                told = True
                await _told(refusal, scope)(scope, body.receive, onward)
            return
        await onward(message)

    return out
