"""The entities page: those in most records, or one with its records, neighbours and links."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.model.graph import EntityKind, LinkKind
from holdfast.model.uris import uri
from holdfast.operations.parameters import MAX_PAGE
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.entities import EntityDetails, entities_matching
from holdfast.recall.lookup.path import describe_record
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/entities")

# Records and neighbours of one entity.
_MAX_RECORDS = 20
LINK_TEXTS = {
    LinkKind.CAUSES: "caused",
    LinkKind.CAUSED_BY: "was caused by",
    LinkKind.ENABLES: "enabled",
    LinkKind.PREVENTS: "prevents",
    LinkKind.SEMANTIC: "is similar to",
    LinkKind.ENTITY: "shares an entity with",
    LinkKind.TEMPORAL: "is next in time to",
}
# Of links that only say that two records share a name, a meaning or a day, few are shown.
_MAX_LINKS = {LinkKind.SEMANTIC: 3, LinkKind.ENTITY: 3, LinkKind.TEMPORAL: 3}
_MAX_LINKS_OF_KIND = 12


@router.get("")
async def entities(
    request: PageRequestDep, focus: str = "", bank: str = ALL_BANKS, kind: str = ""
) -> HTMLResponse:
    """One entity, by any of its names, its id or its URI; without one, those in most records."""
    focus, call = focus.strip(), request.call

    def load(memory: Holdfast) -> Shown:
        reader, banks = memory.reader, memory.reader.banks.all()
        asked = {"bank": bank, "kind": kind, "limit": MAX_PAGE}
        if not focus:
            listed = ask(memory, call, "entities", **asked).entities
        else:
            listed = entities_matching(reader, memory.context.bank_id(bank), focus)
        shown: Shown = {"listed": listed, "banks": banks, "bank_keys": bank_keys(banks)}
        if len(listed) != 1 or not focus:
            return {**shown, "entity": None}
        one = {"name": uri("entity", listed[0].id), "bank": listed[0].bank}
        about = ask(memory, call, "entity", limit=_MAX_RECORDS, **one)
        links = _links(reader, listed[0].bank, about)
        return {**shown, "entity": listed[0], "about": about, "links": links}

    shown = await request.pool.read(load)
    entity = shown["entity"]
    return request.render(
        "entities.html",
        404 if focus and not shown["listed"] else 200,
        title=f"{entity.name[:80]} · Entities" if entity else "Entities",
        focus=focus,
        bank=bank,
        kind=kind,
        kinds=list(EntityKind),
        **shown,
    )


def _links(reader: Reader, bank: str, about: EntityDetails) -> list[Shown]:
    """The links of the records that mention an entity, in words."""
    titles = {record.uri: record.title for record in about.records}

    def title(name: str) -> str:
        record = find_by_uri(reader, bank, name) if name not in titles else None
        return describe_record(record)[0][:100] if record else titles.get(name, name)

    return [
        {"one": link, "source": title(link.source), "target": title(link.target), "how": how}
        for kind, how in LINK_TEXTS.items()
        for link in [one for one in about.links if one.kind is kind][
            : _MAX_LINKS.get(kind, _MAX_LINKS_OF_KIND)
        ]
    ]
