"""Counts of records over time: of all years, a year, a month, or a day.

A span is the start of an ISO time: "" for all time, `2026`, `2026-03`, `2026-03-01`. It is divided
into the next finer periods; a day into hours.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from typing import NamedTuple

from holdfast.errors import InputError
from holdfast.model.query import TimelinePosition
from holdfast.recall.lookup.timeline import Event, timeline
from holdfast.store.across_tables.overview import PeriodCount
from holdfast.store.protocol import Reader

_SPAN = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
# The length of the periods of a span, by its own length: months, months, days, hours.
_PERIOD_LENGTH = {0: 7, 4: 7, 7: 10, 10: 13}
# All time is counted by months up to this many, else by years: more bars do not fit a page.
_MAX_MONTHS = 40


class Histogram(NamedTuple):
    """The periods of a span, in order and without gaps, and how many records of each kind each
    has."""

    span: str
    periods: tuple[str, ...]
    tallies: tuple[PeriodCount, ...]

    @property
    def total(self) -> int:
        """The number of all records."""
        return sum(tally.records for tally in self.tallies)


def read_span(text: str) -> str:
    """A span as typed into a URL, checked."""
    text = text.strip()
    if not text:
        return ""
    if _SPAN.fullmatch(text) is None or text[:4] == "0000":
        raise InputError(
            f"{text[:40]!r} is not a year, month or day.", "Write 2026, 2026-03 or 2026-03-01."
        )
    if len(text) == 10 and int(text[8:]) > monthrange(int(text[:4]), int(text[5:7]))[1]:
        raise InputError(f"There is no {text}.", "Give another day.")
    return text


def end_of(span: str) -> str:
    """A text that sorts after all times of a span."""
    # "~" comes after every digit and every letter.
    return f"{span}~" if span else "~"


def adjacent_spans(span: str) -> tuple[str, str]:
    """The spans of the same length before and after one; "" for all time."""
    if not span:
        return "", ""
    if len(span) == 4:
        year = int(span)
        return f"{year - 1:04}", f"{year + 1:04}"
    if len(span) == 7:
        first = date(int(span[:4]), int(span[5:]), 1)
        return f"{first - timedelta(days=1):%Y-%m}", f"{first + timedelta(days=32):%Y-%m}"
    day = date.fromisoformat(span)
    return f"{day - timedelta(days=1)}", f"{day + timedelta(days=1)}"


def count_by_period(reader: Reader, bank: str | None, span: str, kinds: Sequence[str]) -> Histogram:
    """Count the records in a span."""
    length = _PERIOD_LENGTH[len(span)]
    tallies = reader.overview.counts_by_period(bank, kinds, length, span, end_of(span))
    periods = _periods(span, sorted({tally.period for tally in tallies}))
    if not span and len(periods) > _MAX_MONTHS:
        tallies = reader.overview.counts_by_period(bank, kinds, 4)
        years = sorted({tally.period for tally in tallies})
        periods = tuple(f"{year:04}" for year in range(int(years[0]), int(years[-1]) + 1))
    known = set(periods)
    return Histogram(span, periods, tuple(tally for tally in tallies if tally.period in known))


def _periods(span: str, found: Sequence[str]) -> tuple[str, ...]:
    """All periods of a span; for all time, from the first month to the last."""
    if len(span) == 10:
        return tuple(f"{span}T{hour:02}" for hour in range(24))
    if len(span) == 7:
        days = monthrange(int(span[:4]), int(span[5:]))[1]
        return tuple(f"{span}-{day:02}" for day in range(1, days + 1))
    if len(span) == 4:
        return tuple(f"{span}-{month:02}" for month in range(1, 13))
    months = [period for period in found if _SPAN.fullmatch(period)]
    if not months:
        return ()
    first, last = (int(period[:4]) * 12 + int(period[5:]) - 1 for period in (months[0], months[-1]))
    return tuple(f"{month // 12:04}-{month % 12 + 1:02}" for month in range(first, last + 1))


def events_in(
    reader: Reader,
    bank: str | None,
    span: str,
    kinds: Sequence[str],
    limit: int,
    after: TimelinePosition | None = None,
    before: TimelinePosition | None = None,
) -> tuple[tuple[Event, ...], bool]:
    """One page of the events in a span, in order, and whether there are more beyond it. The page
    starts after a moment or ends before one; without either it is the first of a span, or the last
    of all time."""
    first, last = TimelinePosition(span or " "), TimelinePosition(end_of(span))
    if after is None and (before is not None or not span):
        at = min(before or last, last)
        found = timeline(reader, bank, at, kinds, limit + 1, 0).events
        inside = [event for event in found if event.time >= span]
        return tuple(inside[-limit:]), len(inside) > limit
    at = max(after or first, first)
    found = timeline(reader, bank, at, kinds, 0, limit + 1).events
    inside = [event for event in found if event.time < last.time]
    return tuple(inside[:limit]), len(inside) > limit
