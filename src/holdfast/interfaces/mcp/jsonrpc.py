"""JSON-RPC messages of the Model Context Protocol: reading and writing them.

Standard library only. Reading never raises: input that is not a valid message becomes a `Message`
that carries the error its sender is owed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO, cast

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
RESOURCE_NOT_FOUND = -32002
BUSY = -32000
REQUEST_CANCELLED = -32800
# The longest message that is held in memory. A client that sends more gets a parse error, so that
# it cannot make the server use any amount of memory.
MAX_LINE_CHARS = 8 * 1024 * 1024

# The newest first. Nothing that we use differs between them.
PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

Object = dict[str, Any]
RequestId = str | int


class RpcError(Exception):
    """A request that cannot be answered, and why."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Message(NamedTuple):
    """A request, or a notification where it has no `id`. With an `error` it is invalid."""

    method: str
    params: Object
    id: RequestId | None = None
    error: RpcError | None = None

    @property
    def needs_answer(self) -> bool:
        """Whether the sender is owed an answer: to a request, and to what is no message at all."""
        return self.id is not None or (self.error is not None and not self.method)


def read_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a stream. Of a line that is too long only the start, which is no message."""
    while line := stream.readline(MAX_LINE_CHARS):
        if not line.endswith("\n") and len(line) == MAX_LINE_CHARS:
            yield line[:100] + "\n"
            while (rest := stream.readline(MAX_LINE_CHARS)) and not rest.endswith("\n"):
                pass
            continue
        yield line


def read_messages(line: str) -> list[Message]:
    """The messages of a line: one, or several in a list as older clients send them."""
    try:
        parsed: Any = json.loads(line)
    except (ValueError, RecursionError):
        return [Message("", {}, error=RpcError(PARSE_ERROR, "This is not JSON, or too long."))]
    if isinstance(parsed, list) and parsed:
        return [_read(item) for item in cast(list[Any], parsed)]
    return [_read(parsed)]


def _read(parsed: Any) -> Message:
    if not isinstance(parsed, dict):
        return Message("", {}, error=RpcError(INVALID_REQUEST, "A message must be an object."))
    message = cast(Object, parsed)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if not isinstance(id, str | int | None):
        return Message("", {}, error=RpcError(INVALID_REQUEST, "An id is a string or a number."))
    if not isinstance(method, str):
        if "result" in message or "error" in message:
            # An answer, though we never send requests: ignored like a notification.
            return Message("", {})
        return Message("", {}, id, RpcError(INVALID_REQUEST, "A message must have a method."))
    if not isinstance(params, dict):
        return Message(method, {}, id, RpcError(INVALID_PARAMS, "Parameters must be an object."))
    return Message(method, cast(Object, params), id)


def encode_result(id: RequestId | None, value: Object) -> str:
    """A successful answer, as one line."""
    return _encode({"jsonrpc": "2.0", "id": id, "result": value})


def encode_error(id: RequestId | None, error: RpcError) -> str:
    """An error answer, as one line."""
    fields = {"code": error.code, "message": error.message}
    return _encode({"jsonrpc": "2.0", "id": id, "error": fields})


def encode_notification(method: str, params: Object) -> str:
    """A notification, as one line."""
    return _encode({"jsonrpc": "2.0", "method": method, "params": params})


def _encode(message: Object) -> str:
    # A lone surrogate in stored text cannot be encoded and would break the whole stream.
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def choose_version(requested: object) -> str:
    """The protocol version to speak: the one requested if we know it, else our newest."""
    if isinstance(requested, str) and requested in PROTOCOL_VERSIONS:
        return requested
    return PROTOCOL_VERSIONS[0]
