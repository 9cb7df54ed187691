"""The timeline page: events of a span, or around a record, a day or the best match of words."""

from __future__ import annotations

from itertools import groupby
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse

from holdfast.app.memory import Holdfast
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown, ask
from holdfast.model.query import TimelinePosition
from holdfast.recall.lookup.histogram import (
    Histogram,
    adjacent_spans,
    count_by_period,
    events_in,
    read_span,
)
from holdfast.recall.lookup.origins import Named, origins
from holdfast.recall.lookup.timeline import Event

router = CheckedRouter(prefix="/timeline")

# Events on a page, and before and after an anchor.
_MAX_EVENTS, _EVENTS_AROUND = 50, 15
# The name of each kind, singular and plural.
KINDS = {
    "digest": ("session", "sessions"),
    "exchange": ("exchange", "exchanges"),
    "commit": ("commit", "commits"),
    "pull": ("pull", "pulls"),
    "issue": ("issue", "issues"),
    "fact": ("fact", "facts"),
    "memory": ("memory", "memories"),
    "imported": ("imported", "imported"),
}
_MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()


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
    span, at, words, call = read_span(span), at.strip(), q.strip(), request.call
    ends = _read_position(after), _read_position(before)

    def load(memory: Holdfast) -> Shown:
        reader, id = memory.reader, memory.context.bank_id(bank)
        if at or words:
            asked = {"anchor": at, "query": "" if at else words, "bank": bank, "kind": kinds}
            asked |= {"before": _EVENTS_AROUND, "after": _EVENTS_AROUND}
            around = ask(memory, call, "timeline", **asked)
            ids = {name: key for key, name in memory.context.bank_names().items()}
            events, notes = around.events, around.notes
            anchor_day = "" if "://" in around.anchor else around.anchor
            anchor_time = next((e.time for e in events if e.anchor), anchor_day)
            first = last = bool(events)
            within = span or anchor_time[:7]
        else:
            events, more = events_in(reader, id, span, kinds, _MAX_EVENTS, *ends)
            notes, anchor_time, within, ids = (), "", span, {}
            # Whether there are earlier and later ones: of a page that ends before a moment, or is
            # the last of all time, it is known only for those before it.
            is_backwards = ends[0] is None and (ends[1] is not None or not span)
            first = bool(events) and (more if is_backwards else ends[0] is not None)
            last = bool(events) and (ends[1] is not None if is_backwards else more)
        banks = reader.banks.all()
        of_bank = [ids.get(event.bank, event.bank) for event in events]
        named = [Named(b, e.uri, e.session) for b, e in zip(of_bank, events, strict=True)]
        spread = count_by_period(reader, id, within, kinds)
        return {
            "banks": banks,
            "names": {one.id: one.name for one in banks} | {name: name for name in ids},
            "span": spread.span,
            "total": spread.total,
            "periods": spread.periods,
            "lanes": [(kind, counts) for kind in kinds if (counts := tallies(spread, kind))],
            "filled": {one.period for one in spread.tallies},
            "mark": next((one for one in spread.periods if anchor_time.startswith(one)), ""),
            "origins": origins(reader, named),
            "events": events,
            "earlier": _position(events[0], of_bank[0]) if first else "",
            "later": _position(events[-1], of_bank[-1]) if last else "",
            "notes": notes,
        }

    # Words are looked up by recall, which may need a model.
    shown = await (request.pool.run if words else request.pool.read)(load)
    latest_first = not (shown["span"] or at or words)
    events = shown["events"][::-1] if latest_first else shown["events"]
    return request.render(
        "timeline.html",
        title="Timeline",
        days=[(day, list(some)) for day, some in groupby(events, lambda one: one.time[:10])],
        latest_first=latest_first,
        bank=bank,
        at=at,
        words=words,
        kinds=kinds if len(kinds) < len(KINDS) else (),
        all_kinds=KINDS,
        beside=adjacent_spans(shown["span"]),
        period_name=period_name,
        **shown,
    )


def tallies(spread: Histogram, kind: str) -> dict[str, int]:
    """How many records of a kind each period has."""
    return {one.period: one.records for one in spread.tallies if one.kind == kind}


def _read_position(text: str) -> TimelinePosition | None:
    """A position in the order of all events, from the URL."""
    if not text:
        return None
    parts = text.split(" ", 3)
    if len(parts) != 4 or len(text) > 500:
        raise InputError("There is no such position on the timeline.", "Open the timeline again.")
    return TimelinePosition(*parts)


def _position(event: Event, bank: str) -> str:
    return f"{event.time} {event.kind} {event.uri.rpartition('/')[2]} {bank}"


def period_name(period: str, short: bool = False, first: bool = False) -> str:
    """A span or a period as text; if it is `short`, without what the period before it says."""
    month = _MONTHS[int(period[5:7]) - 1] if len(period) >= 7 else ""
    match len(period), short:
        case 13, _:
            return period[11:] if short else f"{period_name(period[:10])}, {period[11:]}:00"
        case 10, _:
            return f"{int(period[8:])}" + ("" if short else f" {month} {period[:4]}")
        case 7, False:
            return f"{month} {period[:4]}"
        case 7, True:
            return f"{month} {period[2:4]}" if first or month == "Jan" else month
        case _:
            return period or "all time"
