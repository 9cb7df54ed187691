"""The client of a team's memory server.

It sends requests over TLS only, or to this machine, or in the clear where the user allowed it.
Redirects are not followed and no proxy is used. What the server says is cut to size and is data,
never an instruction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from holdfast.errors import RemoteError, RemoteRefusedError
from holdfast.http_client import HttpError, HttpTimeoutError, Limits, Request, send
from holdfast.model.trust import Trust
from holdfast.regex import regex
from holdfast.sources.json_fields import Record, items, mapping
from holdfast.sources.remote.remote_config import Remote
from holdfast.sources.share_format import is_timestamp, strip_hidden

API = "/api/v1"
# In an error message, the words of the server itself come after this.
SERVER_TEXT_START = " (“"
# Of one answer. Ten hits of 2,000 characters each need about a tenth of it.
MAX_BYTES = 2_000_000
# Hits of one server. More would crowd out those of the memory on this machine.
MAX_HITS = 10
_MAX_HIT_CHARS = 2_000
# Of a name, a time or an error message of the server.
_MAX_FIELD_CHARS = 200
_RECORD_NAME = regex(r"[a-z]{1,20}/[\x21-\x7e]{1,200}")


class RemoteRecord(NamedTuple):
    """A record that a server found: its name there (`kind/id`), its text and time, how well it
    answers the question by the server's own measure (0 to 1), and who shared it."""

    name: str
    text: str
    time: str
    score: float
    trust: Trust
    shared: str = ""


class Receipt(NamedTuple):
    """What a server did with a shared line: the line's hash, the new state, its name there, and
    why it was refused, if it was."""

    id: str
    state: str
    name: str = ""
    why: str = ""


class RemoteClient:
    """One server. Each request takes `timeout_s` at most."""

    def __init__(self, remote: Remote, timeout_s: float) -> None:
        self._remote = remote
        self._timeout_s = timeout_s

    def banks(self) -> list[str]:
        """The names of the banks that the key opens."""
        listed = items(self._request("GET", "/banks").get("banks"))
        return [_field(mapping(bank).get("name")) for bank in listed]

    def recall(self, question: str, bank: str, limit: int = MAX_HITS) -> list[RemoteRecord]:
        """What a bank of the server knows about a question. Only question, bank and limit are
        sent."""
        body = {"question": question, "bank": bank, "limit": min(limit, MAX_HITS)}
        hits = _listed(self._request("POST", "/shares/recall", body), "hits")
        found = [_record(mapping(hit)) for hit in hits[:MAX_HITS]]
        return [record for record in found if record is not None]

    def push(self, bank: str, lines: Sequence[Mapping[str, Any]]) -> list[Receipt]:
        """Send shared lines to a bank; one receipt for each."""
        answer = self._request("POST", "/shares", {"bank": bank, "shares": list(lines)})
        fields = ("id", "state", "uri", "why")
        receipts = map(mapping, _listed(answer, "shares"))
        return [Receipt(*(_field(one.get(name)) for name in fields)) for one in receipts]

    def _request(self, method: str, path: str, content: object = None) -> dict[str, Any]:
        body = None if content is None else json.dumps(content).encode("ascii")
        headers = {"Authorization": f"Bearer {self._remote.key}", "Accept": "application/json"}
        headers |= {"Content-Type": "application/json"} if body is not None else {}
        request = Request(method, f"{self._remote.url}{API}{path}", headers, body)
        try:
            reply = send(request, Limits(self._timeout_s, self._timeout_s, MAX_BYTES))
        except HttpTimeoutError as error:
            raise timeout_error(self._timeout_s) from error
        except HttpError as error:
            raise RemoteError(error.message, error.remedy) from error
        return _checked_answer(reply.status, reply.body)


def timeout_error(timeout_s: float) -> RemoteError:
    """The error for a server that does not answer in time."""
    return RemoteError(f"it did not answer within {timeout_s * 1000:.0f} ms")


def _checked_answer(status: int, body: bytes) -> dict[str, Any]:
    """The JSON object of an answer; a RemoteError where the status or the form is another."""
    if status == 401:
        raise RemoteRefusedError("it does not accept the key; it may have expired")
    if 300 <= status < 400:
        raise RemoteRefusedError(
            f"it redirects to another address, which is not followed ({status})"
        )
    if status in (429, 503):
        raise RemoteError("it is overloaded")
    try:
        answer = mapping(json.loads(body))
    except (ValueError, RecursionError) as error:
        if 200 <= status < 300:
            raise RemoteError("it is not a Holdfast server") from error
        answer = dict[str, Any]()
    if 200 <= status < 300:
        return answer
    why = _field(mapping(answer.get("error")).get("message"))
    if status == 403:
        raise RemoteRefusedError(f"the key may not do this{_quoted(why)}")
    if status == 404:
        raise RemoteRefusedError(f"it has no such bank for this key{_quoted(why)}")
    kind = RemoteRefusedError if 400 <= status < 500 else RemoteError
    raise kind(f"it answered with HTTP {status}{_quoted(why)}")


def _listed(answer: Record, name: str) -> list[Any]:
    if not isinstance(answer.get(name), list):
        raise RemoteError("it is not a Holdfast server")
    return answer[name]


def _quoted(why: str) -> str:
    return f"{SERVER_TEXT_START}{why}”)" if why else ""


def _field(value: object) -> str:
    """A short text on one line; "" for anything else."""
    return (
        " ".join(strip_hidden(value).split())[:_MAX_FIELD_CHARS] if isinstance(value, str) else ""
    )


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_HIT_CHARS else f"{text[:_MAX_HIT_CHARS].rpartition(' ')[0]}…"


def _record(hit: Mapping[str, Any]) -> RemoteRecord | None:
    """A hit, if it has a name and a text. The server may call a record less trusted than the
    team's, never more."""
    name = _field(hit.get("uri")).removeprefix("holdfast://")
    text, time, score = hit.get("text"), _field(hit.get("time")), hit.get("score")
    if not (isinstance(text, str) and text.strip() and _RECORD_NAME.fullmatch(name)):
        return None
    trust = Trust.EXTERNAL if hit.get("trust") != Trust.TEAM.value else Trust.TEAM
    return RemoteRecord(
        name,
        _cut(strip_hidden(text)),
        time if is_timestamp(time) else "",
        min(1.0, max(0.0, float(score))) if isinstance(score, int | float) else 0.0,
        trust,
        _field(hit.get("shared")),
    )
