"""The timeline page: events of a span, or around a record, a day or the best match of words."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated, NamedTuple

from fastapi import Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import PageUrls
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.time_bars import KINDS, draw, period_name
from holdfast.model.query import TimelinePosition
from holdfast.recall.lookup.histogram import adjacent_spans, count_by_period, events_in, read_span
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.lookup.timeline import Event

router = CheckedRouter(prefix="/timeline")

# Events on a page, and before and after an anchor.
_MAX_EVENTS = 50
_EVENTS_AROUND = 15


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
    positions = _read_position(after), _read_position(before)
    query = TimelineQuery(bank, read_span(span), at.strip(), q.strip(), kinds, *positions)
    # Words are looked up by recall, which may need a model.
    run = request.pool.run if query.words else request.pool.read
    seen = await run(lambda memory: _load(memory, query))
    spread, events = seen["spread"], seen["events"]
    latest_first = not (spread.span or query.at or query.words)
    return request.render(
        "timeline.html",
        title="Timeline",
        seen=seen,
        days=[
            (day, list(some))
            for day, some in groupby(
                events[::-1] if latest_first else events, lambda shown: shown[0].time[:10]
            )
        ],
        latest_first=latest_first,
        lanes=draw(spread, kinds, seen["anchor_time"]),
        bank=bank,
        query=query,
        kinds=kinds if len(kinds) < len(KINDS) else (),
        all_kinds=KINDS,
        beside=adjacent_spans(spread.span),
        period_name=period_name,
    )


def _load(memory: Holdfast, query: TimelineQuery) -> Shown:
    """Events with the pages of their records; `earlier` and `later` are positions to continue
    from, "" for none."""
    reader, id = memory.reader, memory.context.bank_id(query.bank)
    notes, anchor_time = (), ""
    if query.at or query.words:
        around = memory.timeline(
            query.at, query.words, query.bank, query.kinds, _EVENTS_AROUND, _EVENTS_AROUND
        )
        events, notes = around.events, around.notes
        anchor_day = "" if "://" in around.anchor else around.anchor
        anchor_time = next((e.time for e in events if e.anchor), anchor_day)
        span = query.span or anchor_time[:7]
        ends = (events[0], events[-1]) if events else None
    else:
        events, more = events_in(
            reader, id, query.span, query.kinds, _MAX_EVENTS, query.after, query.before
        )
        span = query.span
        backwards = query.after is None and (query.before is not None or not span)
        ends = (events[0], events[-1]) if events else None
        if ends and not more:
            ends = (None, ends[1]) if backwards else (ends[0], None)
        if ends and query.after is None and query.before is None:
            ends = (ends[0], None) if not span else (None, ends[1])
    urls = PageUrls(reader)
    return {
        "banks": reader.banks.all(),
        "spread": count_by_period(reader, id, span, query.kinds),
        "names": {one.id: one.name for one in reader.banks.all()},
        "origins": origins(
            reader, [Named(event.bank, event.uri, event.session) for event in events]
        ),
        "events": [(event, urls.of(event.bank, event.uri)) for event in events],
        "anchor_time": anchor_time,
        "earlier": _format_position(ends[0]) if ends else "",
        "later": _format_position(ends[1]) if ends else "",
        "notes": notes,
    }


def _read_position(text: str) -> TimelinePosition | None:
    """A position in the order of all events, from the URL."""
    if not text:
        return None
    parts = text.split(" ", 3)
    if len(parts) != 4 or len(text) > 500:
        raise InputError("There is no such position on the timeline.", "Open the timeline again.")
    return TimelinePosition(*parts)


def _format_position(event: Event | None) -> str:
    if event is None:
        return ""
    return f"{event.time} {event.kind} {event.uri.rpartition('/')[2]} {event.bank}"
