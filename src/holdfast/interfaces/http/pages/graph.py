"""The graph page: an entity and the entities around it."""

from __future__ import annotations

import asyncio
from types import ModuleType
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import HTMLResponse

from holdfast.app.core.context import ALL_BANKS
from holdfast.app.memory import Holdfast
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import PageUrls
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import bank_keys
from holdfast.model.graph import Entity, LinkKind
from holdfast.model.uris import parse_uri
from holdfast.recall.links.record_links import NearestLookup
from holdfast.recall.lookup.entities import (
    MAX_HOPS,
    MentioningRecord,
    Neighbourhood,
    describe_entity,
    entities_matching,
    most_mentioned,
    neighbourhood_of,
)
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/graph")

_HOPS = 2
_MAX_RECORDS = 8
_MAX_LINKS = 12
LINK_TEXTS = {
    LinkKind.CAUSES: "caused",
    LinkKind.CAUSED_BY: "was caused by",
    LinkKind.ENABLES: "enabled",
    LinkKind.PREVENTS: "prevents",
    LinkKind.SEMANTIC: "is similar to",
    LinkKind.ENTITY: "shares an entity with",
    LinkKind.TEMPORAL: "is next in time to",
}
# Links of one kind: what led to what is shown first, and more of it.
_MAX_OF_KIND: dict[LinkKind, int] = dict.fromkeys(
    (LinkKind.SEMANTIC, LinkKind.ENTITY, LinkKind.TEMPORAL), 3
)


def load_drawing() -> ModuleType:
    """The module that draws. It imports NumPy, which only this page needs."""
    from holdfast.interfaces.ui import graph_view

    return graph_view


def _similar_records(memory: Holdfast, bank: str) -> NearestLookup:
    """The lookup of records with a similar meaning, with NumPy too."""
    from holdfast.recall.links.similar_records import SimilarRecords

    return SimilarRecords(memory.reader, bank, memory.settings.vectors)


@router.get("")
async def graph(
    request: PageRequestDep,
    focus: str = "",
    bank: str = ALL_BANKS,
    kind: Annotated[tuple[str, ...], Query()] = (),
    hops: Annotated[int, Query(ge=1, le=MAX_HOPS)] = _HOPS,
) -> HTMLResponse:
    """Around a focus; without one, the foremost of all."""
    # It reckons with NumPy, which is loaded with the first picture.
    drawing = await asyncio.to_thread(load_drawing)
    kinds = tuple(one for one in kind if one in drawing.KINDS)
    focus = focus.strip()

    def load_and_draw(memory: Holdfast) -> tuple[Shown, Any]:
        seen = _load(memory, focus, bank, kinds, hops)
        return seen, drawing.draw(seen["found"])

    seen, net = await request.pool.read(load_and_draw)
    entity: Entity | None = seen["focus"]
    missing = bool(focus) and entity is None and not seen["choices"]
    return request.render(
        "graph.html",
        404 if missing else 200,
        title=f"{entity.name[:80]} · Graph" if entity else "Graph",
        seen=seen,
        net=net,
        focus=focus,
        bank=bank,
        kinds=kinds,
        hops=hops,
        all_kinds=drawing.KINDS,
        most_hops=MAX_HOPS,
    )


def _load(memory: Holdfast, focus: str, bank: str, kinds: tuple[str, ...], hops: int) -> Shown:
    reader, id = memory.reader, memory.context.bank_id(bank)
    seen: Shown = dict.fromkeys(("choices", "records", "links"), ())
    banks = reader.banks.all()
    seen |= {"banks": banks, "bank_keys": bank_keys(banks)}
    seen |= {"focus": None, "found": Neighbourhood()}
    if not focus:
        return seen | {"found": most_mentioned(reader, id, kinds)}
    found = entities_matching(reader, id, focus)
    if len(found) != 1:
        return seen | {"choices": found}
    shown = neighbourhood_of(reader, found[0], hops, kinds)
    records, links = records_and_links(memory, found[0])
    return seen | {"focus": found[0], "found": shown, "records": records, "links": links}


def records_and_links(
    memory: Holdfast, entity: Entity
) -> tuple[list[tuple[MentioningRecord, str]], list[Shown]]:
    """The records that mention an entity, with their pages, and their links, by kind."""
    reader, bank = memory.reader, entity.bank
    similar = _similar_records(memory, bank)
    mentions = describe_entity(reader, entity, _MAX_RECORDS, similar, tuple(LINK_TEXTS))
    names = {record.uri: record.title for record in mentions.records}
    links = [
        link
        for kind in LINK_TEXTS
        for link in [one for one in mentions.links if one.kind is kind][
            : _MAX_OF_KIND.get(kind, _MAX_LINKS)
        ]
    ]
    for link in links:
        if link.target not in names:
            names[link.target] = _title(reader, bank, link.target)
    urls = PageUrls(reader)
    return [(record, urls.of(bank, record.uri)) for record in mentions.records], [
        {
            "source": names[link.source],
            "source_at": urls.of(bank, link.source),
            "how": LINK_TEXTS[link.kind],
            "target": names[link.target],
            "target_at": urls.of(bank, link.target),
            "via": link.via,
        }
        for link in links
    ]


def _title(reader: Reader, bank: str, name: str) -> str:
    named = parse_uri(name)
    place = reader.graph.record(bank, *named) if named else None
    found = reader.graph.node_passages(bank, [place.node]) if place else []
    return " ".join(found[0][1].body.split())[:100] if found else name
