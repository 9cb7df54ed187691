"""One request for a page: the desk it is handed in at, and the page it becomes."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse

from holdfast.app.views.decision_log import BROWSE, named_by
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.browser_token import FormKeys
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import principal
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.ui.render import Pages


class PageRequest:
    """Whoever looks at a page."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.pool: MemoryPool = request.app.state.web.pool
        self.research_runs: ResearchRuns = request.app.state.web.research_runs
        self._keys: FormKeys = request.app.state.web.keys
        self._pages: Pages = request.app.state.web.pages
        self._cookie = str(request.scope.get("visitor") or "")

    @property
    def who(self) -> str:
        """In whose name something is changed on a page."""
        return named_by(principal().label, BROWSE)

    def render(self, template: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A page of ours."""
        context = {
            "path": self.request.url.path,
            "form_key": self._keys.form_key(self._cookie),
            "waiting": self.pool.review_count,
            **shown,
        }
        return HTMLResponse(self._pages.render(template, **context), status)

    async def form(self) -> dict[str, str]:
        """What a form of ours brought; one of another's is refused."""
        told = {name: str(value) for name, value in (await self.request.form()).items()}
        if not self._keys.is_valid_form_key(self._cookie, told.pop("form_key", "")):
            raise InputError("This form is not from here, or too old.", "Load the page again.")
        return told


PageRequestDep = Annotated[PageRequest, Depends(PageRequest)]
