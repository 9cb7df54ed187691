"""Speaks to a server of the team's by HTTP, on the standard library.

Only over TLS, or on this machine, or where somebody said otherwise. Nobody is followed to another
address and no proxy is asked; a server that trickles is cut off when the time is up. What it says
is read within bounds, and is data.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from socket import SHUT_RDWR
from ssl import SSLCertVerificationError, SSLError
from time import monotonic
from typing import Any, NamedTuple, cast
from urllib.parse import urlsplit

from holdfast.errors import RemoteError, RemoteRefusedError
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.share_format import is_moment, visible

API = "/api/v1"
# Behind this, an error has words of the server's own.
SERVER_TEXT_START = " (“"
MAX_BYTES = 2_000_000
MAX_HITS = 10
_TEXT = 2_000
_WORD = 200
_CHUNK = 65_536
# By OpenSSL's numbers: why a certificate is not believed, and what helps.
_UNTRUSTED = "its certificate is not trusted here"
_RENEW = "Whoever runs the server has to renew it; look at this machine's clock, too."
_RENAME = (
    "Give the address that it is for, or let whoever runs the server get one for this address."
)
_DISTRUST = {
    9: (f"{_UNTRUSTED}: its time has not begun", _RENEW),
    10: (f"{_UNTRUSTED}: it has expired", _RENEW),
    62: (f"{_UNTRUSTED}: it is for another address", _RENAME),
    64: (f"{_UNTRUSTED}: it is for another address", _RENAME),
}
_UNKNOWN = (
    f"{_UNTRUSTED}: nobody whom this machine trusts has signed it",
    "If your team signs its own, let this machine trust it, or name the file in SSL_CERT_FILE: "
    "docs/remote.md.",
)
_PLAIN = regex(r"[a-z]{1,20}/[\x21-\x7e]{1,200}")


class RemoteRecord(NamedTuple):
    """One record of a server's: its name there, its words, when it was, how well it answers by the
    server's own measure, whose words they are, and who shared it."""

    name: str
    text: str
    time: str
    score: float
    trust: Trust
    shared: str = ""


class Receipt(NamedTuple):
    """What a server did with a line: its hash, what became of it, its name there, and why."""

    id: str
    state: str
    name: str = ""
    why: str = ""


class RemoteClient:
    """One server, spoken to for so many seconds at most each time."""

    def __init__(self, remote: Remote, timeout_s: float) -> None:
        self._remote = remote
        self._patience_s = timeout_s

    def banks(self) -> list[str]:
        """The banks that the key opens."""
        told = self._ask("GET", "/banks")
        listed = cast(list[object], told.get("banks") or [])
        return [_word(_object(one).get("name")) for one in listed]

    def recall(self, question: str, bank: str, limit: int = MAX_HITS) -> list[RemoteRecord]:
        """What a bank over there knows of a question. Nothing but these two is sent."""
        sent = {"question": question, "bank": bank, "limit": min(limit, MAX_HITS)}
        told = self._ask("POST", "/shares/recall", sent)
        hits = told.get("hits")
        if not isinstance(hits, list):
            raise RemoteError("it does not answer as a memory does")
        found = [_said(_object(one)) for one in cast(list[object], hits)[:MAX_HITS]]
        return [one for one in found if one is not None]

    def push(self, bank: str, lines: Sequence[Mapping[str, Any]]) -> list[Receipt]:
        """Hand in what somebody shares; what became of each line."""
        told = self._ask("POST", "/shares", {"bank": bank, "shares": list(lines)})
        listed = told.get("shares")
        if not isinstance(listed, list):
            raise RemoteError("it does not answer as a memory does")
        return [_receipt(_object(one)) for one in cast(list[object], listed)]

    def _ask(self, method: str, path: str, sent: object = None) -> dict[str, Any]:
        parts = urlsplit(self._remote.url)
        make = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        until = monotonic() + self._patience_s
        connection = make(str(parts.hostname), parts.port, timeout=self._patience_s)
        alarm = threading.Timer(self._patience_s, _hang_up, (connection,))
        alarm.daemon = True
        alarm.start()
        body = None if sent is None else json.dumps(sent).encode("ascii")
        headers = {"Authorization": f"Bearer {self._remote.key}", "Accept": "application/json"}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        try:
            connection.request(method, f"{parts.path}{API}{path}", body, headers)
            with connection.getresponse() as answer:
                return _understood(answer.status, _whole(answer, until))
        except SSLCertVerificationError as error:
            raise _distrust(error) from error
        except (OSError, HTTPException, ValueError) as error:
            if monotonic() >= until or isinstance(error, TimeoutError):
                raise timeout_error(self._patience_s) from error
            if isinstance(error, SSLError):
                raise RemoteError("it does not speak TLS, or not as it should") from error
            raise RemoteError("it cannot be reached, or does not speak HTTP") from error
        finally:
            alarm.cancel()
            connection.close()


def timeout_error(seconds: float) -> RemoteError:
    """What to say of a server that does not answer in time."""
    return RemoteError(f"it did not answer within {seconds * 1000:.0f} ms")


def _distrust(error: SSLCertVerificationError) -> RemoteError:
    """Why a certificate is not believed; nothing was sent to whoever showed it."""
    told = _DISTRUST.get(error.verify_code)
    return RemoteError(*(told or _UNKNOWN))


def _hang_up(connection: HTTPConnection) -> None:
    """Wake whoever waits for a server that trickles."""
    with suppress(OSError, AttributeError):
        connection.sock.shutdown(SHUT_RDWR)


def _whole(answer: Any, until: float) -> bytes:
    read = bytearray()
    while piece := cast(bytes, answer.read1(_CHUNK)):
        read += piece
        if len(read) > MAX_BYTES:
            raise RemoteError(f"it sent more than {MAX_BYTES:,} bytes")
        if monotonic() > until:
            raise TimeoutError
    return bytes(read)


def _understood(status: int, body: bytes) -> dict[str, Any]:
    """What an answer says, if it is one of a memory."""
    if status == 401:
        raise RemoteRefusedError("it does not know the key, or the key has ended")
    if 300 <= status < 400:
        raise RemoteRefusedError(f"it sends us to another address, where we do not go ({status})")
    if status in (429, 503):
        raise RemoteError("it has too much to do just now")
    try:
        told = _object(json.loads(body))
    except (ValueError, RecursionError) as error:
        if 200 <= status < 300:
            raise RemoteError("it does not answer as a memory does") from error
        told = dict[str, Any]()
    if 200 <= status < 300:
        return told
    why = _word(_object(told.get("error")).get("message"))
    if status == 403:
        raise RemoteRefusedError(f"the key may not do this{_quoted(why)}")
    if status == 404:
        raise RemoteRefusedError(f"it has no such bank for this key{_quoted(why)}")
    kind = RemoteRefusedError if 400 <= status < 500 else RemoteError
    raise kind(f"it answered with HTTP {status}{_quoted(why)}")


def _quoted(why: str) -> str:
    return f"{SERVER_TEXT_START}{why}”)" if why else ""


def _object(value: object) -> dict[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _word(value: object) -> str:
    """A short text on one line; "" for anything else."""
    return " ".join(visible(value).split())[:_WORD] if isinstance(value, str) else ""


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _TEXT else f"{text[:_TEXT].rpartition(' ')[0]}…"


def _receipt(told: Mapping[str, Any]) -> Receipt:
    return Receipt(*(_word(told.get(name)) for name in ("id", "state", "uri", "why")))


def _said(told: Mapping[str, Any]) -> RemoteRecord | None:
    """A hit, if it is one. Nobody's words are better trusted for having come from a server."""
    name = _word(told.get("uri")).removeprefix("holdfast://")
    text, time, score = told.get("text"), _word(told.get("time")), told.get("score")
    if not (isinstance(text, str) and text.strip() and _PLAIN.fullmatch(name)):
        return None
    trust = Trust.EXTERNAL if told.get("trust") != Trust.TEAM.value else Trust.TEAM
    return RemoteRecord(
        name,
        _cut(visible(text)),
        time if is_moment(time) else "",
        min(1.0, max(0.0, float(score))) if isinstance(score, int | float) else 0.0,
        trust,
        _word(told.get("shared")),
    )
