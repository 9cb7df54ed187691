"""How a browser gets its cookie: by the link of `holdfast browse`, which works once, or at
`holdfast serve` by a form to which it sends a key."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.interfaces.http.auth.browser_token import COOKIE, OwnerKeys
from holdfast.interfaces.http.auth.guard import local_path
from holdfast.interfaces.http.auth.permissions import PermittedRouter
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.http.core.refusals import Refusal, refuse

owner_router, team_router = PermittedRouter(), PermittedRouter()
_MAX_KEY_CHARS = 200
_USED_LINK = Refusal(
    403, "used", "This link was used, or is too old.", "Run `holdfast browse` for a new one."
)


@owner_router.get("/enter")
async def redeem_link(request: Request, key: str = "", to: str = "/") -> Response:
    """Give a browser a cookie for a link that works once."""
    keys: OwnerKeys = request.app.state.web.keys
    cookie = keys.enter(key)
    return refuse(_USED_LINK, request.scope) if cookie is None else _enter(request, to, cookie)


@team_router.get("/login")
async def show_form(request: Request, to: str = "/") -> HTMLResponse:
    """The login form."""
    return _form(request, to)


@team_router.post("/login")
async def log_in(request: Request) -> Response:
    """Give a browser a cookie if its key is valid."""
    form = await request.form(max_files=0, max_fields=4)
    key, to = str(form.get("key", ""))[:_MAX_KEY_CHARS].strip(), str(form.get("to", "/"))
    keys: TeamKeys = request.app.state.web.keys
    cookie = keys.log_in(key)
    if cookie is None:
        return _form(request, to, "This key gives no access here.", 401)
    return _enter(request, to, cookie)


@team_router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session of a browser."""
    keys: TeamKeys = request.app.state.web.keys
    keys.log_out(str(request.scope.get("visitor") or ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def _enter(request: Request, to: str, cookie: str) -> Response:
    """Give a browser its cookie and redirect it to a page."""
    answer = RedirectResponse(local_path(to), 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/", secure=secure)
    return answer


def _form(request: Request, to: str, problem: str = "", status: int = 200) -> HTMLResponse:
    pages, to = request.app.state.web.pages, local_path(to)
    page = pages.render("login.html", title="Sign in", to=to, problem=problem, places=())
    return HTMLResponse(page, status)
