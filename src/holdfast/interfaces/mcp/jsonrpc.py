"""JSON-RPC as the Model Context Protocol speaks it: one message a line, on the standard library.

Reading a message never fails: what is not one becomes the error that its sender is owed.
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
# A line that is longer is not kept, whoever sends it.
MAX_LINE_CHARS = 8 * 1024 * 1024

# The newest first. Nothing that we use differs between them.
PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

Object = dict[str, Any]


class RpcError(Exception):
    """A request that cannot be answered, and why."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class Message(NamedTuple):
    """A request, or a notification where it has no `id`. With an `error` it is none."""

    method: str
    params: Object
    id: str | int | None = None
    error: RpcError | None = None


def read_lines(stream: TextIO) -> Iterator[str]:
    """The lines of a stream; of one that is too long only a start, which is no message."""
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
        told: Any = json.loads(line)
    except (ValueError, RecursionError):
        return [Message("", {}, error=RpcError(PARSE_ERROR, "This is not JSON, or too long."))]
    if isinstance(told, list) and told:
        return [_read(item) for item in cast(list[Any], told)]
    return [_read(told)]


def _read(told: Any) -> Message:
    if not isinstance(told, dict):
        return Message("", {}, error=RpcError(INVALID_REQUEST, "A message must be an object."))
    message = cast(Object, told)
    id, method, params = message.get("id"), message.get("method"), message.get("params", {})
    if not isinstance(id, str | int | None):
        return Message("", {}, error=RpcError(INVALID_REQUEST, "An id is a string or a number."))
    if not isinstance(method, str):
        if "result" in message or "error" in message:
            # An answer to a question we never asked.
            return Message("", {})
        return Message("", {}, id, RpcError(INVALID_REQUEST, "A message must have a method."))
    if not isinstance(params, dict):
        return Message(method, {}, id, RpcError(INVALID_PARAMS, "Parameters must be an object."))
    return Message(method, cast(Object, params), id)


def encode_result(id: str | int | None, value: Object) -> str:
    """An answer, as one line."""
    return _line({"jsonrpc": "2.0", "id": id, "result": value})


def encode_error(id: str | int | None, error: RpcError) -> str:
    """A refusal, as one line."""
    told = {"code": error.code, "message": error.message}
    return _line({"jsonrpc": "2.0", "id": id, "error": told})


def encode_notification(method: str, params: Object) -> str:
    """A notification, as one line."""
    return _line({"jsonrpc": "2.0", "method": method, "params": params})


def _line(message: Object) -> str:
    # A lone surrogate in old text must not break the stream for all that comes after.
    return json.dumps(message, ensure_ascii=False).encode("utf-8", "replace").decode() + "\n"


def choose_version(asked: object) -> str:
    """The version to speak: the one asked for if we know it, else our newest."""
    return asked if isinstance(asked, str) and asked in PROTOCOL_VERSIONS else PROTOCOL_VERSIONS[0]
