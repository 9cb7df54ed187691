"""JSON-RPC messages of the Model Context Protocol: reading and writing them, and the calls of a
client that are under way.

Standard library only. Reading never raises: input that is not a valid message becomes a `Message`
that carries the error its sender is owed.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TextIO, cast

from holdfast.errors import HoldfastError

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
BUSY = -32000
REQUEST_CANCELLED = -32800
# The longest message that is held in memory. A client that sends more gets a parse error, so that
# it cannot make the server use any amount of memory.
MAX_LINE_CHARS = 8 * 1024 * 1024

# The name of a client is kept with what it writes; a longer one is cut to this.
_MAX_CLIENT_NAME_CHARS = 60

# The newest first. Nothing that we use differs between them.
PROTOCOL_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")

# The part of a tool's result for programs.
DATA = "structuredContent"
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


def tool_result(text: str, data: Object) -> Object:
    """The result of a tool, as text and as data."""
    return {"content": [{"type": "text", "text": text}], DATA: data}


def tool_error(error: HoldfastError) -> Object:
    """An error as the result of a tool, which the model reads."""
    return {"content": [{"type": "text", "text": error.full_text}], "isError": True}


def client_name(params: Object) -> str:
    """What a client calls itself in the parameters of `initialize`; "" if it does not say."""
    client: object = params.get("clientInfo")
    name: object = cast(Object, client).get("name") if isinstance(client, dict) else ""
    return name[:_MAX_CLIENT_NAME_CHARS] if isinstance(name, str) else ""


def progress_token(params: Object) -> str | int | None:
    """The token that progress notifications of a call must carry; None if none are wanted."""
    meta: object = params.get("_meta")
    token = cast(Object, meta).get("progressToken") if isinstance(meta, dict) else None
    return token if isinstance(token, str | int) else None


def cancelled_request(message: Message) -> RequestId | None:
    """The id of the request that a notification cancels; None for any other message."""
    if message.id is not None or message.method != "notifications/cancelled":
        return None
    id: object = message.params.get("requestId")
    return id if isinstance(id, str | int) else None


def progress_sender(params: Object, send: Callable[[str], object]) -> Callable[[float, str], None]:
    """A function that sends progress notifications, if the caller asked for them."""
    token = progress_token(params)

    def send_progress(done: float, text: str) -> None:
        if token is not None:
            fields = {"progressToken": token, "progress": done, "message": text}
            send(encode_notification("notifications/progress", fields))

    return send_progress


class CallContext:
    """A call in progress: reports progress to the client, and is cancelled by it.

    `client` is the name of the calling program.
    """

    def __init__(
        self,
        send_progress: Callable[[float, str], None] = lambda done, message: None,
        client: str = "",
    ) -> None:
        self._send_progress = send_progress
        self._steps_done = 0.0
        self._cancel_handlers: list[Callable[[], object]] = []
        self.client = client
        self.cancelled = threading.Event()

    def on_cancel(self, handler: Callable[[], object]) -> None:
        """Run `handler` when the call is cancelled, or now if it was already."""
        self._cancel_handlers.append(handler)
        if self.cancelled.is_set():
            handler()

    def cancel(self) -> None:
        """Cancel the call: nobody waits for its result any more."""
        self.cancelled.set()
        for handler in list(self._cancel_handlers):
            with suppress(HoldfastError, OSError):
                handler()

    def progress(self, message: str) -> None:
        """Report what is being done now."""
        self._steps_done += 1
        if not self.cancelled.is_set():
            self._send_progress(self._steps_done, message)


class ActiveCalls:
    """The calls of one client that are waiting or running, by request id.

    `limit` bounds what one client can make the server keep. Of two calls with the same id only the
    second can be cancelled.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # By type and value, because in Python 1 == True.
        self._contexts: dict[tuple[str, RequestId], CallContext] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._contexts)

    def add(self, id: RequestId, context: CallContext) -> None:
        """Note a call; raises RpcError if there are too many."""
        with self._lock:
            if len(self._contexts) >= self._limit:
                raise RpcError(BUSY, f"{self._limit} requests wait already. Try again later.")
            self._contexts[_key(id)] = context

    def remove(self, id: RequestId) -> None:
        """Forget a call that ended."""
        with self._lock:
            self._contexts.pop(_key(id), None)

    @contextmanager
    def running(self, id: RequestId, context: CallContext) -> Generator[None]:
        """Note a call while the block runs; raises as `add` does."""
        self.add(id, context)
        try:
            yield
        finally:
            self.remove(id)

    def cancel(self, id: RequestId) -> None:
        """Cancel a call, if it is still active."""
        context = self._contexts.get(_key(id))
        if context is not None:
            context.cancel()


def _key(id: RequestId) -> tuple[str, RequestId]:
    return type(id).__name__, id
