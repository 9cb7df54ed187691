"""The outermost layer of a server for a team: gives every request a name, an end and a line.

What is asked most often by those who look after servers is answered here, before anybody is asked
for a key: whether the server lives (`/health`) and whether it can answer (`/ready`).
"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
import time
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from holdfast.interfaces.http.auth.permissions import way_of
from holdfast.interfaces.http.core.metrics import Metrics
from holdfast.interfaces.http.server.logs import Log, place_of
from holdfast.principal import Principal

REQUEST_ID = "x-request-id"
_FIT = re.compile(r"[A-Za-z0-9._-]{1,64}")
_READY_S = 5.0
# Anybody may ask whether it can answer; the memory is looked at no more often than this.
_FRESH_S = 1.0
_UNMATCHED = "none"

# What is in the way of answering; "" for nothing.
Readiness = Callable[[], Awaitable[str]]


class Watching(NamedTuple):
    """Who is told what happens; how long a request may take before it is answered at all, and
    whether paths and questions are told of, too."""

    metrics: Metrics
    log: Log
    request_s: float = 120.0
    with_queries: bool = False


class Watch:
    """Stands before the guard."""

    def __init__(self, app: ASGIApp, watching: Watching, readiness: Readiness) -> None:
        self._app = app
        self._how = watching
        self._readiness = readiness
        self.ending = False
        self._problem, self._looked = "", -_FRESH_S
        self._looking = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = await self._own(scope)
        if answer is not None:
            await answer(scope, receive, send)
            return
        told = _Told(scope, send)
        self._how.metrics.in_flight += 1
        try:
            await self._answered(scope, receive, told)
        finally:
            self._how.metrics.in_flight -= 1
            self._note(scope, told)

    async def _own(self, scope: Scope) -> Response | None:
        """The answer to what is asked without a key."""
        if scope["method"] not in ("GET", "HEAD") or scope["path"] not in ("/health", "/ready"):
            return None
        if scope["path"] == "/health":
            return JSONResponse({"status": "ok"})
        problem = await self._in_the_way()
        problem = "the server is ending" if self.ending else problem
        if problem:
            told = {"status": "not ready", "problem": problem}
            return JSONResponse(told, 503, {"retry-after": "2"})
        return JSONResponse({"status": "ready"})

    async def _in_the_way(self) -> str:
        """What is in the way of answering, as it was found within the last second."""
        async with self._looking:
            if time.monotonic() - self._looked >= _FRESH_S:
                try:
                    self._problem = await asyncio.wait_for(self._readiness(), _READY_S)
                except TimeoutError:
                    self._problem = "the memory does not answer"
                self._looked = time.monotonic()
            return self._problem

    async def _answered(self, scope: Scope, receive: Receive, told: _Told) -> None:
        try:
            async with asyncio.timeout(self._how.request_s) as end:
                told.end = end
                await self._app(scope, receive, told.send)
        except TimeoutError:
            if not told.status:
                error = {
                    "code": "too_slow",
                    "message": "This took too long.",
                    "remedy": "Ask for less, or ask again later.",
                    "request_id": told.id,
                }
                answer = JSONResponse({"error": error}, 504, {"retry-after": "5"})
                await answer(scope, receive, told.send)
        finally:
            # What failed was answered further in; here it is only written down.
            error = sys.exception()
            if error is not None:
                told.fault, told.place = type(error).__name__, place_of(error)

    def _note(self, scope: Scope, told: _Told) -> None:
        took = time.perf_counter() - told.begun
        way = way_of(scope) or f"{scope['method']} {_UNMATCHED}"
        if told.code:
            self._how.metrics.refused[told.code] += 1
        self._how.metrics.add(way, told.status, took)
        who: Principal | None = scope.get("principal")
        client = scope.get("client")
        method, _, route = way.partition(" ")
        queries = self._how.with_queries
        self._how.metrics.log_lost = self._how.log.lost
        self._how.log.write(
            "request",
            request_id=told.id,
            method=method,
            route=route,
            status=told.status,
            ms=round(took * 1000, 1),
            key=who.key if who else "",
            name=who.name if who else "",
            client=client[0] if client else "",
            path=scope["path"] if queries else "",
            query=scope["query_string"].decode("latin-1") if queries else "",
            fault=told.fault,
            place=told.place,
        )


class _Told:
    """What was answered so far, under the name that the client gave or we give."""

    def __init__(self, scope: Scope, send: Send) -> None:
        given = Headers(scope=scope).get(REQUEST_ID, "")
        self.id = given if _FIT.fullmatch(given) else secrets.token_hex(8)
        scope["request_id"] = self.id
        self.begun = time.perf_counter()
        self.status = 0
        self.code = ""
        self.fault = self.place = ""
        self.end: asyncio.Timeout | None = None
        self._send = send

    async def send(self, message: Message) -> None:
        """Hand on a piece of the answer. One that has begun may take its time: a stream does."""
        if message["type"] == "http.response.start":
            if self.end is not None and not self.end.expired():
                self.end.reschedule(None)
            self.status = message["status"]
            self.code = str(self.status) if self.status in (401, 403, 421, 429, 503, 504) else ""
            MutableHeaders(scope=message)[REQUEST_ID] = self.id
        await self._send(message)
