"""Spans of the calendar: days, weeks from Monday, months, quarters, northern seasons, and distances
back from a moment.

All moments are local times of the user, without a zone. A span includes its start and excludes its
end. Nothing here reads the clock, and all results lie in the years 1970 to 2199.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from holdfast.lazy_named_tuple import NamedTuple

FIRST_YEAR, LAST_YEAR = 1970, 2199
DAY = timedelta(days=1)
UNITS = {
    unit + plural: unit
    for unit in ("minute", "hour", "day", "week", "fortnight", "month", "quarter", "year")
    for plural in ("", "s")
}
CALENDAR = ("week", "month", "quarter", "year")
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_CLOCK = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTHS = {"month": 1, "quarter": 3, "year": 12}

# How far "three weeks ago" may be off to either side: half its unit.
_SLACK_DAYS = {"day": 0, "week": 3, "fortnight": 7, "month": 15, "quarter": 46, "year": 183}


class Span(NamedTuple):
    """From `start` up to `end`. `cycle` is "year" or "week" for a span named without one, such as
    March or Monday: the same one of another year or week may be meant."""

    start: datetime
    end: datetime
    cycle: str = ""


def midnight(moment: datetime) -> datetime:
    """The start of a moment's day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def add_months(moment: datetime, count: int) -> datetime | None:
    """The same day so many months later, or the last of that month; None outside of 1970-2199."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    first = moment.replace(year=year, month=month + 1, day=1)
    last = ((first + 31 * DAY).replace(day=1) - DAY).day
    return first.replace(day=min(moment.day, last))


def subtract(moment: datetime, count: int, unit: str) -> datetime | None:
    """The moment so many units earlier; None before 1970."""
    if unit in _MONTHS:
        return add_months(moment, -count * _MONTHS[unit])
    gone = _CLOCK[unit] * count if unit in _CLOCK else DAY * (_DAYS[unit] * count)
    if gone > (moment - datetime(FIRST_YEAR, 1, 1)):
        return None
    return moment - gone


def day(moment: datetime) -> Span:
    """The whole day of a moment."""
    start = midnight(moment)
    return Span(start, start + DAY)


def date(year: int, month: int, number: int) -> Span | None:
    """One day of the calendar, or None if there is no such day."""
    start = months(year, month, 1)
    if start is None or not 1 <= number <= 31:
        return None
    found = start.start + DAY * (number - 1)
    return day(found) if found < start.end else None


def far_day(year: int) -> Span:
    """The first or the last day that a range can name, for a day in a year before or after all of
    them: as no record is from such a time, "since" and "before" it mean the same."""
    return day(datetime(FIRST_YEAR, 1, 1) if year < FIRST_YEAR else datetime(LAST_YEAR, 12, 31))


def months(year: int, month: int, count: int) -> Span | None:
    """So many whole months, starting with this one."""
    if not (FIRST_YEAR <= year < LAST_YEAR and 1 <= month <= 12):
        return None
    start = datetime(year, month, 1)
    end = add_months(start, count)
    return Span(start, end) if end else None


def containing(moment: datetime, unit: str) -> Span | None:
    """The week, month, quarter or year that contains a moment."""
    if unit == "week":
        start = midnight(moment) - DAY * moment.weekday()
        return Span(start, start + 7 * DAY)
    length = _MONTHS[unit]
    return months(moment.year, (moment.month - 1) // length * length + 1, length)


def season(name: str, year: int) -> Span | None:
    """A season of three months; winter belongs to the year in which it starts."""
    return months(year, SEASONS[name], 3)


def ago(now: datetime, least: int, most: int, unit: str) -> Span | None:
    """What "so many units ago" may mean: exact for days, with slack for longer units."""
    if unit in _CLOCK:
        off = max(most // 2, 1)
        start, end = subtract(now, most + off, unit), subtract(now, max(least - off, 0), unit)
        return Span(start, end) if start and end else None
    today = midnight(now)
    far, near = subtract(today, most, unit), subtract(today, least, unit)
    if far is None or near is None:
        return None
    slack = DAY * _SLACK_DAYS[unit]
    return Span(far - slack, min(near + slack, today) + DAY)


def rolling(now: datetime, count: int, unit: str) -> Span | None:
    """The last so many units up to now: whole days, and today in addition."""
    if unit in _CLOCK:
        start = subtract(now, count, unit)
        return Span(start, now) if start else None
    start = subtract(midnight(now), count, unit)
    return Span(start, midnight(now) + DAY) if start else None


def part_of(span: Span, part: int, of: int) -> Span:
    """One of several equal parts of a span: whole months of a year, whole days of a month. The end
    of a week starts on Thursday."""
    length = span.end - span.start
    if length == 7 * DAY and of == 3:
        first, last = ((0, 3), (1, 4), (3, 7))[part]
        return Span(span.start + first * DAY, span.start + last * DAY, span.cycle)
    if length >= 365 * DAY and of in (2, 3, 4):
        first = add_months(span.start, 12 // of * part)
        last = add_months(span.start, 12 // of * (part + 1))
        return Span(first or span.start, last or span.end, span.cycle)
    cuts = [span.start + length * part / of, span.start + length * (part + 1) / of]
    if length > 7 * DAY:
        cuts = [midnight(cut + DAY / 2) for cut in cuts]
    return Span(cuts[0], cuts[1], span.cycle)


def shift_back(span: Span, times: int) -> Span | None:
    """The same month or weekday so many years or weeks earlier, or later if negative."""
    if span.cycle == "year":
        start, end = add_months(span.start, -12 * times), add_months(span.end, -12 * times)
        return Span(start, end, span.cycle) if start and end else None
    week = 7 * DAY * times
    if not FIRST_YEAR <= (span.start - week).year < LAST_YEAR:
        return None
    return Span(span.start - week, span.end - week, span.cycle)
