"""Timeline: what was when, from far and near, around a record or a day, or where words lead."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.core.page_urls import page_url
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.time_bars import KINDS, draw, named
from holdfast.model.bank import Bank
from holdfast.model.query import Moment
from holdfast.recall.lookup.histogram import (
    Histogram,
    adjacent_spans,
    count_by_period,
    events_in,
    read_span,
)
from holdfast.recall.lookup.timeline import Event

router = APIRouter(prefix="/timeline")

_PAGE = 50
_AROUND = 15


class Shown(NamedTuple):
    """An event, and the page of its record."""

    event: Event
    address: str


class Seen(NamedTuple):
    """What the page shows; `earlier` and `later` are moments to go on from, "" for none."""

    banks: list[Bank]
    spread: Histogram
    events: list[Shown]
    anchor: str
    earlier: str
    later: str
    notes: tuple[str, ...]


class Asked(NamedTuple):
    """What a page was asked for."""

    bank: str
    span: str
    at: str
    query: str
    kinds: tuple[str, ...]
    after: Moment | None
    before: Moment | None


@router.get("")
async def timeline(
    request: PageRequestDep,
    bank: str = "all",
    span: str = "",
    at: str = "",
    q: str = "",
    kind: Annotated[tuple[str, ...], Query()] = (),
    after: str = "",
    before: str = "",
) -> HTMLResponse:
    """A span, or what lies around an anchor."""
    kinds = tuple(one for one in KINDS if one in kind) or tuple(KINDS)
    asked = Asked(
        *(bank, read_span(span), at.strip(), q.strip(), kinds, _moment(after), _moment(before))
    )
    # Words are looked up by recall, which may want a model.
    hand_in = request.pool.run if asked.query else request.pool.read
    seen = await hand_in(lambda memory: _look(memory, asked))
    latest_first = not (seen.spread.span or asked.at or asked.query)
    events = seen.events[::-1] if latest_first else seen.events
    return request.render(
        "timeline.html",
        title="Timeline",
        seen=seen,
        days=[(day, list(some)) for day, some in groupby(events, _day)],
        latest_first=latest_first,
        lanes=draw(seen.spread, kinds, _time(seen)),
        bank=bank,
        asked=asked,
        kinds=kinds if len(kinds) < len(KINDS) else (),
        all_kinds=KINDS,
        beside=adjacent_spans(seen.spread.span),
        named=named,
    )


def _look(memory: Holdfast, asked: Asked) -> Seen:
    reader, id = memory.reader, memory.context.bank_id(asked.bank)
    banks, notes = reader.banks(), ()
    if asked.at or asked.query:
        told = memory.timeline(asked.at, asked.query, asked.bank, asked.kinds, _AROUND, _AROUND)
        events, notes, anchor = told.events, told.notes, told.anchor
        first = next((e.time for e in events if e.anchor), anchor if "://" not in anchor else "")
        span = asked.span or first[:7]
        ends = (events[0], events[-1]) if events else None
    else:
        events, more = events_in(
            reader, id, asked.span, asked.kinds, _PAGE, asked.after, asked.before
        )
        span, anchor = asked.span, ""
        backwards = asked.after is None and (asked.before is not None or not span)
        ends = (events[0], events[-1]) if events else None
        if ends and not more:
            ends = (None, ends[1]) if backwards else (ends[0], None)
        if ends and asked.after is None and asked.before is None:
            ends = (ends[0], None) if not span else (None, ends[1])
    found = count_by_period(reader, id, span, asked.kinds)
    return Seen(
        banks=banks,
        spread=found,
        events=[Shown(e, page_url(reader, e.bank, e.uri)) for e in events],
        anchor=anchor,
        earlier=_spelled(ends[0]) if ends else "",
        later=_spelled(ends[1]) if ends else "",
        notes=notes,
    )


def _day(shown: Shown) -> str:
    return shown.event.time[:10]


def _time(seen: Seen) -> str:
    """When the anchor is."""
    own = next((shown.event.time for shown in seen.events if shown.event.anchor), "")
    return own or ("" if "://" in seen.anchor else seen.anchor)


def _moment(text: str) -> Moment | None:
    """A place in the order of all records, as an address has it."""
    if not text:
        return None
    parts = text.split(" ", 3)
    if len(parts) != 4 or len(text) > 500:
        raise InputError("That is no place on the timeline.", "Go back to the timeline.")
    return Moment(*parts)


def _spelled(event: Event | None) -> str:
    if event is None:
        return ""
    return f"{event.time} {event.kind} {event.uri.rpartition('/')[2]} {event.bank}"
