"""What a week came to: done, decided, learned, open, and what memory got wrong; or any other span
of days."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from fastapi.responses import HTMLResponse

from holdfast.app.core.context import ALL_BANKS, utc_now
from holdfast.app.memory import Holdfast
from holdfast.app.status.home_view import activity
from holdfast.app.status.period_digest import (
    EMPTY_TEXT,
    TITLES,
    PeriodDigest,
    as_markdown,
    digest,
)
from holdfast.errors import InputError
from holdfast.interfaces.http.auth.permissions import CheckedRouter
from holdfast.interfaces.http.core.page_urls import session_url
from holdfast.interfaces.http.pages.page_request import PageRequestDep, Shown
from holdfast.interfaces.ui.formatting import day as day_in_words
from holdfast.interfaces.ui.formatting import link
from holdfast.interfaces.ui.plots import Plot, by_week, count_bars, monday, short_day
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.recall.lookup.origins import Named, origins
from holdfast.store.across_tables.lookup import Record
from holdfast.store.protocol import Reader

router = CheckedRouter(prefix="/week")
# Lines of each part; the rest is counted.
_MAX_ITEMS = 40
# A longer span is drawn by weeks.
_MAX_DAYS_DRAWN = 31
_MAX_DAYS = 3660
# Years of software, and as many more: days around them can be computed.
_YEARS = range(1950, 2200)
_WEEK = timedelta(days=7)


@router.get("")
async def week(
    request: PageRequestDep, of: str = "", bank: str = ALL_BANKS, since: str = "", until: str = ""
) -> HTMLResponse:
    """The week of the day `of`, the latest one with a session by default; or from the day `since`
    to the end of the day `until`."""
    given = [_read_day(text) for text in (of, since, until)]

    def load(memory: Holdfast) -> Shown:
        first, last = _span(memory, *given)
        end = f"{last + timedelta(days=1)}"
        found = digest(memory, bank, f"{first}", end, _MAX_ITEMS)
        bank_id = memory.context.bank_id(bank)
        records = _records(memory.reader, found)
        return {
            "digest": found,
            "first": f"{first}",
            "last": f"{last}",
            "is_week": last - first == _WEEK - timedelta(days=1),
            "before": f"{first - _WEEK}",
            "after": f"{first + _WEEK}" if f"{first + _WEEK}" <= utc_now()[:10] else "",
            "bank": bank,
            "banks": memory.reader.banks.all(),
            "addresses": {
                name: session_url(record) or link(name) for name, record in records.items()
            },
            "origins": origins(
                memory.reader, [Named(record.bank, name) for name, record in records.items()]
            ),
            "plot": _plot(memory, first, last, bank_id),
        }

    shown = await request.pool.read(load)
    span = f"{day_in_words(shown['first'])} to {day_in_words(shown['last'])}"
    return request.render(
        "week.html",
        title=f"Week of {day_in_words(shown['first'])}" if shown["is_week"] else span,
        heads=TITLES,
        empty=EMPTY_TEXT,
        markdown=as_markdown(shown["digest"]),
        **shown,
    )


def _records(reader: Reader, found: PeriodDigest) -> dict[str, Record]:
    """The records that the lines of a digest come from, by their URIs."""
    uris = {item.uri for section in found.sections for item in section.items}
    records = {name: find_by_uri(reader, None, name) for name in uris if name}
    return {name: record for name, record in records.items() if record is not None}


def _read_day(text: str) -> date | None:
    if not text:
        return None
    try:
        found = date.fromisoformat(text[:10])
    except ValueError as error:
        raise InputError(f"{text[:40]!r} is not a date.", "Write it as 2026-11-12.") from error
    if found.year not in _YEARS:
        raise InputError(f"There are no records of {found}.", "Choose a later or earlier day.")
    return found


def _span(
    memory: Holdfast, of: date | None, since: date | None, until: date | None
) -> tuple[date, date]:
    """The first and the last day that are meant."""
    today = datetime.fromisoformat(utc_now()).date()
    if since is not None:
        last = max(since, until or today)
        return max(since, last - timedelta(days=_MAX_DAYS)), last
    latest = memory.reader.sessions.last_end()[:10] or f"{today}"
    start = date.fromisoformat(monday(f"{of}" if of else min(latest, f"{today}")))
    return start, start + _WEEK - timedelta(days=1)


def _plot(memory: Holdfast, first: date, last: date, bank: str | None) -> Plot | None:
    """Sessions by day and bank, or by week for a long span; None if there were none."""
    found = activity(memory, f"{first}", f"{last + timedelta(days=1)}", bank)
    amounts = {(one.day, one.bank): one.sessions for one in found}
    if not amounts:
        return None
    days = (last - first).days + 1
    if days > _MAX_DAYS_DRAWN:
        return by_week(amounts, f"{last}", min(days // 7 + 2, 60), "session")
    spans = [f"{first + timedelta(days=n)}" for n in range(days)]
    every = 1 if days <= 14 else 3
    labels = [short_day(day) if n % every == 0 else "" for n, day in enumerate(spans)]
    return count_bars(amounts, list(zip(spans, labels, strict=True)), "session")
