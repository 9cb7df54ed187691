"""The HTTP application: all routes behind the guard, and what they share."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from typing import Any

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from fastapi.routing import APIRoute
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from holdfast.errors import HoldfastError
from holdfast.interfaces.http import pages, research
from holdfast.interfaces.http.auth import login
from holdfast.interfaces.http.auth.browser_token import COOKIE, OwnerKeys
from holdfast.interfaces.http.auth.guard import Guard, GuardRules
from holdfast.interfaces.http.auth.permissions import check_route
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.logs import Log
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.refusals import describe_error, refuse
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.http.core.streaming import EventStreams
from holdfast.interfaces.http.graphql import graphql_endpoint
from holdfast.interfaces.http.mcp import mcp_endpoint
from holdfast.interfaces.http.rest import SCHEMAS, rest_router
from holdfast.interfaces.ui.render import STATIC, Pages
from holdfast.version import __version__

# A memory that takes longer to answer counts as not ready.
_READINESS_TIMEOUT_S = 5.0
_API_DESCRIPTION = """\
The commands of Holdfast, for programs. Send the token of `holdfast browse`, or a key of `holdfast
serve`, as `Authorization: Bearer …`. The cookie of a browser that signed in allows to read. Lists
have pages (`limit`, `cursor`). Every error has the form `{"error": {"code", "message",
"remedy"}}`."""
_SECURITY_SCHEMES = {
    "token": {"type": "http", "scheme": "bearer"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": COOKIE},
}


class WebApp:
    """The application of one server, and the parts that its routes use. `guard` is the ASGI app."""

    def __init__(
        self,
        pool: MemoryPool,
        keys: OwnerKeys | TeamKeys,
        rules: GuardRules,
        log: Log | None = None,
    ) -> None:
        self.pool = pool
        self.keys = keys
        self.pages = Pages()
        self.briefs: dict[str, tuple[object, Any]] = {}
        self.streams = EventStreams(keys.is_still_valid)
        self.research_runs = ResearchRuns(pool)
        self.mcp_sessions = mcp_endpoint.McpSessions()
        self._is_stopping = False
        self.guard = Guard(self._app(), keys, rules, self._problem, log)

    def stop(self) -> None:
        """End all streams, and be not ready any more."""
        self._is_stopping = True
        self.streams.close()

    def _app(self) -> FastAPI:
        app = FastAPI(
            docs_url=None,
            redoc_url=None,
            openapi_url="/api/v1/openapi.json",
            dependencies=[Depends(check_route)],
        )
        app.openapi = openapi
        app.state.web = self
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
        app.router.routes += prepared_routes(for_team=isinstance(self.keys, TeamKeys))
        for kind in (HoldfastError, HTTPException, RequestValidationError, Exception):
            app.add_exception_handler(kind, self._error_response)
        return app

    async def _error_response(self, request: Request, error: Exception) -> Response:
        """An error as a page or as JSON. For a method that is not allowed, the framework adds those
        that are."""
        headers: dict[str, str] = dict(getattr(error, "headers", None) or {})
        return refuse(describe_error(error), request.scope, self.pages, headers=headers)

    async def _problem(self) -> str:
        """Why the server cannot answer; "" if it can."""
        if self._is_stopping:
            return "the server is stopping"
        try:
            reading = self.pool.read_as_owner(lambda memory: memory.reader.sessions.last_end())
            await asyncio.wait_for(reading, _READINESS_TIMEOUT_S)
        except TimeoutError:
            return "the memory does not answer"
        except HoldfastError:
            return "the memory cannot be used"
        return ""


@cache
def prepared_routes(*, for_team: bool) -> Sequence[BaseRoute]:
    """The routes that are the same for every server of a kind, which take long to make. They are
    tried in this order: those first that programs ask for most often."""
    return routes_of(
        login.team_router if for_team else login.owner_router,
        mcp_endpoint.router,
        *_described_routers(),
        *pages.ROUTERS,
    )


def routes_of(*routers: APIRouter) -> Sequence[BaseRoute]:
    """The routes of some routers, all of which check permissions."""
    routes = [route for router in routers for route in router.routes]
    for route in routes:
        assert isinstance(route, APIRoute)
        if all(one.dependency is not check_route for one in route.dependencies):
            raise TypeError(f"The route {route.path} checks no permission. Use CheckedRouter.")
    return tuple(routes)


def _described_routers() -> tuple[APIRouter, ...]:
    return graphql_endpoint.router, research.router, rest_router()


@cache
def openapi() -> dict[str, Any]:
    """The description of the REST API, which is the same for every server."""
    made = get_openapi(
        title="Holdfast",
        version=__version__,
        description=_API_DESCRIPTION,
        routes=[route for router in _described_routers() for route in router.routes],
    )
    made.setdefault("components", {}).setdefault("schemas", {}).update(SCHEMAS)
    made["components"]["securitySchemes"] = _SECURITY_SCHEMES
    made["security"] = [{"token": []}, {"cookie": []}]
    for path in made["paths"].values():
        for method, operation in path.items():
            if method != "get":
                operation["security"] = [{"token": []}]
    return made
