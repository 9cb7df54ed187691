"""The memory page: records by kind, forgotten records, and the log of decisions."""

from __future__ import annotations

from typing import Annotated, NamedTuple
from urllib.parse import urlencode

from fastapi import Depends
from fastapi.responses import RedirectResponse, Response

from holdfast.app.memory import Holdfast
from holdfast.errors import NotFoundError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.interfaces.ui.formatting import link, session_link
from holdfast.model.knowledge import Kind, Network
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri
from holdfast.operations.catalogue import Section, uri_of
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.lookup.trace import find_record
from holdfast.store.across_tables.lookup import Record

router = CheckedRouter()
DECISIONS, CURRENT, ANY = "decisions", "current", "any"
TABS = (*(section.value for section in Section), DECISIONS)
# The kinds in the URIs of the records of a tab.
KINDS = {
    "rules": "rule", "facts": "fact", "concepts": "concept", "opinions": "memory",
    "memories": "memory", "patterns": "pattern", "shared": "shared", "imported": "imported",
}  # fmt: skip
STATUSES = (CURRENT, ANY, *map(str, Status))
_WITH_STATUS = ("facts", "opinions", "memories")
# The tabs whose records say something of a kind of knowledge.
_WITH_KNOWLEDGE = ("facts", "memories")
_ALIASES = {"remembered": "memories", "": "facts"}
_PER_PAGE = 40


class MemoryQuery(NamedTuple):
    """The parameters of the memory page."""

    tab: str = ""
    id: str = ""
    bank: str = ""
    status: str = CURRENT
    q: str = ""
    file: str = ""
    knowledge: str = ""
    cursor: str = ""

    @property
    def kind(self) -> str:
        """The tab, by its own name."""
        return _ALIASES.get(self.tab, self.tab)

    def url_with(self, **changed: str) -> str:
        """The URL of the page with some parameters changed."""
        fields = self._asdict() | {"cursor": ""} | changed
        defaults = MemoryQuery()._asdict()
        kept = {name: value for name, value in fields.items() if value != defaults[name]}
        return f"/memory?{urlencode(kept)}" if kept else "/memory"


@router.get("/memory")
async def memory(request: PageRequestDep, given: Annotated[MemoryQuery, Depends()]) -> Response:
    """A list of records; with `id`, a redirect to the page of one record."""
    query = given._replace(
        status=given.status if given.status in STATUSES else CURRENT, q=given.q.strip()
    )
    if query.kind not in TABS:
        raise NotFoundError(f"There is no tab {query.tab!r}.", f"One of: {', '.join(TABS)}.")
    if query.id:
        named = parse_uri(query.id)
        word = KINDS.get(query.kind) or (named.kind if named else "")
        return RedirectResponse(link(uri(word, named.id if named else query.id)), 303)
    call, has_status = request.call, query.kind in _WITH_STATUS
    asked = {"words": query.q, "bank": query.bank, "cursor": query.cursor, "limit": _PER_PAGE}
    if query.kind != DECISIONS:
        known = query.knowledge if query.kind in _WITH_KNOWLEDGE else ""
        status = query.status if has_status else ANY
        asked |= {"status": status if status in list(Status) else "", "all": status == ANY}
        asked |= {"section": query.kind, "kind": known, "domain": query.file}

    def load(memory: Holdfast) -> Shown:
        banks = memory.banks.all()
        usual = {"banks": banks, "names": {bank.id: bank.name for bank in banks}}
        if query.kind == DECISIONS:
            return {**usual, "found": ask(memory, call, "decisions", **asked)}
        found = ask(memory, call, "records", **asked)
        from_ = origins(memory.reader, [Named(one.bank, uri_of(one)) for one in found.records])
        return {**usual, "found": found, "origins": from_}

    return request.render(
        "decisions.html" if query.kind == DECISIONS else "memory.html",
        title=query.kind.capitalize(),
        query=query,
        tabs=TABS,
        statuses=STATUSES if has_status else (),
        networks=list(Network),
        knowledge_kinds=list(Kind) if query.kind in _WITH_KNOWLEDGE else (),
        **await request.pool.read(load),
    )


@router.get("/open")
async def open_uri(request: PageRequestDep, uri: str = "") -> Response:
    """Redirect to the page of a record by its URI or id."""

    def place(memory: Holdfast) -> str:
        named = parse_uri(uri)
        if named is not None and named.kind == "bank":
            return f"/banks/{named.id}"
        try:
            record = find_record(memory.reader, None, uri)
        except NotFoundError:
            return link(memory.curation.target(uri).uri)
        return session_url(record) or link(uri_of(record))

    return RedirectResponse(await request.pool.read(place), 303)


def session_url(record: Record) -> str:
    """The place of a record on the page of its session; "" if it has none."""
    match record:
        case Session():
            return session_link(record.id)
        case Digest():
            return session_link(record.session)
        case Exchange():
            return session_link(record.session, record.first_seq)
        case Turn():
            return session_link(record.session, record.seq)
        case _:
            return ""
