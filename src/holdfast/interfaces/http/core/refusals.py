"""What a request is told that is not served: as JSON for programs, as a page for browsers.

Every error, of the guard, of a route or of a field of GraphQL, becomes a `Refusal` here and has the
same code everywhere. None tells more than a client may know.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from fastapi.exceptions import RequestValidationError
from markupsafe import Markup
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from holdfast.app.curation.rules import FileChangedError
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
from holdfast.interfaces.http.core.request_principal import is_key_holder
from holdfast.interfaces.ui.render import STATIC, Pages, templates
from holdfast.operations.binding import ArgumentError

# Of a request with wrong parameters: enough to correct it, bounded because names can be long.
_MAX_PROBLEMS, _MAX_PROBLEM_CHARS = 5, 1000


class CrossSiteError(InputError):
    """A change that did not come from one of our pages."""


class NotJsonError(InputError):
    """A body that is not JSON."""


class TooLargeError(InputError):
    """A body that is too large."""


class Refusal(NamedTuple):
    """Why a request is not served. After `retry_after_s` seconds the client may try again; 0 where
    waiting does not help."""

    status: int
    code: str
    message: str
    remedy: str = ""
    retry_after_s: int = 0


# Status and code of an error; the first class that matches counts.
_KINDS: tuple[tuple[type[HoldfastError], int, str], ...] = (
    (NotFoundError, 404, "not_found"),
    (CrossSiteError, 403, "wrong_origin"),
    (NotJsonError, 415, "not_json"),
    (TooLargeError, 413, "too_large"),
    (ForbiddenError, 403, "not_permitted"),
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
# Our texts for errors that the framework raises.
_FRAMEWORK_TEXTS = {
    (404, "Not Found"): ("There is nothing at this address.", "Search, or choose a place above."),
    (405, "Method Not Allowed"): ("This address does not accept this method.", ""),
}
# Details of the store are only for whoever runs the server.
_DISK_FULL = (
    "Disk full: the memory cannot be written to.",
    "Nothing was written. The operator must free disk space on the server.",
)
_STORE_UNAVAILABLE = ("The memory cannot be used right now.", "Try again in a moment.")


def describe_error(error: BaseException) -> Refusal:
    """An error as the client of this request may see it, without internals."""
    match error:
        case HoldfastError():
            status, code = next((s, c) for kind, s, c in _KINDS if isinstance(error, kind))
            texts = error.message, error.remedy
            if isinstance(error, StoreError) and is_key_holder():
                texts = _DISK_FULL if code == "full" else _STORE_UNAVAILABLE
            return Refusal(status, code, *texts, 2 if status == 503 else 0)
        case RequestValidationError():
            problems = (
                f"{one['loc'][-1]} {str(one['msg']).removeprefix('Input ')}"
                for one in error.errors()[:_MAX_PROBLEMS]
            )
            text = "; ".join(problems)[:_MAX_PROBLEM_CHARS]
            return Refusal(422, "bad_form", f"{text}.", "Correct the address.")
        case HTTPException():
            usual = "refused" if error.status_code < 500 else "failed"
            code = _STATUS_CODES.get(error.status_code, usual)
            texts = _FRAMEWORK_TEXTS.get((error.status_code, error.detail), (error.detail, ""))
            return Refusal(error.status_code, code, *texts)
        case _:
            return Refusal(500, "failed", "Something went wrong.", "Run `holdfast doctor`.")


def refuse(
    refusal: Refusal,
    scope: Scope,
    pages: Pages | None = None,
    onward: str = "",
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The response: JSON, or for a browser a page. Without `pages` that page loads nothing, since
    whoever is not signed in can load nothing; `onward` is an address of this server that it leads
    to."""
    sent = dict(headers or {})
    if refusal.status == 401:
        sent["www-authenticate"] = "Bearer"
    if refusal.retry_after_s:
        sent["retry-after"] = str(refusal.retry_after_s)
    _, code, message, remedy, _ = refusal
    if not wants_page(scope):
        error = {"code": code, "message": message, "remedy": remedy}
        if "request_id" in scope:
            error["request_id"] = scope["request_id"]
        return JSONResponse({"error": error}, refusal.status, sent)
    shown: dict[str, Any] = {"message": message, "remedy": remedy}
    if pages is not None:
        text = pages.render("error.html", status=refusal.status, **shown)
        return HTMLResponse(text, refusal.status, sent)
    style, policy = _style()
    template = templates().get_template("refused.html")
    text = template.render(**shown, onward=onward, style=style)
    return HTMLResponse(text, refusal.status, {**sent, "content-security-policy": policy})


def wants_page(scope: Scope) -> bool:
    """Whether a browser opens a page."""
    return "text/html" in Headers(scope=scope).get("accept", "")


@cache
def _style() -> tuple[Markup, str]:
    """The style sheet, which stands in the page, and a policy that allows it by its hash."""
    sheet = (STATIC / "style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return Markup(sheet), policy
