"""JSON over HTTP from one address, patiently and within limits; on the standard library.

The token goes to the address that the settings name and nowhere else: a redirect, or a link to a
next page, that leads to another place is refused. Waiting for a limit is bounded by `wait_s` for
the whole run and told; beyond that a ForgeBusyError says when to come back.
"""

from __future__ import annotations

import json
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from contextlib import closing
from email.message import Message
from http.client import HTTPException
from ipaddress import ip_address
from typing import IO, Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from holdfast.errors import ForgeBusyError, ForgeError, ForgeRefusedError, SettingsError

MAX_BYTES = 32 * 1024 * 1024
TRIES = 4
_TIMEOUT_S = 30.0
_ANSWER_S = 120.0
_PAUSE_S = 1.0
_SECONDARY_S = 60.0
_REDIRECTS = 3
_PIECE = 1 << 16
_NEXT = re.compile(r'<([^<>]+)>\s*;\s*rel="?next"?')
_LAST = re.compile(r'<[^<>]+[?&]page=(\d+)[^<>]*>\s*;\s*rel="?last"?')
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")


class Answer(NamedTuple):
    """What came back: `value` is JSON; `same` tells that it is as before, and nothing came."""

    value: Any
    next_url: str = ""
    last_page: int = 0
    etag: str = ""
    unchanged: bool = False


class Pace(NamedTuple):
    """How long a run may wait for limits in all, how many requests it may make (0: any number),
    and who is told of each wait."""

    wait_s: float = 120.0
    requests: int = 0
    report: Callable[[str], None] = lambda text: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time


DEFAULT_PACE = Pace()


class _Reply(NamedTuple):
    status: int
    headers: Message
    body: bytes


class _StayHere(urllib.request.HTTPRedirectHandler):
    """Redirects are looked at before they are followed."""

    def redirect_request(
        self, req: Any, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> None:
        return None


class ForgeClient:
    """One address, asked with GET."""

    def __init__(
        self,
        url: str,
        token: str = "",
        headers: Mapping[str, str] | None = None,
        pace: Pace = DEFAULT_PACE,
    ) -> None:
        self.url = url.rstrip("/")
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
            raise SettingsError(
                f"{url!r} is no address of a forge.",
                "Set forge.url to something like https://github.example.com/api/v3.",
            )
        here = is_loopback(parts.hostname)
        if token and parts.scheme == "http" and not here:
            raise SettingsError(
                f"The token would go to {parts.hostname} unencrypted.",
                "Set forge.url to an address with https.",
            )
        if not _fits_header(token):
            raise SettingsError(
                "The token holds characters that no token has.", "Set it anew, without line breaks."
            )
        self.requests = 0
        self.has_token = bool(token)
        self._origin = _origin(self.url)
        self._headers = {"User-Agent": "holdfast", **(headers or {})}
        if token:
            self._headers["Authorization"] = f"Bearer {token}"
        self._pace = pace
        self._waited = 0.0
        self._resume_at = 0.0
        proxies = [urllib.request.ProxyHandler({})] if here else []
        self._opener = urllib.request.build_opener(_StayHere(), *proxies)

    def get(self, address: str, tag: str = "") -> Answer:
        """What an address, or a path below ours, answers. With a tag it may be "as before"."""
        url = address if "://" in address else f"{self.url}{address}"
        for _ in range(_REDIRECTS + 1):
            reply = self._patiently(self._checked(url), tag)
            if reply.status == 304:
                return Answer(None, etag=tag, unchanged=True)
            if reply.status not in (301, 302, 303, 307, 308):
                return self._answer(url, reply)
            url = urljoin(url, reply.headers.get("Location") or "")
        raise ForgeError(f"{self._shown} redirects in circles.", "Try again later.")

    @property
    def _shown(self) -> str:
        return f"The forge at {self._origin}"

    def _checked(self, url: str) -> str:
        """An address on our own host; the token must not go to another."""
        if _origin(url) != self._origin:
            raise ForgeRefusedError(
                f"{self._shown} leads to another place ({_origin(url) or 'nowhere'}), which is "
                "not followed; the token was not sent there.",
                "If the forge has moved, set forge.url to its new address.",
            )
        return url

    def _patiently(self, url: str, tag: str) -> _Reply:
        """Ask until there is an answer, or no use in asking."""
        problem = ""
        for attempt in range(TRIES):
            if attempt and problem:
                self._pace.report(f"{problem}; asking again.")
                self._pace.sleep(_PAUSE_S * 2 ** (attempt - 1))
            self._wait_for_limit()
            try:
                reply = self._ask(url, tag)
            except (urllib.error.URLError, HTTPException, OSError) as error:
                problem = self._unreachable(error)
                continue
            self._note_limit(reply)
            if reply.status < 500 and not self._resume_at:
                return reply
            if reply.status < 400:
                return reply  # the limit is for what comes next
            problem = f"{self._shown} said {reply.status}" if reply.status >= 500 else ""
        raise ForgeError(
            f"{problem or self._shown + ' wants no more requests now'}, {TRIES} times.",
            "What was read is kept; run the same command again to go on.",
        )

    def _unreachable(self, error: Exception) -> str:
        reason = getattr(error, "reason", None) or error
        if type(reason).__name__.startswith("SSLCert"):
            raise ForgeRefusedError(
                f"{self._shown} has a certificate that is not trusted: {reason}.",
                "Set SSL_CERT_FILE to the certificates of your company, or correct forge.url.",
            ) from error
        return f"{self._shown} cannot be reached ({_plain(str(reason) or type(reason).__name__)})"

    def _ask(self, url: str, tag: str) -> _Reply:
        if self._pace.requests and self.requests >= self._pace.requests:
            raise ForgeBusyError(
                f"{self.requests} requests are as many as forge.requests allows in one run.",
                "What was read is kept; run the same command again to go on.",
            )
        self.requests += 1
        headers = {**self._headers, **({"If-None-Match": tag} if tag else {})}
        request = urllib.request.Request(url, headers=headers)
        try:
            response = self._opener.open(request, timeout=_TIMEOUT_S)
        except urllib.error.HTTPError as error:
            response = error
        with closing(response):
            body = b"" if response.status == 304 else self._read(response)
            return _Reply(int(response.status or 0), response.headers, body)

    def _read(self, response: Any) -> bytes:
        pieces: list[bytes] = []
        size = 0
        late = time.monotonic() + _ANSWER_S
        while piece := response.read(_PIECE):
            pieces.append(piece)
            size += len(piece)
            if size > MAX_BYTES:
                raise ForgeError(f"{self._shown} gave more than {MAX_BYTES:,} bytes at once.")
            if time.monotonic() > late:
                raise TimeoutError(f"no whole answer in {_ANSWER_S:g} seconds")
        return b"".join(pieces)

    def _note_limit(self, reply: _Reply) -> None:
        """When to go on, if a limit is reached: the forge says so in one of three ways."""
        self._resume_at = 0.0
        refused = reply.status in (403, 429)
        after = _number(reply.headers.get("Retry-After"))
        spent = _number(reply.headers.get("X-RateLimit-Remaining")) == 0
        reset = _number(reply.headers.get("X-RateLimit-Reset"))
        now = self._pace.clock()
        if refused and after is not None:
            self._resume_at = now + max(after, 1.0)
        elif spent and reset is not None and (refused or reset > now):
            self._resume_at = max(reset, now) + 1.0
        elif refused and (reply.status == 429 or b"rate limit" in reply.body[:2000].lower()):
            self._resume_at = now + _SECONDARY_S

    def _wait_for_limit(self) -> None:
        if not self._resume_at:
            return
        wait = max(0.0, self._resume_at - self._pace.clock())
        when = time.strftime("%H:%M:%S UTC", time.gmtime(self._resume_at))
        if self._waited + wait > self._pace.wait_s:
            hint = "" if self.has_token else " With a token the limit is far higher."
            raise ForgeBusyError(
                f"{self._shown} wants no more requests until {when}.",
                f"What was read is kept; run the same command again then to go on.{hint}",
            )
        self._pace.report(f"{self._shown} wants no more requests until {when}; waiting {wait:.0f} s.")
        self._waited += wait
        self._pace.sleep(wait)
        self._resume_at = 0.0

    def _answer(self, url: str, reply: _Reply) -> Answer:
        if reply.status != 200:
            raise self._refusal(url, reply)
        try:
            value = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise ForgeError(
                f"{self._shown} gave no JSON.", "Check forge.url; it is the address of the API."
            ) from error
        link = reply.headers.get("Link") or ""
        found, last = _NEXT.search(link), _LAST.search(link)
        return Answer(
            value,
            urljoin(url, found[1]) if found else "",
            int(last[1]) if last else 0,
            tag if _fits_header(tag := reply.headers.get("ETag") or "") else "",
        )

    def _refusal(self, url: str, reply: _Reply) -> ForgeError:
        words = _words(reply.body)
        what = f"{self._shown} said {reply.status}{f': {words}' if words else ''}"
        path = urlsplit(url).path
        match reply.status:
            case 401:
                remedy = "Give a token that is still valid: GITHUB_TOKEN, or `gh auth login`."
            case 403 if reply.headers.get("X-GitHub-SSO"):
                remedy = "Authorize the token for the organisation's single sign-on."
            case 403:
                remedy = "The token needs to read issues and pull requests of this repository."
            case 404 | 410 if not self.has_token:
                remedy = (
                    "Check the name; a private repository needs GITHUB_TOKEN or `gh auth login`."
                )
            case 404 | 410:
                remedy = "Check the name, and whether the token may see this repository."
            case _:
                remedy = "Try again later."
        return ForgeRefusedError(f"{what} ({path}).", remedy, reply.status)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _fits_header(text: str) -> bool:
    """Whether a text can be sent in a header: what cannot would end up in an error message."""
    return text.isascii() and text.isprintable() and len(text) <= 1000


def _origin(url: str) -> str:
    parts = urlsplit(url)
    try:
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    usual = {("http", 80), ("https", 443)}
    end = "" if (parts.scheme, port) in usual else f":{port}"
    return f"{parts.scheme}://{(parts.hostname or '').lower()}{end}" if parts.hostname else ""


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None


def _words(body: bytes) -> str:
    try:
        value: Any = json.loads(body[:100_000])
    except (ValueError, RecursionError):
        return ""
    return _plain(str(value.get("message", ""))) if isinstance(value, dict) else ""  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType]


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", text)[:200].strip()
