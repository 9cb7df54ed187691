"""The HTTP application: all routes behind the guard, and one form for all errors."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, JSONResponse, Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from starlette.types import ASGIApp

from holdfast.app.curation.rule_proposals import FileChangedError
from holdfast.app.views.brief_view import BriefCache
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
from holdfast.interfaces.http import pages, research
from holdfast.interfaces.http.auth import login
from holdfast.interfaces.http.auth.browser_token import COOKIE, OwnerKeys
from holdfast.interfaces.http.auth.guard import Guard, GuardRules, Refusal, error_json
from holdfast.interfaces.http.auth.permissions import NOT_PERMITTED, check_route
from holdfast.interfaces.http.auth.refusal_page import refusal_page
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.head_requests import HeadRequests
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.metrics import CONTENT_TYPE, Metrics
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.http.core.streaming import EventStreams
from holdfast.interfaces.http.graphql import graphql_endpoint
from holdfast.interfaces.http.mcp import mcp_endpoint
from holdfast.interfaces.http.rest import (
    KEY_HEADER,
    SCHEMAS,
    CrossSiteError,
    NotJsonError,
    rest_router,
)
from holdfast.interfaces.ui.render import STATIC, Pages
from holdfast.operations.binding import ArgumentError
from holdfast.version import __version__

_API_DESCRIPTION = """\
The commands of Holdfast, for programs. Send the token of `holdfast browse`, or a key of `holdfast
serve`, as `Authorization: Bearer …`. With a cookie, changes also need the form key (`X-Form-Key`).
Lists have pages (`limit`, `cursor`). Every error has the form `{"error": {"code", "message",
"remedy"}}`."""

_SECURITY_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token in the file that `holdfast browse` prints, or a key of "
        "`holdfast serve`.",
    },
    "cookie": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "The cookie of a browser that signed in; for pages of this server.",
    },
    "formKey": {
        "type": "apiKey",
        "in": "header",
        "name": KEY_HEADER,
        "description": "The form key of a page; required for changes with a cookie.",
    },
}


class WebApp:
    """The application of one server, and the parts that its routes use. `guard` is the ASGI app."""

    def __init__(self, pool: MemoryPool, keys: OwnerKeys | TeamKeys, rules: GuardRules) -> None:
        self.pool = pool
        self.keys = keys
        self.pages = Pages()
        self.briefs = BriefCache()
        self.streams = EventStreams(keys.is_still_valid)
        self._research_runs: dict[str, ResearchRuns] = {}
        self.mcp_sessions = mcp_endpoint.McpSessions()
        self.metrics = Metrics()
        # Takes the principal as it was set before.
        self.unguarded: ASGIApp = HeadRequests(self._app())
        self.guard = Guard(self.unguarded, keys, rules)

    @property
    def research_runs(self) -> ResearchRuns:
        """The research sessions of the principal; a key for some banks sees only its own."""
        who = principal()
        name = who.key if who.banks is not None else ""
        if name not in self._research_runs:
            self._research_runs[name] = ResearchRuns(self.pool)
        return self._research_runs[name]

    def _app(self) -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
            yield
            if isinstance(self.keys, TeamKeys):
                await self.keys.save_last_used()  # whoever made the pool closes it
            else:
                self.pool.close()

        app = FastAPI(
            docs_url=None,
            redoc_url=None,
            openapi_url="/api/v1/openapi.json",
            lifespan=lifespan,
            dependencies=[Depends(check_route)],
        )
        app.openapi = openapi
        app.state.web = self
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
        if isinstance(self.keys, OwnerKeys):
            app.add_api_route("/enter", self._redeem_link, include_in_schema=False)
        else:
            app.add_api_route("/metrics", self._metrics, include_in_schema=False)
        app.router.routes += prepared_routes(for_team=isinstance(self.keys, TeamKeys))
        for kind in (HoldfastError, HTTPException, RequestValidationError, Exception):
            app.add_exception_handler(kind, self._error_response)
        return app

    async def _redeem_link(self, key: str = "", to: str = "/") -> Response:
        """Give a browser a cookie for a link that works once."""
        assert isinstance(self.keys, OwnerKeys)
        cookie = self.keys.enter(key)
        if cookie is None:
            return refusal_page(
                403, "This link was used, or is too old.", "Run `holdfast browse` for a new one."
            )
        return login.enter(to, cookie)

    async def _metrics(self) -> Response:
        """The metrics, for Prometheus."""
        gauges = {
            "holdfast_search_processes": self.pool.search_processes,
            "holdfast_queued": self.pool.queued,
            "holdfast_listeners": self.streams.listeners,
        }
        text = self.metrics.text(self.pool.store_failures, gauges)
        return Response(text, media_type=CONTENT_TYPE)

    async def _error_response(self, request: Request, error: Exception) -> Response:
        """An error as a page or as JSON."""
        answer = _describe_error(error)
        if isinstance(error, StoreError) and isinstance(self.keys, TeamKeys):
            # Details of the store are only for whoever runs the server.
            is_full = isinstance(error, StoreFullError)
            texts = _DISK_FULL if is_full else (_STORE_UNAVAILABLE, "Try again in a moment.")
            answer = answer._replace(message=texts[0], remedy=texts[1])
        # For a method that is not allowed, the framework adds those that are.
        headers: dict[str, str] = dict(getattr(error, "headers", None) or {})
        if answer.status == 503:
            headers["retry-after"] = "2"
        if "text/html" in request.headers.get("accept", ""):
            if isinstance(error, RequestValidationError):
                message = f"{_validation_errors(error, in_words=True)}."
                remedy = "Correct the address, or choose a place above."
                answer = answer._replace(message=message, remedy=remedy)
            page = self.pages.render(
                "error.html", status=answer.status, message=answer.message, remedy=answer.remedy
            )
            return HTMLResponse(page, answer.status, headers)
        body = error_json(request.scope, answer.code, answer.message, answer.remedy)
        return JSONResponse(body, answer.status, headers)


# Of a request with wrong parameters: enough to correct it, bounded because names can be long.
_MAX_PROBLEMS = 5
_MAX_PROBLEM_CHARS = 1000
_STORE_UNAVAILABLE = "The memory cannot be used right now."
_DISK_FULL = (
    "Disk full: the memory cannot be written to.",
    "Nothing was written. The operator must free disk space on the server.",
)
# Our texts for errors that the framework raises.
_FRAMEWORK_TEXTS = {
    (404, "Not Found"): ("There is nothing at this address.", "Search, or choose a place above."),
    (405, "Method Not Allowed"): ("This address does not accept this method.", ""),
}


# Status and code of an error; the first class that matches counts.
_ERROR_KINDS: tuple[tuple[type[HoldfastError], int, str], ...] = (
    (NotFoundError, 404, "not_found"),
    (CrossSiteError, 403, "wrong_origin"),
    (NotJsonError, 415, "not_json"),
    (ForbiddenError, 403, NOT_PERMITTED),
    (FileChangedError, 409, "changed"),
    (ArgumentError, 422, "bad_form"),
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
_STATUS_CODES = {404: "not_found", 405: "not_allowed", 400: "bad_input"}


@cache
def prepared_routes(*, for_team: bool) -> Sequence[BaseRoute]:
    """The routes that are the same for every server of a kind."""
    # A probe may put anything into its address.
    own = APIRouter(dependencies=[Depends(check_route)])
    own.add_api_route("/health", _health)
    # Routes are tried in this order, which takes half a millisecond for all of them: those first
    # that programs ask for most often.
    routers = (
        *((login.router,) if for_team else ()),
        own,
        mcp_endpoint.router,
        graphql_endpoint.router,
        research.router,
        rest_router(),
        *pages.ROUTERS,
    )
    return routes_of(*routers)


def routes_of(*routers: APIRouter) -> Sequence[BaseRoute]:
    """The routes of some routers, all of which check permissions."""
    routes = [route for router in routers for route in router.routes]
    for route in routes:
        assert isinstance(route, APIRoute)
        if all(one.dependency is not check_route for one in route.dependencies):
            raise TypeError(f"The route {route.path} checks no permission. Use CheckedRouter.")
    return tuple(routes)


@cache
def openapi() -> dict[str, Any]:
    """The description of the REST API, which is the same for every server."""
    made = get_openapi(
        title="Holdfast",
        version=__version__,
        description=_API_DESCRIPTION,
        routes=[
            route
            for router in (graphql_endpoint.router, research.router, rest_router())
            for route in router.routes
        ],
    )
    made.setdefault("components", {}).setdefault("schemas", {}).update(SCHEMAS)
    made["components"]["securitySchemes"] = _SECURITY_SCHEMES
    made["security"] = [{"token": []}, {"cookie": []}]
    for path in made["paths"].values():
        for method, operation in path.items():
            if method != "get":
                operation["security"] = [{"token": []}, {"cookie": [], "formKey": []}]
    return made


def _describe_error(error: Exception) -> Refusal:
    if isinstance(error, HoldfastError):
        status, code = next((s, c) for kind, s, c in _ERROR_KINDS if isinstance(error, kind))
        return Refusal(status, code, error.message, error.remedy)
    if isinstance(error, RequestValidationError):
        return Refusal(422, "bad_form", _validation_errors(error), "See /api/v1/openapi.json.")
    if isinstance(error, HTTPException):
        code = _STATUS_CODES.get(
            error.status_code, "refused" if error.status_code < 500 else "failed"
        )
        plain = _FRAMEWORK_TEXTS.get((error.status_code, error.detail), (error.detail, ""))
        return Refusal(error.status_code, code, *plain)
    return Refusal(500, "failed", "Something went wrong.", "Run `holdfast doctor`.")


def _validation_errors(error: RequestValidationError, in_words: bool = False) -> str:
    """Which parameters are wrong and why, without the values that were sent; `in_words` for a
    page."""
    problems: list[str] = []
    for one in error.errors()[:_MAX_PROBLEMS]:
        said = str(one["msg"])
        where = one["loc"][-1] if in_words else f"{'.'.join(map(str, one['loc']))}:"
        problems.append(f"{where} {said.removeprefix('Input ') if in_words else said}")
    return "; ".join(problems)[:_MAX_PROBLEM_CHARS]


async def _health() -> dict[str, str]:
    """That the server runs."""
    return {"status": "ok"}
