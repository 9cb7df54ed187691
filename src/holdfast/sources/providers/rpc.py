"""What both ways to a provider have in common: messages, their bounds, and the time there is.

A provider is a stranger. Whatever it sends is read within bounds or given up with a sentence; no
word of its own gets into that sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol, cast

from holdfast.errors import ProviderError

MAX_MESSAGE_BYTES = 1_000_000
MAX_TOTAL_BYTES = 4_000_000
METHOD_NOT_FOUND = -32601

Object = dict[str, Any]


class Deadline:
    """A moment after which nobody waits any longer."""

    def __init__(self, seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._at = clock() + seconds

    def left_s(self) -> float:
        """Seconds that are left; an error when there are none."""
        left = self._at - self._clock()
        if left <= 0:
            raise self.error()
        return left

    def error(self) -> ProviderError:
        """What to say then."""
        return ProviderError(f"it did not answer within {self._seconds:g} s")


class Transport(Protocol):
    """A way to a provider."""

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request and wait for the message that answers it."""
        ...

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send what needs no answer."""
        ...

    def close(self, kindly: bool = True) -> None:
        """Let go of everything that was started or opened. Never fails."""
        ...


class ByteCounter:
    """Counts what comes in, and says when it is too much."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, size: int, pending: int) -> None:
        """So much came, and so much of it is not a whole message yet."""
        self._bytes += size
        if pending > MAX_MESSAGE_BYTES:
            raise ProviderError(f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes")
        if self._bytes > MAX_TOTAL_BYTES:
            raise ProviderError(f"it sent more than {MAX_TOTAL_BYTES:,} bytes")


def encode_message(message: Object) -> bytes:
    """A message as one line, without its end."""
    return json.dumps(message).encode("ascii")


def parse_messages(line: bytes) -> list[Object]:
    """The messages of a line; none where it holds something else, as a program's log does."""
    try:
        told: Any = json.loads(line)
    except (ValueError, RecursionError):
        return []
    items = cast(list[Any], told) if isinstance(told, list) else [told]
    return [cast(Object, item) for item in items if isinstance(item, dict)]


def is_answer_to(message: Object, request: Object) -> bool:
    """Whether a message is the answer to a request of ours."""
    id: object = message.get("id")
    is_ours = type(id) is type(request["id"]) and id == request["id"]
    return is_ours and "method" not in message and ("result" in message or "error" in message)


def reply_to(message: Object) -> Object | None:
    """What we owe for a message: we are alive, and can do nothing else for a provider."""
    id: object = message.get("id")
    if not isinstance(message.get("method"), str) or not isinstance(id, str | int):
        return None
    if message["method"] == "ping":
        return {"jsonrpc": "2.0", "id": id, "result": {}}
    error = {"code": METHOD_NOT_FOUND, "message": "Not offered by this client."}
    return {"jsonrpc": "2.0", "id": id, "error": error}
