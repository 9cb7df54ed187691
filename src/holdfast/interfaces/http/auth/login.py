"""The login page of `holdfast serve`: a browser sends a key once and gets a cookie."""

from __future__ import annotations

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.interfaces.http.auth.browser_token import COOKIE
from holdfast.interfaces.http.auth.guard import local_path
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.ui.render import Pages

router = CheckedRouter()
_MAX_KEY_CHARS = 200


@router.get("/login")
async def show_form(request: Request, to: str = "/") -> HTMLResponse:
    """The login form."""
    return _form(request, to)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Give a browser a cookie if its key is valid."""
    form = await request.form(max_files=0, max_fields=4)
    key, to = str(form.get("key", ""))[:_MAX_KEY_CHARS].strip(), str(form.get("to", "/"))
    keys: TeamKeys = request.app.state.web.keys
    cookie = keys.log_in(key)
    if cookie is None:
        return _form(request, to, "This key gives no access here.", 401)
    return enter(to, cookie, secure=request.url.scheme == "https")


def enter(to: str, cookie: str, secure: bool = False) -> RedirectResponse:
    """Give a browser its cookie and redirect it to a page."""
    answer = RedirectResponse(local_path(to), 303)
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/", secure=secure)
    return answer


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """End the session of a browser."""
    keys: TeamKeys = request.app.state.web.keys
    keys.log_out(str(request.scope.get("visitor") or ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def _form(request: Request, to: str, problem: str = "", status: int = 200) -> HTMLResponse:
    pages: Pages = request.app.state.web.pages
    page = pages.render(
        "login.html", title="Sign in", to=local_path(to), problem=problem, places=()
    )
    return HTMLResponse(page, status)
