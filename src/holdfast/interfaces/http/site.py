"""The server, put together: guard, pages, programs' ways in, and errors in one form."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

import holdfast
from holdfast.errors import BusyError, HoldfastError, InputError, NotFoundError, StoreBusyError
from holdfast.interfaces.http import pages
from holdfast.interfaces.http.desk import Desk
from holdfast.interfaces.http.guard import Guard
from holdfast.interfaces.http.keys import COOKIE, Keys
from holdfast.interfaces.ui.render import STATIC, Pages


class Site:
    """What runs behind one address."""

    def __init__(self, desk: Desk, keys: Keys, hosts: frozenset[str]) -> None:
        self.desk = desk
        self.keys = keys
        self.pages = Pages()
        self.guard = Guard(self._app(), keys, hosts)

    def _app(self) -> FastAPI:
        @asynccontextmanager
        async def lifespan(_: FastAPI) -> AsyncGenerator[None]:
            yield
            self.desk.close()

        app = FastAPI(
            title="Holdfast",
            version=holdfast.__version__,
            docs_url=None,
            redoc_url=None,
            openapi_url="/api/v1/openapi.json",
            lifespan=lifespan,
        )
        app.state.site = self
        app.mount("/static", StaticFiles(directory=STATIC), name="static")
        app.add_api_route("/enter", self._enter, include_in_schema=False)
        app.add_api_route("/health", _health, include_in_schema=False)
        for router in pages.ROUTERS:
            app.include_router(router, include_in_schema=False)
        app.add_exception_handler(HoldfastError, self._failed)
        app.add_exception_handler(HTTPException, self._failed)
        return app

    async def _enter(self, key: str = "", to: str = "/") -> Response:
        """Let a browser in by a link that works once."""
        cookie = self.keys.enter(key)
        if cookie is None:
            told = "This link was used, or is too old. Run `holdfast browse` for a new one."
            return Response(told, 403, media_type="text/plain; charset=utf-8")
        inside = to if to.startswith("/") and not to.startswith(("//", "/\\")) else "/"
        answer = RedirectResponse(inside, 303)
        answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/")
        return answer

    async def _failed(self, request: Request, error: Exception) -> Response:
        """An error as people or programs want to read it."""
        status, message, remedy = _status(error), str(error), ""
        if isinstance(error, HoldfastError):
            message, remedy = error.message, error.remedy
        elif isinstance(error, HTTPException):
            message = error.detail
        if "text/html" in request.headers.get("accept", ""):
            page = self.pages.render("error.html", status=status, message=message, remedy=remedy)
            return HTMLResponse(page, status)
        told = {"code": _code(status), "message": message, "remedy": remedy}
        return JSONResponse({"error": told}, status)


def _status(error: Exception) -> int:
    if isinstance(error, HTTPException):
        return error.status_code
    kinds: tuple[tuple[type[Exception], int], ...] = (
        (NotFoundError, 404),
        (InputError, 400),
        (BusyError, 503),
        (StoreBusyError, 503),
    )
    return next((status for kind, status in kinds if isinstance(error, kind)), 500)


def _code(status: int) -> str:
    known = {400: "bad_input", 404: "not_found", 405: "not_allowed", 503: "busy"}
    return known.get(status, "failed" if status >= 500 else "refused")


async def _health() -> dict[str, str]:
    """That there is somebody."""
    return {"status": "ok"}
