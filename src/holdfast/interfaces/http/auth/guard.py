"""The layer in front of every request: Host, Origin, key or cookie, size and time.

Any page that is open in a browser can reach a server on the loopback address, under any name that
resolves to 127.0.0.1. So the Host must be ours, a request with an Origin must come from our own
pages, every request needs a token or a cookie, and a page may load and run only what we ship.
Rates and slow clients are left to a proxy. Requests are logged here, where a log is kept, and
health checks are answered.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import COOKIE, OwnerKeys
from holdfast.interfaces.http.auth.permissions import route_of
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.logs import Log, traceback_location
from holdfast.interfaces.http.core.refusals import Refusal, TooLargeError, refuse, wants_page
from holdfast.interfaces.http.core.request_principal import set_principal
from holdfast.principal import Principal
from holdfast.regex import regex

# A page with all its texts is far smaller; imports do not go through HTTP.
MAX_BODY_BYTES = 1_000_000
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
# A look at a link that works once would use it up.
_LINK = "/enter"
_STATIC = "/static/"
_HEALTH, _READY = "/health", "/ready"
_REQUEST_ID = "x-request-id"
_VALID_REQUEST_ID = regex(r"[A-Za-z0-9._-]{1,64}")
# A Content-Length with more digits is refused before it is converted.
_MAX_LENGTH_DIGITS = 12
_HEADERS: Mapping[str, str] = {
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
_WRONG_ORIGIN = Refusal(403, "wrong_origin", "Other pages may not ask.")
# A link on another page: the browser sent no cookie along. A click on our own page sends it.
_FROM_ANOTHER_PAGE = Refusal(
    403,
    "wrong_origin",
    "You followed a link from another site.",
    "Requests from other sites get no content. To open the page, continue.",
)
_NOT_SIGNED_IN = Refusal(
    401,
    "no_key",
    "This browser is not signed in.",
    "Run `holdfast browse`: it opens a link that signs it in.",
)
_NO_KEY = Refusal(
    401,
    "no_key",
    "No valid key was sent.",
    "Send `Authorization: Bearer` with a key that `holdfast key new` made.",
)
_WRONG_HOST = Refusal(421, "wrong_host", "This server does not answer to that name.")
_NO_LENGTH = Refusal(400, "bad_input", "The request does not say how long it is.")
_KEYS_UNAVAILABLE = Refusal(
    503, "unavailable", "Keys cannot be looked up right now.", "Ask again in a moment.", 2
)
_TOO_SLOW = Refusal(504, "too_slow", "This took too long.", "Ask for less, or ask again later.", 5)


class GuardRules(NamedTuple):
    """What the guard of one server accepts. Without `hosts` it answers to any name; browsers sign
    in under `cookie_hosts` only, if there are any. Until a response begins, `request_s` seconds may
    pass; None: any time."""

    hosts: frozenset[str] = frozenset()
    cookie_hosts: frozenset[str] = frozenset()
    max_body_bytes: int = MAX_BODY_BYTES
    request_s: float | None = None


class Guard:
    """ASGI middleware that refuses requests, and sets the principal of those it lets through."""

    def __init__(
        self,
        app: ASGIApp,
        keys: OwnerKeys | TeamKeys,
        rules: GuardRules,
        problem: Callable[[], Awaitable[str]],
        log: Log | None = None,
    ) -> None:
        """`problem` tells why the server is not ready; "" if it is."""
        self._app = app
        self._keys = keys
        # A team signs in by a form; health checks of its server need no key.
        self._is_for_team = isinstance(keys, TeamKeys)
        self._no_key = _NO_KEY if self._is_for_team else _NOT_SIGNED_IN
        self._rules = rules
        self._problem = problem
        self._log = log
        self.last_request = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] == "HEAD" and scope["path"] != _LINK:
            scope = {**scope, "method": "GET"}  # uvicorn leaves out the body
        if self._is_for_team and _is_probe(scope):
            return await self._probe(scope, receive, send)
        response = _Response(scope, send, has_id=self._log is not None)
        try:
            async with asyncio.timeout(self._rules.request_s) as response.timeout:
                await self._check_and_run(scope, receive, response.send)
        except TimeoutError:
            if not response.status:
                await refuse(_TOO_SLOW, scope)(scope, receive, response.send)
        finally:
            if self._log is not None:
                _log_request(self._log, scope, response)

    async def _check_and_run(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        known = await self._keys.refresh(_bearer_token(headers))
        refusal = self._check(scope, headers)
        if refusal is None:
            self.last_request = time.monotonic()
            app = self._probe if _is_probe(scope) else self._app
            return await app(scope, _limited(receive, self._rules.max_body_bytes), send)
        if refusal.status == 401 and not known:
            refusal = _KEYS_UNAVAILABLE
        is_visit = wants_page(scope) and scope["method"] == "GET"
        if refusal is _NO_KEY and is_visit:
            answer = RedirectResponse(f"/login?to={quote(scope['path'])}", 303)
        else:
            onward = _own_address(scope) if refusal is _FROM_ANOTHER_PAGE else ""
            answer = refuse(refusal, scope, onward=onward)
        await answer(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> Refusal | None:
        rules, hosts = self._rules, headers.getlist("host")
        if len(hosts) != 1 or (rules.hosts and hosts[0] not in rules.hosts):
            return _WRONG_HOST
        origins = {f"{scope.get('scheme', 'http')}://{name}" for name in rules.hosts or hosts}
        if any(origin not in origins for origin in headers.getlist("origin")):
            return _WRONG_ORIGIN
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            visit = _is_visit(scope, headers)
            if not (visit and self._is_public(scope["path"])):
                return _FROM_ANOTHER_PAGE if visit else _WRONG_ORIGIN
        refusal = self._authenticate(scope, headers)
        length = headers.get("content-length") or "0"
        if refusal is not None:
            return refusal
        if not (length.isascii() and length.isdigit()) or len(length) > _MAX_LENGTH_DIGITS:
            return _NO_LENGTH
        if int(length) > rules.max_body_bytes:
            return Refusal(413, "too_large", _too_large(rules.max_body_bytes))
        return None

    def _authenticate(self, scope: Scope, headers: Headers) -> Refusal | None:
        rules, token = self._rules, _bearer_token(headers)
        if token and (known := self._keys.by_token(token)):
            return _admit(scope, known, "")
        if rules.cookie_hosts and headers.get("host", "") not in rules.cookie_hosts:
            return self._no_key
        cookie = HTTPConnection(scope).cookies.get(COOKIE, "")
        known = self._keys.by_cookie(cookie) if cookie else None
        if known is None and not self._is_public(scope["path"]):
            return self._no_key
        # A browser sends the origin with every request that can change something.
        named = headers.get("origin") is not None or headers.get("sec-fetch-site") == "same-origin"
        if scope["method"] not in SAFE_METHODS and not named:
            return _WRONG_ORIGIN
        return _admit(scope, known, cookie) if known else None

    def _is_public(self, path: str) -> bool:
        """Whether a path needs no key."""
        if self._is_for_team:
            return path == "/login" or path.startswith(_STATIC)
        return path == _LINK

    async def _probe(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a health check."""
        answer = JSONResponse({"status": "ok" if scope["path"] == _HEALTH else "ready"})
        if scope["path"] == _READY and (problem := await self._problem()):
            body = {"status": "not ready", "problem": problem}
            answer = JSONResponse(body, 503, {"retry-after": "2"})
        await answer(scope, receive, send)


class _Response:
    """What is sent for a request; with its id (the client's, or a new one), where it `has_id`."""

    def __init__(self, scope: Scope, send: Send, has_id: bool) -> None:
        self.started = time.perf_counter()
        self.status = 0
        self.timeout: asyncio.Timeout | None = None
        self._send = send
        self._headers = dict(_HEADERS)
        # What we ship stays as it is for a while; all else is the user's.
        is_ours = str(scope["path"]).startswith(_STATIC)
        self._headers["cache-control"] = "max-age=3600" if is_ours else "no-store"
        if has_id:
            given = Headers(scope=scope).get(_REQUEST_ID, "")
            id = given if _VALID_REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
            scope["request_id"] = self._headers[_REQUEST_ID] = id

    async def send(self, message: Message) -> None:
        """Send a piece of the response. The time limit ends when it begins, for streams."""
        if message["type"] == "http.response.start":
            if self.timeout is not None and not self.timeout.expired():
                self.timeout.reschedule(None)
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
        await self._send(message)


def _log_request(log: Log, scope: Scope, response: _Response) -> None:
    error = sys.exception()  # what an inner layer answered, and raised to be logged here
    method, _, route = (route_of(scope) or f"{scope['method']} none").partition(" ")
    who: Principal | None = scope.get("principal")
    client = scope.get("client")
    log.write(
        "request",
        request_id=scope["request_id"],
        method=method,
        route=route,
        status=response.status,
        ms=round((time.perf_counter() - response.started) * 1000, 1),
        key=who.key if who else "",
        name=who.name if who else "",
        client=client[0] if client else "",
        fault=type(error).__name__ if error else "",
        place=traceback_location(error) if error else "",
    )


def _is_probe(scope: Scope) -> bool:
    return scope["path"] in (_HEALTH, _READY) and scope["method"] == "GET"


def _admit(scope: Scope, known: Principal, cookie: str) -> None:
    scope["visitor"] = cookie
    scope["principal"] = known
    set_principal(known)


def _bearer_token(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether a browser opens a page in a window of its own, by a link or an address."""
    return (
        scope["method"] == "GET"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _own_address(scope: Scope) -> str:
    """The path and query of a request, for a link on our own page."""
    query = scope.get("query_string", b"").decode("latin-1")
    return local_path(quote(scope["path"]) + (f"?{quote(query, safe='=&%+')}" if query else ""))


def local_path(to: str) -> str:
    """`to` if it is a path of this server, else the first page."""
    is_local = to.startswith("/") and not to.startswith(("//", "/\\"))
    return to if is_local and to.isprintable() else "/"


def _too_large(most: int) -> str:
    return f"The body is larger than {most:,} bytes."


def _limited(receive: Receive, most: int) -> Receive:
    """A `receive` that raises `TooLargeError` where a body is larger than its header said."""
    received = 0

    async def limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > most:
            raise TooLargeError(_too_large(most))
        return message

    return limited
