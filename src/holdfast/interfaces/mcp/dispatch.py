"""What each method of the protocol is answered with, whatever the transport.

Used by `server` (standard input and output) and `http/mcp/mcp_endpoint` (`holdfast serve`).
Standard library only.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager

from holdfast.errors import (
    BusyError,
    ForbiddenError,
    HoldfastError,
    InputError,
    ModelBusyError,
    NotFoundError,
    StoreBusyError,
)
from holdfast.interfaces.mcp.jsonrpc import (
    BUSY,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    Message,
    Object,
    RequestId,
    RpcError,
    encode_error,
    encode_notification,
    encode_result,
)
from holdfast.interfaces.mcp.server_spec import (
    RESOURCE_TEMPLATES,
    CallContext,
    Engine,
    ServerSpec,
    for_client,
    progress_token,
)


class EngineRequest:
    """A valid request that the engine must answer, and whether it changes the memory."""

    def __init__(
        self,
        run: Callable[[Engine, CallContext], Object],
        is_slow: bool = False,
        writes: bool = False,
    ) -> None:
        self.run = run
        self.is_slow = is_slow
        self.writes = writes


def answer_without_engine(spec: ServerSpec, message: Message) -> str | None:
    """The answer to a message that needs no engine: "" if none is owed, None if it needs one."""
    if message.error is not None:
        return encode_error(message.id, message.error) if message.needs_answer else ""
    if message.id is None:
        return ""
    result: dict[str, object]
    match message.method:
        case "initialize":
            result = spec.initialize_result(message.params)
        case "ping":
            result = {}
        case "tools/list":
            result = {"tools": spec.list_tools()}
        case "resources/list" if not spec.lists_records:
            result = {"resources": []}
        case "resources/templates/list":
            result = {"resourceTemplates": RESOURCE_TEMPLATES}
        case _:
            return None
    return encode_result(message.id, result)


def engine_request(spec: ServerSpec, message: Message) -> EngineRequest:
    """How the engine answers a request; raises RpcError if the request is not valid."""
    match message.method:
        case "tools/call":
            name, arguments = spec.check_call(message.params)
            return EngineRequest(
                lambda engine, context: for_client(
                    engine.call(name, arguments, context), context.client
                ),
                any(tool.is_slow for tool in spec.tools if tool.name == name),
                any(tool.writes for tool in spec.tools if tool.name == name),
            )
        case "resources/list":
            return EngineRequest(lambda engine, context: {"resources": engine.list_resources()})
        case "resources/read":
            uri: object = message.params.get("uri")
            if not isinstance(uri, str):
                raise RpcError(INVALID_PARAMS, "uri must be a string.")
            return EngineRequest(lambda engine, context: engine.read_resource(uri))
        case _:
            raise RpcError(METHOD_NOT_FOUND, f"There is no method {message.method[:100]!r}.")


def engine_error(error: HoldfastError) -> RpcError:
    """The error to answer with where the engine fails. It does so for resources only: a tool that
    fails has the error as its result."""
    match error:
        case NotFoundError():
            code = RESOURCE_NOT_FOUND
        case InputError() | ForbiddenError():
            code = INVALID_PARAMS
        case BusyError() | StoreBusyError() | ModelBusyError():
            code = BUSY
        case _:
            code = INTERNAL_ERROR
    return RpcError(code, error.full_text)


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
