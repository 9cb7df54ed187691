"""The timeline page: events of a span, or around a record, a day or the best match of words."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, NamedTuple

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.core.page_urls import page_url
from holdfast.interfaces.http.pages.page_request import PageRequestDep
from holdfast.interfaces.ui.time_bars import KINDS, draw, period_name
from holdfast.model.bank import Bank
from holdfast.model.query import TimelinePosition
from holdfast.recall.lookup.histogram import (
    Histogram,
    adjacent_spans,
    count_by_period,
    events_in,
    read_span,
)
from holdfast.recall.lookup.timeline import Event

router = APIRouter(prefix="/timeline")

# Events on a page, and before and after an anchor.
_MAX_EVENTS = 50
_EVENTS_AROUND = 15


class LinkedEvent(NamedTuple):
    """An event, and the page of its record."""

    event: Event
    address: str


class TimelineView(NamedTuple):
    """What the page shows; `earlier` and `later` are positions to continue from, "" for none."""

    banks: list[Bank]
    spread: Histogram
    events: list[LinkedEvent]
    anchor: str
    earlier: str
    later: str
    notes: tuple[str, ...]


class TimelineQuery(NamedTuple):
    """The parameters of the page; `words` are searched for, `at` is a record or a day."""

    bank: str
    span: str
    at: str
    words: str
    kinds: tuple[str, ...]
    after: TimelinePosition | None
    before: TimelinePosition | None


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
    """Events of a span, or around an anchor."""
    kinds = tuple(one for one in KINDS if one in kind) or tuple(KINDS)
    query = TimelineQuery(
        *(
            bank,
            read_span(span),
            at.strip(),
            q.strip(),
            kinds,
            _read_position(after),
            _read_position(before),
        )
    )
    # Words are looked up by recall, which may need a model.
    run = request.pool.run if query.words else request.pool.read
    seen = await run(lambda memory: _load(memory, query))
    latest_first = not (seen.spread.span or query.at or query.words)
    events = seen.events[::-1] if latest_first else seen.events
    return request.render(
        "timeline.html",
        title="Timeline",
        seen=seen,
        days=[(day, list(some)) for day, some in groupby(events, _day)],
        latest_first=latest_first,
        lanes=draw(seen.spread, kinds, _time(seen)),
        bank=bank,
        query=query,
        kinds=kinds if len(kinds) < len(KINDS) else (),
        all_kinds=KINDS,
        beside=adjacent_spans(seen.spread.span),
        period_name=period_name,
    )


def _load(memory: Holdfast, query: TimelineQuery) -> TimelineView:
    reader, id = memory.reader, memory.context.bank_id(query.bank)
    banks, notes = reader.banks(), ()
    if query.at or query.words:
        around = memory.timeline(
            query.at, query.words, query.bank, query.kinds, _EVENTS_AROUND, _EVENTS_AROUND
        )
        events, notes, anchor = around.events, around.notes, around.anchor
        first = next((e.time for e in events if e.anchor), anchor if "://" not in anchor else "")
        span = query.span or first[:7]
        ends = (events[0], events[-1]) if events else None
    else:
        events, more = events_in(
            reader, id, query.span, query.kinds, _MAX_EVENTS, query.after, query.before
        )
        span, anchor = query.span, ""
        backwards = query.after is None and (query.before is not None or not span)
        ends = (events[0], events[-1]) if events else None
        if ends and not more:
            ends = (None, ends[1]) if backwards else (ends[0], None)
        if ends and query.after is None and query.before is None:
            ends = (ends[0], None) if not span else (None, ends[1])
    found = count_by_period(reader, id, span, query.kinds)
    return TimelineView(
        banks=banks,
        spread=found,
        events=[LinkedEvent(e, page_url(reader, e.bank, e.uri)) for e in events],
        anchor=anchor,
        earlier=_format_position(ends[0]) if ends else "",
        later=_format_position(ends[1]) if ends else "",
        notes=notes,
    )


def _day(shown: LinkedEvent) -> str:
    return shown.event.time[:10]


def _time(seen: TimelineView) -> str:
    """The time of the anchor."""
    own = next((shown.event.time for shown in seen.events if shown.event.anchor), "")
    return own or ("" if "://" in seen.anchor else seen.anchor)


def _read_position(text: str) -> TimelinePosition | None:
    """A position in the order of all events, from the URL."""
    if not text:
        return None
    parts = text.split(" ", 3)
    if len(parts) != 4 or len(text) > 500:
        raise InputError("That is no place on the timeline.", "Go back to the timeline.")
    return TimelinePosition(*parts)


def _format_position(event: Event | None) -> str:
    if event is None:
        return ""
    return f"{event.time} {event.kind} {event.uri.rpartition('/')[2]} {event.bank}"
