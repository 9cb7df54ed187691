"""The page that a browser gets where the guard lets it in no further.

It loads nothing, since whoever is not signed in can load nothing: the style sheet stands in the
page, and the policy of the page allows that one by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import HTMLResponse

from holdfast.interfaces.ui.render import STATIC, templates


class _Style(NamedTuple):
    sheet: Markup
    policy: str


def refusal_page(
    status: int,
    message: str,
    remedy: str = "",
    onward: str = "",
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """A page that says why, and what to do. `onward` is an address of this server to go on to."""
    style = _style()
    page = templates().get_template("refused.html")
    text = page.render(message=message, remedy=remedy, onward=onward, style=style.sheet)
    return HTMLResponse(text, status, {**(headers or {}), "content-security-policy": style.policy})


@cache
def _style() -> _Style:
    sheet = (STATIC / "style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'none'; "
        "base-uri 'none'; frame-ancestors 'none'"
    )
    return _Style(Markup(sheet), policy)
