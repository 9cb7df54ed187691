"""The server, put together: guard, pages, programs' ways in, and errors in one form."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import NamedTuple

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import holdfast
from holdfast.app.curation.old_rule_proposals import ChangedError
from holdfast.errors import (
    BusyError,
    CancelledError,
    ForbiddenError,
    HoldfastError,
    InputError,
    ModelBusyError,
    ModelError,
    NotFoundError,
    SpendError,
    StoreBusyError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreUnavailableError,
)
from holdfast.interfaces.http import api, pages
from holdfast.interfaces.http.api.handling import ForeignError, NotJsonError
from holdfast.interfaces.http.auth import login
from holdfast.interfaces.http.auth.browser_token import COOKIE, Keys
from holdfast.interfaces.http.auth.guard import Guard, Rules, named_request
from holdfast.interfaces.http.auth.permissions import NOT_PERMITTED, check_way
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.live import Live
from holdfast.interfaces.http.core.memory_pool import Desk
from holdfast.interfaces.http.core.metrics import TYPE, Metrics
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import Investigations
from holdfast.interfaces.http.core.streaming import Streams
from holdfast.interfaces.http.graph import graphql_endpoint
from holdfast.interfaces.http.mcp import mcp_endpoint
from holdfast.interfaces.http.mcp.agent_sessions import SessionTable
from holdfast.interfaces.ui.render import STATIC, Pages

_ABOUT = """\
Everything that the command line can do, for programs: with the token of the file that
`holdfast browse` names (`Authorization: Bearer …`), or with a visitor's cookie and the key of its
forms (`X-Form-Key`) for whatever changes something. Lists come in pages (`limit`, `cursor`); every
error has the form `{"error": {"code", "message", "remedy"}}`."""


class Site:
    """What runs behind one address."""

    def __init__(self, desk: Desk, keys: Keys | TeamKeys, rules: Rules) -> None:
        self.desk = desk
        self.keys = keys
        self.pages = Pages()
        self.streams = Streams(keys.admits)
        self._investigations: dict[str, Investigations] = {}
        self.live = Live(desk)
        self.agents = SessionTable()
        self.metrics = Metrics()
        self.guard = Guard(self._app(), keys, rules)

    @property
    def investigations(self) -> Investigations:
        """Those of whoever asks: who sees only some banks has none but their own."""
        who = principal()
        name = who.key if who.banks is not None else ""
        if name not in self._investigations:
            self._investigations[name] = Investigations(self.desk)
        return self._investigations[name]

    def _app(self) -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
            yield
            if isinstance(self.keys, TeamKeys):
                await self.keys.note()  # the desk is left to whoever gave it
            else:
                self.desk.close()

        app = FastAPI(
            title="Holdfast",
            version=holdfast.__version__,
            description=_ABOUT,
            docs_url=None,
            redoc_url=None,
            openapi_url="/api/v1/openapi.json",
            lifespan=lifespan,
            dependencies=[Depends(check_way)],
        )
        app.state.site = self
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
        if isinstance(self.keys, Keys):
            app.add_api_route("/enter", self._enter, include_in_schema=False)
        else:
            app.include_router(login.router, include_in_schema=False)
            app.add_api_route("/metrics", self._metrics, include_in_schema=False)
        app.add_api_route("/health", _health, include_in_schema=False)
        for router in pages.ROUTERS:
            app.include_router(router, include_in_schema=False)
        app.include_router(api.make_router())
        app.include_router(graphql_endpoint.router)
        app.include_router(mcp_endpoint.router, include_in_schema=False)
        for kind in (HoldfastError, HTTPException, RequestValidationError, Exception):
            app.add_exception_handler(kind, self._failed)
        _lay_ways(app)
        return app

    async def _enter(self, key: str = "", to: str = "/") -> Response:
        """Let a browser in by a link that works once."""
        assert isinstance(self.keys, Keys)
        cookie = self.keys.enter(key)
        if cookie is None:
            told = "This link was used, or is too old. Run `holdfast browse` for a new one."
            return Response(told, 403, media_type="text/plain; charset=utf-8")
        answer = RedirectResponse(login.inside(to), 303)
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def _metrics(self) -> Response:
        """What is counted, for Prometheus."""
        gauges = {
            "holdfast_queued": (
                "Questions that were handed in and are not done.",
                self.desk.queued,
            ),
            "holdfast_listeners": ("Streams that somebody listens to.", self.streams.listeners),
        }
        self.metrics.store_errors = self.desk.failed
        return Response(self.metrics.text(gauges), media_type=TYPE)

    async def _failed(self, request: Request, error: Exception) -> Response:
        """An error as people or programs want to read it."""
        fault = _fault(error)
        if isinstance(error, StoreError) and isinstance(self.keys, TeamKeys):
            # Where the memory lies and what it complains of is for whoever runs the server.
            fault = fault._replace(message=_AWAY, remedy="Ask again in a moment.")
        told = {"code": fault.code, "message": fault.message, "remedy": fault.remedy}
        told |= named_request(request.scope)
        # Of a method that is not allowed: those that are.
        aside: dict[str, str] = dict(getattr(error, "headers", None) or {})
        if fault.status == 503:
            aside["retry-after"] = "2"
        if "text/html" in request.headers.get("accept", ""):
            if isinstance(error, RequestValidationError):
                remedy = "Correct the address, or choose a place above."
                fault = fault._replace(message=_in_words(error), remedy=remedy)
            page = self.pages.render(
                "error.html", status=fault.status, message=fault.message, remedy=fault.remedy
            )
            return HTMLResponse(page, fault.status, aside)
        return JSONResponse({"error": told}, fault.status, aside)


_AWAY = "The memory cannot be used right now."
# What the framework says by itself, in our words.
_PLAIN = {
    (404, "Not Found"): ("There is nothing at this address.", "Search, or choose a place above."),
    (405, "Method Not Allowed"): ("This address is not asked in this way.", ""),
}


class _Fault(NamedTuple):
    status: int
    code: str
    message: str
    remedy: str = ""


# The first that fits.
_KINDS: tuple[tuple[type[HoldfastError], int, str], ...] = (
    (NotFoundError, 404, "not_found"),
    (ForeignError, 403, "wrong_origin"),
    (NotJsonError, 415, "not_json"),
    (ForbiddenError, 403, NOT_PERMITTED),
    (ChangedError, 409, "changed"),
    (InputError, 400, "bad_input"),
    (CancelledError, 409, "cancelled"),
    (BusyError, 503, "busy"),
    (StoreUnavailableError, 503, "unavailable"),
    (StoreBusyError, 503, "busy"),
    (StoreFullError, 507, "full"),
    (ModelBusyError, 503, "busy"),
    (SpendError, 503, "cap_reached"),
    (ModelError, 502, "model_failed"),
    (StoreCorruptError, 500, "failed"),
    (StoreError, 503, "unavailable"),
    (HoldfastError, 500, "failed"),
)
_CODES = {404: "not_found", 405: "not_allowed", 400: "bad_input"}


def _lay_ways(app: FastAPI) -> None:
    """Ways are made ready when somebody looks for one, all of them at once, while everybody waits:
    so they are looked at before anybody comes."""
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "/none", "headers": []})


def _fault(error: Exception) -> _Fault:
    if isinstance(error, HoldfastError):
        status, code = next((s, c) for kind, s, c in _KINDS if isinstance(error, kind))
        return _Fault(status, code, error.message, error.remedy)
    if isinstance(error, RequestValidationError):
        return _Fault(422, "bad_form", _misfits(error), "See /api/v1/openapi.json.")
    if isinstance(error, HTTPException):
        code = _CODES.get(error.status_code, "refused" if error.status_code < 500 else "failed")
        plain = _PLAIN.get((error.status_code, error.detail), (error.detail, ""))
        return _Fault(error.status_code, code, *plain)
    return _Fault(500, "failed", "Something went wrong.", "`holdfast doctor` may know what.")


def _misfits(error: RequestValidationError) -> str:
    """What is wrong, and where; not what was sent."""
    told = [
        f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}" for one in error.errors()[:5]
    ]
    return "; ".join(told)[:1000]


def _in_words(error: RequestValidationError) -> str:
    """The same for people."""
    told = [
        f"{one['loc'][-1]} {str(one['msg']).removeprefix('Input ')}" for one in error.errors()[:5]
    ]
    return f"{'; '.join(told)[:1000]}."


async def _health() -> dict[str, str]:
    """That there is somebody."""
    return {"status": "ok"}
