"""The client of a forge's REST API: GET requests to one address, at the pace the forge allows.

The token goes to the address that the settings name and nowhere else: a redirect, or a link to a
next page, that leads to another host is refused. Waiting for rate limits is bounded by `wait_s`
for the whole run and reported; beyond that a ForgeBusyError says when to come back.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import urljoin, urlsplit

from holdfast.errors import ForgeBusyError, ForgeError, ForgeRefusedError, SettingsError
from holdfast.http_client import (
    HttpCertificateError,
    HttpError,
    HttpTooLargeError,
    Limits,
    Reply,
    Request,
    fits_header,
    is_loopback,
    send,
)
from holdfast.regex import regex
from holdfast.sources.json_fields import mapping

# A page holds 100 issues, whose texts GitHub limits to 65,536 characters each.
MAX_BYTES = 32 * 1024 * 1024
_LIMITS = Limits(wait_s=30.0, total_s=120.0, max_bytes=MAX_BYTES)
# Requests for one page until it is given up, after pauses of 1, 2 and 4 seconds.
MAX_TRIES = 4
_FIRST_PAUSE_S = 1.0
# GitHub asks for a minute where it names no time for its secondary limits.
_SECONDARY_LIMIT_S = 60.0
_MAX_REDIRECTS = 3
# The program of a forge only reads its own files or the keyring for its token.
_PROGRAM_TIMEOUT_S = 10.0
_MAX_HEADER_CHARS = 1000
# Of the forge's own words in an error message.
_MAX_MESSAGE_CHARS = 200
_NEXT = regex(r'<([^<>]+)>\s*;\s*rel="?next"?')
_LAST = regex(r'<[^<>]+[?&]page=(\d+)[^<>]*>\s*;\s*rel="?last"?')
_TOKEN_HINT = "GITHUB_TOKEN, or `gh auth login`"
_CONTROL = regex(r"[\x00-\x1f\x7f-\x9f]+")


class Answer(NamedTuple):
    """An answer of the API: `value` is its JSON. Where it is `unchanged` since the `etag` that was
    sent along, the forge sent nothing and `value` is None."""

    value: Any
    next_url: str = ""
    last_page: int = 0
    etag: str = ""
    unchanged: bool = False


class Pace(NamedTuple):
    """How long a run may wait for rate limits in all, how many requests it may make (0: any
    number), and what is called with a sentence about each wait."""

    wait_s: float = 120.0
    requests: int = 0
    report: Callable[[str], None] = lambda text: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.time


DEFAULT_PACE = Pace()


def program_token(*command: str) -> str:
    """The token that a forge's own program prints; "" where it is not installed, or nobody is
    logged in."""
    program = shutil.which(command[0])
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *command[1:]],
            capture_output=True,
            timeout=_PROGRAM_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    token = done.stdout.decode("utf-8", "replace").strip()
    return token if done.returncode == 0 and token.isprintable() and " " not in token else ""


class ForgeClient:
    """Sends GET requests to one address; counts them, and waits for rate limits."""

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
                f"{url!r} is not the address of a forge.",
                "Set forge.url to something like https://github.example.com/api/v3.",
            )
        is_local = is_loopback(parts.hostname)
        if token and parts.scheme == "http" and not is_local:
            raise SettingsError(
                f"The token would go to {parts.hostname} unencrypted.",
                "Set forge.url to an address with https.",
            )
        if not fits_header(token, _MAX_HEADER_CHARS):
            raise SettingsError(
                "The token has invalid characters.", "Set it again, without line breaks."
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
        self._use_proxy = not is_local

    def get(self, address: str, etag: str = "") -> Answer:
        """The answer of an address, or of a path below ours. With the `etag` of an earlier answer
        it may be `unchanged`."""
        url = address if "://" in address else f"{self.url}{address}"
        for _ in range(_MAX_REDIRECTS + 1):
            reply = self._request_with_retries(self._checked(url), etag)
            if reply.status == 304:
                return Answer(None, etag=etag, unchanged=True)
            if reply.status not in (301, 302, 303, 307, 308):
                return self._answer(url, reply)
            url = urljoin(url, reply.headers.get("Location") or "")
        raise ForgeError(f"{self._shown} redirects in circles.", "Try again later.")

    @property
    def _shown(self) -> str:
        return f"The forge at {self._origin}"

    def _checked(self, url: str) -> str:
        """The address, if it is on our own host; the token must not go to another."""
        if _origin(url) != self._origin:
            raise ForgeRefusedError(
                f"{self._shown} leads to another place ({_origin(url) or 'nowhere'}), which is "
                "not followed; the token was not sent there.",
                "If the forge has moved, set forge.url to its new address.",
            )
        return url

    def _request_with_retries(self, url: str, etag: str) -> Reply:
        """Try again while the forge cannot be reached, fails or wants us to wait."""
        problem = ""
        for attempt in range(MAX_TRIES):
            if attempt and problem:
                self._pace.report(f"{problem}; asking again.")
                self._pace.sleep(_FIRST_PAUSE_S * 2 ** (attempt - 1))
            self._wait_for_limit()
            try:
                reply = self._request(url, etag)
            except HttpError as error:
                problem = self._unreachable(error)
                continue
            self._note_limit(reply)
            if reply.status < 500 and not self._resume_at:
                return reply
            if reply.status < 400:
                return reply  # the limit is for what comes next
            problem = f"{self._shown} said {reply.status}" if reply.status >= 500 else ""
        raise ForgeError(
            f"{problem or self._shown + ' wants no more requests now'}, {MAX_TRIES} times.",
            "What was read is kept; run the same command again to continue.",
        )

    def _unreachable(self, error: HttpError) -> str:
        """What to report before trying again; raises where that would not help."""
        if isinstance(error, HttpTooLargeError):
            raise ForgeError(
                f"{self._shown} gave more than {MAX_BYTES:,} bytes at once."
            ) from error
        if isinstance(error, HttpCertificateError):
            raise ForgeRefusedError(
                f"{self._shown} has a certificate that is not trusted: {error.detail}.",
                "Set SSL_CERT_FILE to the certificates of your company, or correct forge.url.",
            ) from error
        return f"{self._shown} cannot be reached ({_one_line(error.detail)})"

    def _request(self, url: str, etag: str) -> Reply:
        if self._pace.requests and self.requests >= self._pace.requests:
            raise ForgeBusyError(
                f"{self.requests} requests are as many as forge.requests allows in one run.",
                "What was read is kept; run the same command again to continue.",
            )
        self.requests += 1
        headers = {**self._headers, **({"If-None-Match": etag} if etag else {})}
        return send(Request("GET", url, headers), _LIMITS, use_proxy=self._use_proxy)

    def _note_limit(self, reply: Reply) -> None:
        """Note until when to wait. The forge reports a limit in one of three ways."""
        self._resume_at = 0.0
        refused = reply.status in (403, 429)
        after_s = reply.retry_after_s
        spent = _number(reply.headers.get("X-RateLimit-Remaining")) == 0
        reset = _number(reply.headers.get("X-RateLimit-Reset"))
        now = self._pace.clock()
        if refused and after_s is not None:
            self._resume_at = now + max(after_s, 1.0)
        elif spent and reset is not None and (refused or reset > now):
            self._resume_at = max(reset, now) + 1.0
        elif refused and (reply.status == 429 or b"rate limit" in reply.body[:2000].lower()):
            self._resume_at = now + _SECONDARY_LIMIT_S

    def _wait_for_limit(self) -> None:
        if not self._resume_at:
            return
        wait = max(0.0, self._resume_at - self._pace.clock())
        when = time.strftime("%H:%M:%S UTC", time.gmtime(self._resume_at))
        if self._waited + wait > self._pace.wait_s:
            hint = "" if self.has_token else " With a token the limit is far higher."
            raise ForgeBusyError(
                f"{self._shown} allows no more requests until {when}.",
                f"What was read is kept; run the same command again then to continue.{hint}",
            )
        self._pace.report(
            f"{self._shown} allows no more requests until {when}; waiting {wait:.0f} s."
        )
        self._waited += wait
        self._pace.sleep(wait)
        self._resume_at = 0.0

    def _answer(self, url: str, reply: Reply) -> Answer:
        if reply.status != 200:
            raise self._refusal(url, reply)
        try:
            value = json.loads(reply.body)
        except (ValueError, RecursionError) as error:
            raise ForgeError(
                f"{self._shown} gave no JSON.", "Check forge.url; it is the address of the API."
            ) from error
        link, etag = reply.headers.get("Link") or "", reply.headers.get("ETag") or ""
        found, last = _NEXT.search(link), _LAST.search(link)
        return Answer(
            value,
            urljoin(url, found[1]) if found else "",
            int(last[1]) if last else 0,
            etag if fits_header(etag, _MAX_HEADER_CHARS) else "",
        )

    def _refusal(self, url: str, reply: Reply) -> ForgeError:
        message = _server_message(reply.body)
        what = f"{self._shown} said {reply.status}{f': {message}' if message else ''}"
        path = urlsplit(url).path
        match reply.status:
            case 401:
                remedy = f"Give a token that is still valid: {_TOKEN_HINT}."
            case 403 if reply.headers.get("X-GitHub-SSO"):
                remedy = "Authorize the token for the organisation's single sign-on."
            case 403:
                remedy = "The token needs to read issues and pull requests of this repository."
            case 404 | 410 if not self.has_token:
                remedy = f"Check the name; a private repository needs {_TOKEN_HINT}."
            case 404 | 410:
                remedy = "Check the name, and whether the token may see this repository."
            case _:
                remedy = "Try again later."
        return ForgeRefusedError(f"{what} ({path}).", remedy, reply.status)


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


def _server_message(body: bytes) -> str:
    try:
        value = json.loads(body[:100_000])
    except (ValueError, RecursionError):
        return ""
    return _one_line(str(mapping(value).get("message", "")))


def _one_line(text: str) -> str:
    return _CONTROL.sub(" ", text)[:_MAX_MESSAGE_CHARS].strip()
