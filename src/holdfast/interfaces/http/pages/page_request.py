"""A request for a page: access to the memory, the form that was sent, and the rendered page."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse

from holdfast.app.views.brief_view import BriefCache
from holdfast.app.views.decision_log import BROWSE, name_with_channel
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.browser_token import FormKeys
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.ui.render import Pages
from holdfast.regex import regex

_DECISIONS = regex(r"\d{1,12}(?:,\d{1,12}){0,99}")
# A parameter of every page, so not one that describes a page.
_Shown = Annotated[str, Query(include_in_schema=False)]
# What a template shows, by name.
Shown = dict[str, Any]


class PageRequest:
    """A request of a browser. Every page may be shown with a note about what was just done, and
    the decisions that undo it."""

    def __init__(self, request: Request, note: _Shown = "", undo: _Shown = "") -> None:
        self.request = request
        self.pool: MemoryPool = request.app.state.web.pool
        self.research_runs: ResearchRuns = request.app.state.web.research_runs
        self.briefs: BriefCache = request.app.state.web.briefs
        self._keys: FormKeys = request.app.state.web.keys
        self._pages: Pages = request.app.state.web.pages
        self._cookie = str(request.scope.get("visitor") or "")
        # The numbers of the decisions that the note of this page is about.
        self._undo = undo if _DECISIONS.fullmatch(undo) else ""

    @property
    def who(self) -> str:
        """The author of a change on a page, as the log of decisions names it."""
        return name_with_channel(principal().label, BROWSE)

    def render(self, template: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A template as a response, with what `base.html` needs."""
        context = {
            "path": self.request.url.path,
            "form_key": self._keys.form_key(self._cookie),
            "waiting": self.pool.review_count,
            "here": self._here(),
            "undo": self._undo,
            **shown,
        }
        return HTMLResponse(self._pages.render(template, **context), status)

    def _here(self) -> str:
        """The address of this page, without what was just done."""
        query = [
            (name, value)
            for name, value in self.request.query_params.multi_items()
            if name not in ("note", "undo")
        ]
        return self.request.url.path + (f"?{urlencode(query)}" if query else "")

    async def form(self) -> Form:
        """The form that was sent; raises `InputError` if it is not one of ours."""
        # Browsers send CRLF.
        fields = Form(
            (name, str(value).replace("\r\n", "\n").strip())
            for name, value in (await self.request.form()).items()
        )
        if not self._keys.is_valid_form_key(self._cookie, fields.pop("form_key", "")):
            raise InputError(
                "This form is too old or from another site.", "Reload the page and try again."
            )
        return fields


class Form(dict[str, str]):
    """The fields of a form, without surrounding whitespace; one that was not sent is ""."""

    def __missing__(self, name: str) -> str:
        return ""


PageRequestDep = Annotated[PageRequest, Depends(PageRequest)]


async def _read_form(request: PageRequestDep) -> Form:
    return await request.form()


FormDep = Annotated[Form, Depends(_read_form)]
