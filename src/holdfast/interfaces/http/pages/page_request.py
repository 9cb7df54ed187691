"""A request for a page: operations in its name, the form that was sent, and the rendered page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.browser_token import FormKeys
from holdfast.interfaces.http.auth.permissions import check, permission_of
from holdfast.interfaces.http.core.memory_pool import MemoryPool
from holdfast.interfaces.http.core.request_principal import author, principal
from holdfast.interfaces.http.core.research_runs import ResearchRuns
from holdfast.interfaces.ui.render import Pages
from holdfast.operations.decisions.log import BROWSE
from holdfast.operations.operation import Call, Operation
from holdfast.operations.registry import find_operation
from holdfast.operations.running import perform
from holdfast.regex import regex

_DECISIONS = regex(r"\d{1,12}(?:,\d{1,12}){0,99}")
# A parameter of every page, so not one that describes a page.
_Shown = Annotated[str, Query(include_in_schema=False)]
# What a template shows, by name.
Shown = dict[str, Any]
T = TypeVar("T")
# What a page says after a change. The URL has only a code, so a link cannot forge a text.
NOTES: Mapping[str, str] = {
    "retain": "Remembered.",
    "correct": "Corrected. The old text is kept as superseded.",
    "forget": "Forgotten. It is hidden everywhere.",
    "restore": "Restored, with everything that was hidden with it.",
    "merge": "Merged into one record.",
    "confirm": "Confirmed. It is listed again if its code changes again.",
    "undo": "Undone.",
    "purge": "Erased permanently.",
    "useful": "Called useful: briefs tell it first.",
    "unneeded": "Called unneeded: left out at the start of a session.",
    "outdated": "Called outdated: left out of briefs, and marked in every answer.",
    "kept": "Kept.",
    "retired": "Retired: it no longer applies.",
    "reworded": "Corrected and kept.",
    "review_adopt": "Kept in your name. It replaces the agent's note.",
    "promote_approve": "Written into the rule file. You can edit the file yourself.",
    "outdated_rule": "Marked as outdated. Remove it from the file yourself.",
    "promote_reject": "Rejected. It is not proposed again.",
    "several": "All selected items are decided.",
    "several_left": (
        "Decided, except the items still listed: they changed after you opened the page."
    ),
    "bank_set": "Saved.",
    "research_useful": "Noted: the records behind the answer count as confirmed.",
    "stopping": "Stopping.",
    "removed": "The conversation is deleted.",
}


class PageRequest:
    """A request of a browser. Every page may be shown with a note about what was just done, and
    the decisions that undo it."""

    def __init__(self, request: Request, note: _Shown = "", undo: _Shown = "") -> None:
        web = request.app.state.web
        self.request = request
        self.pool: MemoryPool = web.pool
        self.research_runs: ResearchRuns = web.research_runs
        # The brief of each bank, until anything is written or a file that it quotes changes. The
        # words that a restricted principal may read of a bank are all of it: it serves everybody.
        self.briefs: dict[str, tuple[object, Any]] = web.briefs
        self._keys: FormKeys = web.keys
        self._pages: Pages = web.pages
        self._cookie = str(request.scope.get("visitor") or "")
        self._note = NOTES.get(note, "")
        # The numbers of the decisions that the note of this page is about.
        self._undo = undo if _DECISIONS.fullmatch(undo) else ""

    @property
    def call(self) -> Call:
        """For whom the operations of a page run."""
        return Call(author(BROWSE), remotes=False, key=principal().name, in_folder=False)

    async def ask(self, name: str, /, **given: Any) -> Any:
        """The result of an operation. A page shows no more than its operations allow."""
        call = self.call
        return await self.run(find_operation(name), lambda memory: ask(memory, call, name, **given))

    async def run(self, operation: Operation, task: Callable[[Holdfast], T]) -> T:
        """Run a task as an operation is run, if the principal may ask for it."""
        check(permission_of(operation), principal())
        return await getattr(self.pool, operation.work)(task)

    def render(self, template: str, status: int = 200, **shown: Any) -> HTMLResponse:
        """A template as a response, with what `base.html` needs."""
        context = {
            "path": self.request.url.path,
            "form_key": self._keys.form_key(self._cookie),
            "waiting": self.pool.review_count,
            "here": self._here(),
            "note": self._note,
            "undo": self._undo,
            **shown,
        }
        return HTMLResponse(self._pages.render(template, **context), status)

    def _here(self) -> str:
        """The address of this page, without what was just done."""
        items = self.request.query_params.multi_items()
        query = [(name, value) for name, value in items if name not in ("note", "undo")]
        return self.request.url.path + (f"?{urlencode(query)}" if query else "")

    async def form(self) -> Form:
        """The form that was sent; raises `InputError` if it is not one of ours."""
        # Browsers send CRLF.
        sent = [
            (name, str(value).replace("\r\n", "\n").strip())
            for name, value in (await self.request.form()).multi_items()
        ]
        fields = Form(sent)
        fields.sent = [one for one in sent if one[0] != "form_key"]
        if not self._keys.is_valid_form_key(self._cookie, fields.pop("form_key", "")):
            raise InputError(
                "This form is too old or from another site.", "Reload the page and try again."
            )
        return fields


def ask(memory: Holdfast, call: Call, name: str, /, **given: Any) -> Any:
    """The result of an operation with what a page gives it; what is "" or None is left out."""
    wanted = {key: value for key, value in given.items() if value not in ("", None)}
    return perform(find_operation(name), memory, wanted, call)


class Form(dict[str, str]):
    """The fields of a form, without surrounding whitespace; one that was not sent is "". Of several
    fields of one name, `sent` has all."""

    sent: list[tuple[str, str]]

    def __missing__(self, name: str) -> str:
        return ""


PageRequestDep = Annotated[PageRequest, Depends(PageRequest)]


async def _read_form(request: PageRequestDep) -> Form:
    return await request.form()


FormDep = Annotated[Form, Depends(_read_form)]
