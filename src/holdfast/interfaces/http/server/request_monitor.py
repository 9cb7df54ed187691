"""The outermost layer of `holdfast serve`: request ids, a time limit, metrics and a log line.

It also answers the health checks, which need no key: whether the server runs (`/health`) and
whether it can use the memory (`/ready`).
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import time
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.errors import HoldfastError
from holdfast.interfaces.http.auth.guard import error_json
from holdfast.interfaces.http.auth.permissions import route_of
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.metrics import Metrics
from holdfast.interfaces.http.server.logs import Log, traceback_location
from holdfast.principal import Principal
from holdfast.regex import regex

REQUEST_ID = "x-request-id"
_VALID_REQUEST_ID = regex(r"[A-Za-z0-9._-]{1,64}")
# A memory that takes longer to answer counts as not ready.
_READINESS_TIMEOUT_S = 5.0
_NO_ROUTE = "none"


class MonitorOptions(NamedTuple):
    """Where requests are counted and logged, how long one may take until its response begins, and
    whether its path and query are logged."""

    metrics: Metrics
    log: Log
    request_s: float = 120.0
    with_queries: bool = False


class RequestMonitor:
    """ASGI middleware around the guard."""

    def __init__(self, app: ASGIApp, options: MonitorOptions, pool: MemoryPool) -> None:
        self._app = app
        self._options = options
        self._pool = pool
        self.is_stopping = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = await self._own_response(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        state = _ResponseState(scope, send)
        self._options.metrics.in_flight += 1
        try:
            await self._run_app(scope, receive, state)
        finally:
            self._options.metrics.in_flight -= 1
            self._log_request(scope, state)

    async def _own_response(self, scope: Scope) -> Response | None:
        """The response to a health check; None for any other request."""
        if scope["method"] not in ("GET", "HEAD") or scope["path"] not in ("/health", "/ready"):
            return None
        if scope["path"] == "/health":
            return JSONResponse({"status": "ok"})
        problem = "the server is stopping" if self.is_stopping else await self._problem()
        if problem:
            body = {"status": "not ready", "problem": problem}
            return JSONResponse(body, 503, {"retry-after": "2"})
        return JSONResponse({"status": "ready"})

    async def _problem(self) -> str:
        """Why the server cannot answer; "" if it can."""
        try:
            reading = self._pool.read_as_owner(lambda memory: memory.reader.sessions.last_end())
            await asyncio.wait_for(reading, _READINESS_TIMEOUT_S)
        except TimeoutError:
            return "the memory does not answer"
        except HoldfastError:
            return "the memory cannot be used"
        return ""

    async def _run_app(self, scope: Scope, receive: Receive, state: _ResponseState) -> None:
        try:
            async with asyncio.timeout(self._options.request_s) as timeout:
                state.timeout = timeout
                await self._app(scope, receive, state.send)
        except TimeoutError:
            if not state.status:
                remedy = "Ask for less, or ask again later."
                error = error_json(scope, "too_slow", "This took too long.", remedy)
                answer = JSONResponse(error, 504, {"retry-after": "5"})
                await answer(scope, receive, state.send)
        finally:
            # An inner layer has sent the error response; here it is only logged.
            error = sys.exception()
            if error is not None:
                state.fault, state.place = type(error).__name__, traceback_location(error)

    def _log_request(self, scope: Scope, state: _ResponseState) -> None:
        took = time.perf_counter() - state.started
        route_key = route_of(scope) or f"{scope['method']} {_NO_ROUTE}"
        self._options.metrics.add(route_key, state.status, took)
        who: Principal | None = scope.get("principal")
        client = scope.get("client")
        method, _, route = route_key.partition(" ")
        queries = self._options.with_queries
        self._options.log.write(
            "request",
            request_id=state.id,
            method=method,
            route=route,
            status=state.status,
            ms=round(took * 1000, 1),
            key=who.key if who else "",
            name=who.name if who else "",
            client=client[0] if client else "",
            path=scope["path"] if queries else "",
            query=scope["query_string"].decode("latin-1") if queries else "",
            fault=state.fault,
            place=state.place,
        )


class _ResponseState:
    """The id of a request (the client's, or a new one), and what was sent so far."""

    def __init__(self, scope: Scope, send: Send) -> None:
        given = Headers(scope=scope).get(REQUEST_ID, "")
        self.id = given if _VALID_REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
        scope["request_id"] = self.id
        self.started = time.perf_counter()
        self.status = 0
        self.fault = self.place = ""
        self.timeout: asyncio.Timeout | None = None
        self._send = send

    async def send(self, message: Message) -> None:
        """Send a piece of the response. The time limit ends when it begins, for streams."""
        if message["type"] == "http.response.start":
            if self.timeout is not None and not self.timeout.expired():
                self.timeout.reschedule(None)
            self.status = message["status"]
            MutableHeaders(scope=message)[REQUEST_ID] = self.id
        await self._send(message)
