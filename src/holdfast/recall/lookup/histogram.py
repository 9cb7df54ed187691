"""How records lie over time, to be looked at from near and far: all years, a year, a month, a day.

A span is the start of an ISO time: "" for all of it, `2026`, `2026-03`, `2026-03-01`. What it is
divided into is the next finer one, and of a day its hours.
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
from holdfast.store.protocol import Reader
from holdfast.store.protocol.overview import PeriodCount

KINDS = ("digest", "exchange", "commit", "pull", "issue", "fact", "memory")
_SPAN = re.compile(r"\d{4}(?:-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?)?")
# Of how many digits the parts of a span of so many digits are.
_FINER = {0: 7, 4: 7, 7: 10, 10: 13}
# So many months stand side by side; of more, the years are counted.
_MOST_MONTHS = 40


class Histogram(NamedTuple):
    """What lies in a span: the periods it is divided into, in order and without gaps, and how many
    records of each kind are in each."""

    span: str
    periods: tuple[str, ...]
    tallies: tuple[PeriodCount, ...]

    @property
    def total(self) -> int:
        """All of them together."""
        return sum(tally.records for tally in self.tallies)


def read_span(text: str) -> str:
    """A span as an address has it."""
    text = text.strip()
    if not text:
        return ""
    if _SPAN.fullmatch(text) is None or text[:4] == "0000":
        raise InputError(
            f"{text[:40]!r} is no year, month or day.", "Write 2026, 2026-03 or 2026-03-01."
        )
    if len(text) == 10 and int(text[8:]) > monthrange(int(text[:4]), int(text[5:7]))[1]:
        raise InputError(f"There is no {text}.", "Take another day.")
    return text


def end_of(span: str) -> str:
    """The first moment after a span, as far as it must be spelled; "~" after all of time."""
    # "~" comes after every digit and every letter.
    return f"{span}~" if span else "~"


def adjacent_spans(span: str) -> tuple[str, str]:
    """The spans before and after one of the same length; "" where there is none."""
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
    """Count what lies in a span."""
    digits = _FINER[len(span)]
    tallies = reader.counts_by_period(bank, kinds, digits, span, end_of(span))
    periods = _periods(span, sorted({tally.period for tally in tallies}))
    if not span and len(periods) > _MOST_MONTHS:
        tallies = reader.counts_by_period(bank, kinds, 4)
        years = sorted({tally.period for tally in tallies})
        periods = tuple(f"{year:04}" for year in range(int(years[0]), int(years[-1]) + 1))
    known = set(periods)
    return Histogram(span, periods, tuple(tally for tally in tallies if tally.period in known))


def _periods(span: str, found: Sequence[str]) -> tuple[str, ...]:
    """All parts of a span; of all time, from the first month to the last."""
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
    """One page of what lies in a span, in order, and whether there is more on its far side: after
    a moment, or before one; else the first of a span, and the last of all time."""
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
