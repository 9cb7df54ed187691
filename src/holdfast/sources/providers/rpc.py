"""JSON-RPC messages for both transports to a provider, with limits of size and time.

A provider is not trusted: whatever it sends is read within limits, and none of its text gets into
an error message.
"""

from __future__ import annotations

import json
from time import monotonic
from typing import Any, Protocol

from holdfast.errors import ProviderError
from holdfast.sources.json_fields import objects

# Of one message, and of all messages of one conversation. An answer is cut to ten texts of 2,000
# characters anyway; the rest of the space is for lists of tools.
MAX_MESSAGE_BYTES = 1_000_000
MAX_TOTAL_BYTES = 4_000_000
METHOD_NOT_FOUND = -32601

Object = dict[str, Any]


class Deadline:
    """The time until which a conversation must be over."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._at = monotonic() + seconds

    def left_s(self) -> float:
        """Seconds that are left; raises ProviderError when there are none."""
        left = self._at - monotonic()
        if left <= 0:
            raise self.error()
        return left

    def error(self) -> ProviderError:
        """The error for a provider that did not answer in time."""
        return ProviderError(f"it did not answer within {self._seconds:g} s")


class Transport(Protocol):
    """A connection to a provider's server."""

    def request(self, message: Object, deadline: Deadline) -> Object:
        """Send a request and wait for the message that answers it."""
        ...

    def notify(self, message: Object, deadline: Deadline) -> None:
        """Send a message that gets no answer."""
        ...

    def close(self, kindly: bool = True) -> None:
        """End everything that was started or opened; with `kindly` the server may end by itself.
        Never fails."""
        ...


class ByteCounter:
    """Counts the bytes that a provider sends, and raises ProviderError when they are too many."""

    def __init__(self) -> None:
        self._bytes = 0

    def add(self, size: int, pending: int) -> None:
        """Count `size` bytes; `pending` bytes belong to a message that is not complete yet."""
        self._bytes += size
        if pending > MAX_MESSAGE_BYTES:
            raise ProviderError(f"it sent a message of more than {MAX_MESSAGE_BYTES:,} bytes")
        if self._bytes > MAX_TOTAL_BYTES:
            raise ProviderError(f"it sent more than {MAX_TOTAL_BYTES:,} bytes")


def encode_message(message: Object) -> bytes:
    """A message as one line, without the newline."""
    return json.dumps(message).encode("ascii")


def parse_messages(line: bytes) -> list[Object]:
    """The messages of a line; none where it is something else, such as a line of a log."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return objects(value) or objects([value])


def is_answer_to(message: Object, request: Object) -> bool:
    """Whether a message is the answer to our request."""
    id: object = message.get("id")
    is_ours = type(id) is type(request["id"]) and id == request["id"]
    return is_ours and "method" not in message and ("result" in message or "error" in message)


def reply_to(message: Object) -> Object | None:
    """The reply to a request of a provider: only `ping` is supported; None for notifications."""
    id: object = message.get("id")
    if not isinstance(message.get("method"), str) or not isinstance(id, str | int):
        return None
    if message["method"] == "ping":
        return {"jsonrpc": "2.0", "id": id, "result": {}}
    error = {"code": METHOD_NOT_FOUND, "message": "Not offered by this client."}
    return {"jsonrpc": "2.0", "id": id, "error": error}
