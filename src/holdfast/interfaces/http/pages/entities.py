"""The entities page: those in most records, or one with its records, neighbours and links."""

from __future__ import annotations

from fastapi.responses import HTMLResponse

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import PageUrls
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.model.graph import Entity, EntityKind, LinkKind
from holdfast.model.uris import parse_uri
from holdfast.recall.lookup.entities import describe_entity, entities_matching
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/entities")

_MAX_ENTITIES = 300
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
    if kind and kind not in list(EntityKind):
        raise InputError(f"There are no entities of the kind {kind[:40]!r}.", "Choose another.")
    focus = focus.strip()

    def load(memory: Holdfast) -> Shown:
        reader, id = memory.reader, memory.context.bank_id(bank)
        found = entities_matching(reader, id, focus) if focus else []
        about = entity_view(memory, found[0]) if len(found) == 1 else {"entity": None}
        listed = found if focus else memory.browse.entities(bank, kind, _MAX_ENTITIES)
        banks = reader.banks.all()
        return {"listed": listed, "banks": banks, "bank_keys": bank_keys(banks), **about}

    shown = await request.pool.read(load)
    entity: Entity | None = shown["entity"]
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


def entity_view(memory: Holdfast, entity: Entity) -> Shown:
    """An entity with the records that mention it, the entities beside it, and its links by kind."""
    from holdfast.recall.links.similar_records import SimilarRecords

    reader, bank = memory.reader, entity.bank
    similar = SimilarRecords(reader, bank, memory.settings.vectors)
    about = describe_entity(reader, entity, _MAX_RECORDS, similar, tuple(LINK_TEXTS))
    urls = PageUrls(reader)
    titles = {record.uri: record.title for record in about.records}
    links: list[Shown] = []
    for kind, text in LINK_TEXTS.items():
        of_kind = [link for link in about.links if link.kind is kind]
        for link in of_kind[: _MAX_LINKS.get(kind, _MAX_LINKS_OF_KIND)]:
            ends = {
                end: (titles.get(uri) or _title(reader, bank, uri), urls.of(bank, uri))
                for end, uri in (("source", link.source), ("target", link.target))
            }
            links.append({"how": text, "via": link.via, **ends})
    return {
        "entity": entity,
        "records": [(record, urls.of(bank, record.uri)) for record in about.records],
        "together": [(one, urls.of(bank, one.uri)) for one in about.together],
        "links": links,
    }


def _title(reader: Reader, bank: str, name: str) -> str:
    named = parse_uri(name)
    place = reader.graph.record(bank, *named) if named else None
    found = reader.graph.node_passages(bank, [place.node]) if place else []
    return " ".join(found[0][1].body.split())[:100] if found else name
