"""The server over standard input and output, and the threads that answer calls.

The engine is loaded for the first call: most sessions list the tools and call none, and would pay
for it with half a second of CPU and a hundred megabytes. Calls are answered by two threads in the
order in which they came, slow tools in one and everything else in the other; a ping is answered
meanwhile. Companions, such as the socket that hooks ask, are started in a thread at once.
When the input ends, the server waits a moment for running calls, closes the engines and the
companions, and ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import partial
from typing import Protocol

from holdfast.interfaces.mcp.protocol import (
    INTERNAL_ERROR,
    ActiveCalls,
    CallContext,
    Message,
    RequestId,
    RpcError,
    cancelled_request,
    client_name,
    encode_error,
    encode_result,
    progress_sender,
    read_messages,
)
from holdfast.interfaces.mcp.servers import Engine, ServerSpec, ToolCall

# How many calls of one client may wait or run: what a client can make us keep is bounded.
MAX_PENDING_CALLS = 1_000


# How long the end of the input may be delayed, in seconds: for running calls to be answered, and
# for calls that are then cancelled to end what they began. The host waits for the process.
_ANSWERS_S, _CANCELLED_S = 5.0, 1.5

Send = Callable[[str], object]


class Companion(Protocol):
    """Something that runs in a thread beside the server, for as long as the server does."""

    def close(self) -> None:
        """Stop, and leave nothing behind."""
        ...


class EngineThread:
    """A thread with an engine of its own, which is loaded at the first call."""

    def __init__(self, make_engine: Callable[[], Engine]) -> None:
        self._make_engine = make_engine
        self.thread = ThreadPoolExecutor(1, "engine")
        self.engine: Engine | None = None
        self.is_closing = False

    def load(self) -> Engine:
        """The engine, loaded now if it is not yet."""
        if self.engine is None:
            self.engine = self._make_engine()
        return self.engine

    def close(self) -> Future[None]:
        """Drop the calls that have not begun, and close the engine after the one that has. The
        future is done when the engine is closed."""
        self.is_closing = True
        closed = self.thread.submit(self._close_engine)
        self.thread.shutdown(wait=False)
        return closed

    def _close_engine(self) -> None:
        if self.engine is not None:
            self.engine.close()


def _run(
    id: RequestId,
    engine: EngineThread,
    called: ToolCall,
    context: CallContext,
    send_answer: Send,
) -> None:
    if engine.is_closing:
        return
    answer = encode_result(id, called.run(engine.load(), context))
    if not context.cancelled.is_set():
        send_answer(answer)


class Server:
    """A server that reads messages line by line and writes answers with `write`. `client` is the
    name of one that has said `initialize` already."""

    def __init__(
        self,
        write: Send,
        spec: ServerSpec,
        companions: Callable[[], Sequence[Companion]] = tuple,
        client: str = "",
    ) -> None:
        self._write = write
        self._write_lock = threading.Lock()
        self._spec = spec
        self._make_companions = companions
        self._companions: list[Companion] = []
        self.fast = EngineThread(spec.make_engine)
        self.slow = EngineThread(spec.make_engine)
        self._calls = ActiveCalls(MAX_PENDING_CALLS)
        self._client = client
        self._pending: dict[Future[None], CallContext] = {}

    def serve(self, lines: Iterable[str]) -> None:
        """Answer until the input ends."""
        ready = self.fast.thread.submit(self._start_companions)
        try:
            for line in lines:
                for message in read_messages(line) if line.strip() else ():
                    self._handle(message)
            wait([ready, *self._pending], _ANSWERS_S)
        finally:
            left = dict(self._pending)
            for context in left.values():
                context.cancel()
            closed = [engine.close() for engine in (self.fast, self.slow)]
            wait([*left, *closed], _CANCELLED_S)
            for companion in self._companions:
                companion.close()

    def _start_companions(self) -> None:
        self._companions.extend(self._make_companions())

    def _handle(self, message: Message) -> None:
        """Answer a message, now or later from another thread. A cancelled call is not answered."""
        cancelled = cancelled_request(message)
        if cancelled is not None:
            self._calls.cancel(cancelled)
        if message.method == "initialize":
            self._client = client_name(message.params)
        answer = self._spec.answer(message)
        if answer:
            self._send(answer)
        elif answer is None and message.id is not None:
            try:
                called = self._spec.call(message.params)
                context = CallContext(progress_sender(message.params, self._send), self._client)
                self._calls.add(message.id, context)
            except RpcError as error:
                self._send(encode_error(message.id, error))
            else:
                self._submit(message.id, called, context)

    def _submit(self, id: RequestId, called: ToolCall, context: CallContext) -> None:
        engine = self.slow if called.tool.is_slow else self.fast
        future = engine.thread.submit(_run, id, engine, called, context, self._send)
        self._pending[future] = context
        future.add_done_callback(partial(self._finish, id))
        context.on_cancel(future.cancel)

    def _finish(self, id: RequestId, future: Future[None]) -> None:
        """Forget a call that ended. One that failed unexpectedly is still owed an answer."""
        self._calls.remove(id)
        self._pending.pop(future, None)
        fault = None if future.cancelled() else future.exception()
        if fault is not None:
            error = RpcError(INTERNAL_ERROR, f"A fault in Holdfast: {fault!r}")
            self._send(encode_error(id, error))

    def _send(self, line: str) -> None:
        # A client that is gone reads nothing; its input ends too, and with it the server.
        with self._write_lock, suppress(OSError, ValueError):
            self._write(line)
