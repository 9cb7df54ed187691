"""The memory page: records by kind, forgotten records, and the log of decisions; and the page
that is shown before a record is erased."""

from __future__ import annotations

from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.app.views.catalogue import (
    ANY,
    CURRENT,
    KIND_BY_SECTION,
    CatalogueQuery,
    catalogue_page,
    hidden_records,
    logged_decisions,
)
from holdfast.app.views.record_view import current_text, page_address
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import link
from holdfast.interfaces.ui.notes import NOTES
from holdfast.model.kinds import read_kinds
from holdfast.model.knowledge import Kind, Network
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.lookup.origins import Named, origins

router = CheckedRouter()
FORGOTTEN, DECISIONS = "forgotten", "decisions"
TABS = (*KIND_BY_SECTION, FORGOTTEN, DECISIONS)
STATUSES = (CURRENT, ANY, *(status.value for status in Status))
_WITH_STATUS = ("facts", "opinions", "memories")
# The tabs whose records say something of a kind of knowledge.
_WITH_KNOWLEDGE = ("facts", "memories")
_ALIASES = {"remembered": "memories", "": "facts"}


class MemoryQuery(NamedTuple):
    """The parameters of the memory page."""

    tab: str = ""
    id: str = ""
    bank: str = ""
    status: str = CURRENT
    q: str = ""
    file: str = ""
    page: int = 1
    note: str = ""
    knowledge: str = ""

    @property
    def wanted(self) -> CatalogueQuery:
        """The parameters for the catalogue."""
        status = self.status if self.kind in _WITH_STATUS else ANY
        known = self.knowledge if self.kind in _WITH_KNOWLEDGE else ""
        return CatalogueQuery(self.kind, self.bank, status, self.q, self.file, self.page, known)

    @property
    def kind(self) -> str:
        """The kind of records to list, or one of the two special tabs."""
        return _ALIASES.get(self.tab, self.tab)

    def url_with(self, **changed: object) -> str:
        """The URL of the page with some parameters changed."""
        fields = self._replace(note="")._asdict() | {"page": 1} | changed
        defaults = MemoryQuery()._asdict()
        changed_fields = {name: v for name, v in fields.items() if v != defaults[name]}
        return f"/memory?{urlencode(changed_fields)}" if changed_fields else "/memory"


@router.get("/memory")
async def memory(request: PageRequestDep, given: Annotated[MemoryQuery, Depends()]) -> Response:
    """A list of records; with `id`, a redirect to the page of one record."""
    query = given._replace(
        status=given.status if given.status in STATUSES else CURRENT,
        q=given.q.strip(),
        page=max(1, min(given.page, 500)),
    )
    if query.kind not in TABS:
        raise NotFoundError(f"There is no tab {query.tab!r}.", f"One of: {', '.join(TABS)}.")
    read_kinds([query.knowledge] if query.knowledge else [])
    if query.id:
        named = parse_uri(query.id)
        word = KIND_BY_SECTION.get(query.kind) or (named.kind if named else "")
        return RedirectResponse(link(uri(word, named.id if named else query.id)), 303)
    banks = await request.pool.read(lambda memory: memory.banks.all())
    usual: Shown = {
        "title": query.kind.capitalize(),
        "query": query,
        "tabs": TABS,
        "banks": banks,
        "names": {bank.id: bank.name for bank in banks},
        "note": NOTES.get(query.note),
        "statuses": STATUSES if query.kind in _WITH_STATUS else (),
        "networks": [network.value for network in Network],
        "knowledge_kinds": list(Kind) if query.kind in _WITH_KNOWLEDGE else (),
    }
    if query.kind == FORGOTTEN:
        away, more = await request.pool.read(lambda m: hidden_records(m, query.wanted))
        return request.render("forgotten.html", away=away, more=more, **usual)
    if query.kind == DECISIONS:
        log, more = await request.pool.read(lambda m: logged_decisions(m, query.wanted))
        return request.render("decisions.html", log=log, more=more, **usual)

    def load(memory: Holdfast) -> Shown:
        page = catalogue_page(memory, query.wanted)
        return {
            "items": page.items,
            "more": page.more,
            "origins": origins(memory.reader, [Named(one.bank, one.uri) for one in page.items]),
        }

    return request.render("memory.html", **await request.pool.read(load), **usual)


@router.get("/memory/purge")
async def purge(request: PageRequestDep, uri: str = "") -> HTMLResponse:
    """Show what erasing a record would erase."""
    found = await request.pool.run(lambda memory: plan_purge(memory, uri))
    return request.render("purge.html", title="Erase permanently", plan=found, changed=False)


def plan_purge(memory: Holdfast, name: str) -> Shown:
    """What erasing a record would erase; `seen` is a fingerprint, which the form sends back."""
    target = memory.curation.target(name)
    plan = memory.erasure.plan_purge(target.uri, target.bank)
    counts = sorted(plan.records.items())
    return {
        "uri": target.uri,
        "counts": counts,
        "copies": plan.copies,
        "transcripts": plan.transcripts,
        "words": current_text(memory, target) if target.shown else "",
        "seen": " ".join(f"{kind}:{count}" for kind, count in counts),
    }


@router.get("/open")
async def open_uri(request: PageRequestDep, uri: str = "") -> Response:
    """Redirect to the page of a record by its URI or id."""

    def place(memory: Holdfast) -> str:
        try:
            return page_address(memory.reader, uri)
        except NotFoundError:
            return link(memory.curation.target(uri).uri)

    return RedirectResponse(await request.pool.read(place), 303)
