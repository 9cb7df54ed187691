"""How a browser comes in to a server that several people share: by showing a key once."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.interfaces.http.auth.browser_token import COOKIE
from holdfast.interfaces.http.auth.team_keys import TeamKeys
from holdfast.interfaces.ui.render import Pages

router = APIRouter()
_LONGEST = 200


def inside(to: str) -> str:
    """Where to go on, if that is a page of ours; the start otherwise."""
    ours = to.startswith("/") and not to.startswith(("//", "/\\"))
    return to if ours and to.isprintable() else "/"


@router.get("/login")
async def ask(request: Request, to: str = "/") -> HTMLResponse:
    """The form."""
    return _form(request, to)


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Let a browser in whose key holds."""
    told = await request.form(max_files=0, max_fields=4)
    shown, to = str(told.get("key", ""))[:_LONGEST].strip(), str(told.get("to", "/"))
    keys: TeamKeys = request.app.state.site.keys
    cookie = keys.log_in(shown)
    if cookie is None:
        return _form(request, to, "This key opens nothing here.", 401)
    answer = RedirectResponse(inside(to), 303)
    secure = request.url.scheme == "https"
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", path="/", secure=secure)
    return answer


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """Let its cookie open nothing any more."""
    keys: TeamKeys = request.app.state.site.keys
    keys.log_out(str(request.scope.get("visitor") or ""))
    answer = RedirectResponse("/login", 303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


def _form(request: Request, to: str, problem: str = "", status: int = 200) -> HTMLResponse:
    pages: Pages = request.app.state.site.pages
    page = pages.render("login.html", title="Come in", to=inside(to), problem=problem, places=())
    return HTMLResponse(page, status)
