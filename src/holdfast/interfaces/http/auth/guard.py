"""The check in front of every request: Host, Origin, key or cookie, and size.

Any page that is open in a browser can reach a server on the loopback address, under any name that
resolves to 127.0.0.1. So the Host must be ours, a request with an Origin must come from our own
pages, every request needs a token or a cookie, and a page may load and run only what we ship.
Rates and slow clients are left to a proxy.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple, Protocol
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.interfaces.http.auth.browser_token import COOKIE
from holdfast.interfaces.http.auth.refusal_page import refusal_page
from holdfast.interfaces.http.core.request_principal import set_principal
from holdfast.principal import Principal

# A page with all its texts is far smaller; imports do not go through HTTP.
MAX_BODY_BYTES = 1_000_000
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_STATIC = "/static/"
# A Content-Length with more digits is refused before it is converted.
_MAX_LENGTH_DIGITS = 12
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
    # After how many seconds the client may try again; 0 where waiting does not help.
    retry_after_s: int = 0


_WRONG_ORIGIN = Refusal(403, "wrong_origin", "Other pages may not ask.")
# A link on another page: the browser sent no cookie along. A click on our own page sends it.
_FROM_ANOTHER_PAGE = Refusal(
    403,
    "wrong_origin",
    "You followed a link from another site.",
    "Requests from other sites get no content. To open the page, continue.",
)
_NO_KEY = Refusal(
    401,
    "no_key",
    "This browser is not signed in.",
    "Run `holdfast browse`: it opens a link that signs it in.",
)
_KEYS_UNAVAILABLE = Refusal(
    503, "unavailable", "Keys cannot be looked up right now.", "Ask again in a moment.", 2
)


class Authenticator(Protocol):
    """Knows the principal of a token or a cookie."""

    async def refresh(self, shown: str) -> bool:
        """Reload the keys if need be; returns whether it is known if `shown` is one."""
        ...

    def by_token(self, shown: str) -> Principal | None:
        """The principal of a token or a key."""
        ...

    def by_cookie(self, shown: str) -> Principal | None:
        """The principal of a cookie."""
        ...


class GuardRules(NamedTuple):
    """What the guard of one server accepts. Without `hosts` it answers to any name."""

    hosts: frozenset[str] = frozenset()
    no_key: Refusal = _NO_KEY
    # Paths that need no key; one that ends in a slash includes all below it.
    public_paths: tuple[str, ...] = ("/enter",)
    # Where a browser without a cookie is redirected to.
    login: str = ""
    max_body_bytes: int = MAX_BODY_BYTES
    # The names under which cookies are given and taken; any if empty. Programs with a token may use
    # every one of `hosts`.
    cookie_hosts: frozenset[str] = frozenset()

    @property
    def too_large(self) -> Refusal:
        """The refusal of a body that is too large."""
        return Refusal(413, "too_large", f"The body is larger than {self.max_body_bytes:,} bytes.")

    def takes_cookies(self, host: str) -> bool:
        """Whether browsers sign in under this name."""
        return not self.cookie_hosts or host in self.cookie_hosts

    def is_public(self, path: str) -> bool:
        """Whether a path needs no key."""
        return any(
            path == one or (one[-1] == "/" and path.startswith(one)) for one in self.public_paths
        )


class Guard:
    """ASGI middleware that refuses requests, and sets the principal of those it lets through."""

    def __init__(self, app: ASGIApp, keys: Authenticator, rules: GuardRules) -> None:
        self._app = app
        self._keys = keys
        self._rules = rules
        self.last_request = time.monotonic()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        known = await self._keys.refresh(_bearer_token(Headers(scope=scope)))
        refusal = self._check(scope)
        if refusal is not None and refusal.status == 401 and not known:
            refusal = _KEYS_UNAVAILABLE
        if refusal is not None:
            answer = self._login_redirect(scope) if refusal.status == 401 else None
            answer = answer or _refusal_response(refusal, scope)
            await answer(scope, receive, _with_headers(scope, send))
            return
        self.last_request = time.monotonic()
        body = _Body(receive, self._rules)
        await self._app(scope, body.receive, _refuse_cut_off(body, scope, send))

    def _login_redirect(self, scope: Scope) -> Response | None:
        """To the login form, for a browser that opens a page."""
        page = "text/html" in Headers(scope=scope).get("accept", "") and scope["method"] == "GET"
        if not page or not self._rules.login:
            return None
        return RedirectResponse(f"{self._rules.login}?to={quote(scope['path'])}", 303)

    def _check(self, scope: Scope) -> Refusal | None:
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        if len(hosts) != 1 or (self._rules.hosts and hosts[0] not in self._rules.hosts):
            return Refusal(421, "wrong_host", "This server does not answer to that name.")
        own_origins = {
            f"{scope.get('scheme', 'http')}://{name}" for name in self._rules.hosts or hosts
        }
        if any(origin not in own_origins for origin in headers.getlist("origin")):
            return _WRONG_ORIGIN
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            visit = _is_visit(scope, headers)
            if not (visit and self._rules.is_public(scope["path"])):
                return _FROM_ANOTHER_PAGE if visit else _WRONG_ORIGIN
        return self._authenticate(scope, headers) or _check_length(headers, self._rules)

    def _authenticate(self, scope: Scope, headers: Headers) -> Refusal | None:
        token = _bearer_token(headers)
        if token and (known := self._keys.by_token(token)):
            _admit(scope, known, "")
            return None
        takes_cookies = self._rules.takes_cookies(headers.get("host", ""))
        cookie = _cookie(headers) if takes_cookies else ""
        # A browser sends the origin with every request that can change something.
        named = headers.get("origin") is not None or headers.get("sec-fetch-site") == "same-origin"
        is_from_own_page = scope["method"] in SAFE_METHODS or named
        if cookie and (known := self._keys.by_cookie(cookie)):
            _admit(scope, known, cookie)
            return None if is_from_own_page else _WRONG_ORIGIN
        if takes_cookies and self._rules.is_public(scope["path"]):
            return None if is_from_own_page else _WRONG_ORIGIN
        return self._rules.no_key


def _admit(scope: Scope, known: Principal, cookie: str) -> None:
    scope["visitor"] = cookie
    scope["principal"] = known
    set_principal(known)


def _bearer_token(headers: Headers) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found is not None else ""


def _is_visit(scope: Scope, headers: Headers) -> bool:
    """Whether a browser opens a page in a window of its own, by a link or an address."""
    return (
        scope["method"] == "GET"
        and headers.get("sec-fetch-mode") == "navigate"
        and headers.get("sec-fetch-dest", "document") == "document"
    )


def _refusal_response(refusal: Refusal, scope: Scope) -> Response:
    headers = {"www-authenticate": "Bearer"} if refusal.status == 401 else {}
    headers |= {"retry-after": str(refusal.retry_after_s)} if refusal.retry_after_s else {}
    if "text/html" in Headers(scope=scope).get("accept", ""):
        onward = _own_address(scope) if refusal is _FROM_ANOTHER_PAGE else ""
        return refusal_page(refusal.status, refusal.message, refusal.remedy, onward, headers)
    body = error_json(scope, refusal.code, refusal.message, refusal.remedy)
    return JSONResponse(body, refusal.status, headers)


def _own_address(scope: Scope) -> str:
    """The path and query of a request, for a link on our own page."""
    query = scope.get("query_string", b"").decode("latin-1")
    return local_path(quote(scope["path"]) + (f"?{quote(query, safe='=&%+')}" if query else ""))


def local_path(to: str) -> str:
    """`to` if it is a path of this server, else the first page."""
    is_local = to.startswith("/") and not to.startswith(("//", "/\\"))
    return to if is_local and to.isprintable() else "/"


def error_json(scope: Scope, code: str, message: str, remedy: str) -> dict[str, dict[str, str]]:
    """An error as every response has it; with the id of the request, where requests have ids."""
    error = {"code": code, "message": message, "remedy": remedy}
    return {
        "error": error | {"request_id": scope["request_id"]} if "request_id" in scope else error
    }


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


def _check_length(headers: Headers, rules: GuardRules) -> Refusal | None:
    """Refuse a body that is too long by its own header; `_Body` counts what really comes."""
    length = headers.get("content-length") or "0"
    if not (length.isascii() and length.isdigit() and len(length) <= _MAX_LENGTH_DIGITS):
        return Refusal(400, "bad_input", "The request does not say how long it is.")
    return rules.too_large if int(length) > rules.max_body_bytes else None


class _Body:
    """The body of a request, cut off at the size limit."""

    def __init__(self, receive: Receive, rules: GuardRules) -> None:
        self._receive = receive
        self._rules = rules
        self._received = 0
        self._complete = False
        # Why it was cut off.
        self.refusal: Refusal | None = None

    async def receive(self) -> Message:
        """The next piece; a disconnect once the limit is reached."""
        if self._complete:
            return await self._receive()  # waits for the client to disconnect
        message = await self._receive()
        if message["type"] == "http.request":
            self._received += len(message.get("body", b""))
            self._complete = not message.get("more_body", False)
            if self._received > self._rules.max_body_bytes:
                self.refusal = self._rules.too_large
                return {"type": "http.disconnect"}
        return message


def _refuse_cut_off(body: _Body, scope: Scope, send: Send) -> Send:
    """A `send` that replaces the response to a body that was cut off by the refusal."""
    send_on, is_refused = _with_headers(scope, send), False

    async def out(message: Message) -> None:
        nonlocal is_refused
        if body.refusal and (is_refused or message["type"] == "http.response.start"):
            if not is_refused:
                is_refused = True
                await _refusal_response(body.refusal, scope)(scope, body.receive, send_on)
            return
        await send_on(message)

    return out
