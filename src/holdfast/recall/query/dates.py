"""One date or period in a text: an ISO date, or English such as "yesterday", "last week", "3 days
ago", "on Monday", "in March", "5 May 2025". Ranges made of them are in `time_ranges`.

A word that may mean something else (may, march) counts only where what is before it announces a
time. A month or weekday without a year or week is the latest that has begun. All moments are local
times of the user, without a zone; a span includes its start and excludes its end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from holdfast.language import STOPWORDS
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.regex import regex

DAY = timedelta(days=1)
# Records are from between these years; formatting and time zones fail at the ends of the calendar.
FIRST_YEAR, LAST_YEAR = 1970, 2199
# "In 1900" is rather a number than a year.
_YEARS_BACK = 25
# "Recently" means this many days.
_RECENT_DAYS = 14

_MONTHS: Sequence[str] = (
    "january february march april may june july august september october november december".split()
)
_WEEKDAYS: Sequence[str] = "monday tuesday wednesday thursday friday saturday sunday".split()
# Months whose names mean nothing else.
_PLAIN_MONTHS = "january february july september october november december".split()
_NUMBERS: Sequence[str] = "one two three four five six seven eight nine ten".split()
_VAGUE = {"a": (1, 1), "an": (1, 1), "couple": (1, 3), "few": (2, 7), "several": (3, 10)}
_HOURS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
_SHORT_UNITS = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_MONTH_COUNTS = {"month": 1, "quarter": 3, "year": 12}
# How far "three weeks ago" may be off to either side: half its unit.
_SLACK_DAYS = {"day": 0, "week": 3, "fortnight": 7, "month": 15, "quarter": 46, "year": 183}


class Span(NamedTuple):
    """From `start` up to `end`. `cycle` is "year" or "week" for a span named without one, such as
    March or Monday: the same one of another year or week may be meant."""

    start: datetime
    end: datetime
    cycle: str = ""

    def back(self, times: int) -> Span:
        """The same month or weekday so many years or weeks earlier."""
        if self.cycle == "week":
            return self._replace(start=self.start - 7 * times * DAY, end=self.end - 7 * times * DAY)
        start, end = (_months_later(moment, -12 * times) for moment in self[:2])
        return self._replace(start=start, end=end)


class DateAt(NamedTuple):
    """A span, and where its words end."""

    span: Span
    end: int


# The words of a date by what they stand for, in lower case.
_Said = Mapping[str, str]
_Reader = Callable[[_Said, datetime], Span | None]


def read_date(text: str, at: int, end: int, now: datetime, announced: bool) -> DateAt | None:
    """The date or period whose words start at a place. `announced` tells that a word before it,
    such as "in" or "since", announces a time."""
    first = _FIRST_WORD.match(text, at, end)
    word = first[0].lower() if first else ""
    for _, pattern, needs_announcement, read in _RULES_OF.get("#" if word.isdigit() else word, ()):
        if announced or not needs_announcement:
            found = pattern.match(text, at, end)
            if found and (date := _read(read, found, now)):
                return date
    return None


def read_iso_date(text: str, at: int, end: int, now: datetime) -> DateAt | None:
    """The same for a day or month in ISO form, which every language writes alike."""
    found = _ISO.match(text, at, end)
    return _read(_iso, found, now) if found else None


def _read(read: _Reader, found: re.Match[str], now: datetime) -> DateAt | None:
    said = {name: part.lower() for name, part in found.groupdict().items() if part}
    try:
        span = read(said, now)
    except (ValueError, OverflowError):  # there is no such day
        return None
    if span is None or span.start.year < FIRST_YEAR or span.end.year > LAST_YEAR + 1:
        return None
    return DateAt(span, found.end())


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _months_later(moment: datetime, count: int) -> datetime:
    """The same day so many months later, or the last of that month."""
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    first = moment.replace(year=year, month=month + 1, day=1)
    last = ((first + 31 * DAY).replace(day=1) - DAY).day
    return first.replace(day=min(moment.day, last))


def _subtract(moment: datetime, count: int, unit: str) -> datetime:
    if unit in _MONTH_COUNTS:
        return _months_later(moment, -count * _MONTH_COUNTS[unit])
    return moment - count * (_SHORT_UNITS.get(unit) or _DAYS[unit] * DAY)


def _day(moment: datetime, part: str = "", cycle: str = "") -> Span:
    first, last = _HOURS.get(part, (0, 24))
    start = _midnight(moment)
    return Span(start + first * timedelta(hours=1), start + last * timedelta(hours=1), cycle)


def _containing(moment: datetime, unit: str) -> Span:
    """The calendar week, month, quarter or year of a moment."""
    if unit == "week":
        start = _midnight(moment) - DAY * moment.weekday()
        return Span(start, start + 7 * DAY)
    count = _MONTH_COUNTS[unit]
    start = datetime(moment.year, (moment.month - 1) // count * count + 1, 1)
    return Span(start, _months_later(start, count))


def _count(said: str) -> tuple[int, int]:
    """The least and the most that a number in words or digits means."""
    word = said.removesuffix(" of").rpartition(" ")[2]
    if word in _VAGUE:
        return _VAGUE[word]
    number = int(word) if word.isdigit() else _NUMBERS.index(word) + 1
    return number, number


def _number_of(name: str, names: Sequence[str]) -> int:
    return next(n for n, one in enumerate(names) if one.startswith(name[:3]))


def _near(said: _Said, now: datetime) -> Span:
    """Such as "yesterday evening", "this morning", "last night"."""
    back = {"day before yesterday": 2, "yesterday": 1, "last night": 1}.get(said["near"], 0)
    at_night = {"last night": "night", "tonight": "evening"}.get(said["near"], "")
    return _day(now - back * DAY, said.get("part", at_night))


def _ago(said: _Said, now: datetime) -> Span:
    (least, most), unit = _count(said["count"]), said["unit"]
    if unit in _SHORT_UNITS:
        off = max(most // 2, 1)
        return Span(_subtract(now, most + off, unit), _subtract(now, max(least - off, 0), unit))
    today, slack = _midnight(now), DAY * _SLACK_DAYS[unit]
    start, end = _subtract(today, most, unit) - slack, _subtract(today, least, unit) + slack
    return Span(start, min(end, today) + DAY)


def _last_units(said: _Said, now: datetime) -> Span:
    """Such as "the last 10 days", "the past week": up to now, and today in addition."""
    (_, most), unit = _count(said.get("count", "one")), said["unit"]
    if unit in _SHORT_UNITS:
        return Span(_subtract(now, most, unit), now)
    return Span(_subtract(_midnight(now), most, unit), _midnight(now) + DAY)


def _calendar_unit(said: _Said, now: datetime) -> Span:
    """Such as "this month", "last week", "the year before last"."""
    span = _containing(now, said["unit"])
    for _ in range({"this": 0, "last": 1, "previous": 1}.get(said.get("which", ""), 2)):
        span = _containing(span.start - DAY, said["unit"])
    return span


def _weekend(said: _Said, now: datetime) -> Span:
    """The one of this week; after "last", and on a weekday without "this", that of the week
    before."""
    which = said.get("which", "" if now.weekday() < 5 else "this")
    saturday = _midnight(now) + (5 - now.weekday() - 7 * (which != "this")) * DAY
    return Span(saturday, saturday + 2 * DAY, "week")


def _weekday(said: _Said, now: datetime) -> Span:
    """The latest such day; after "last" one before today."""
    back = (now.weekday() - _number_of(said["weekday"], _WEEKDAYS)) % 7
    back += 7 * (back == 0 and said.get("which") == "last")
    return _day(now - back * DAY, said.get("part", ""), "week")


def _iso(said: _Said, now: datetime) -> Span:
    start = datetime(int(said["year"]), int(said["number"]), int(said.get("day", "1")))
    # As no record is from such a time, the first and the last day mean the same.
    start = min(max(start, datetime(FIRST_YEAR, 1, 1)), datetime(LAST_YEAR, 12, 1))
    return _day(start) if "day" in said else _containing(start, "month")


def _dated(said: _Said, now: datetime) -> Span:
    """Such as "5 March 2026", "March 5th", "9 to 15 March"; without a year the latest."""
    month, number = _number_of(said["month"], _MONTHS) + 1, int(said["day"])
    if "year" in said:
        span = _day(datetime(int(said["year"]), month, number))
    else:
        span = _latest_day(month, number, now)
    first = min(int(said.get("first", number)), number)
    return span._replace(start=span.start.replace(day=first))


def _latest_day(month: int, number: int, now: datetime) -> Span:
    """The latest such day that has begun. February 29th is at most eight years ago."""
    for year in range(now.year, now.year - 9, -1):
        try:
            start = datetime(year, month, number)
        except ValueError:
            continue
        if start <= now:
            return _day(start, cycle="year")
    raise ValueError


def _month(said: _Said, now: datetime) -> Span:
    """A month of a year; without a year the latest that has begun, after "last" one that is
    over."""
    month = _number_of(said["month"], _MONTHS) + 1
    if "year" in said:
        return _containing(datetime(int(said["year"]), month, 1), "month")
    is_ahead = month > now.month or (month == now.month and said.get("which") == "last")
    return _containing(datetime(now.year - is_ahead, month, 1), "month")._replace(cycle="year")


def _year(said: _Said, now: datetime) -> Span | None:
    """A bare year, not before a noun that it may count."""
    year = int(said["year"])
    if said.get("noun", "the") not in STOPWORDS or not 0 <= now.year - year <= _YEARS_BACK:
        return None
    return _containing(datetime(year, 1, 1), "year")


def _recently(said: _Said, now: datetime) -> Span:
    return Span(_midnight(now) - _RECENT_DAYS * DAY, _midnight(now) + DAY)


_PLACES = {
    "[unit]": r"(?P<unit>minute|hour|day|week|fortnight|month|quarter|year)s?(?! of)",
    "[calendar]": r"(?P<unit>week|month|quarter|year)(?! of)",
    "[count]": rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)}|(?:a )?couple(?: of)?|(?:a )?few|"
    r"several|an?)",
    "[month]": rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(name[:3] for name in _MONTHS)}|sept)",
    "[weekday]": rf"(?P<weekday>{'|'.join(_WEEKDAYS)})",
    "[part]": r"(?P<part>morning|afternoon|evening)",
    "[day]": r"(?P<day>\d\d?)(?:st|nd|rd|th)?",
    "[year]": r"(?P<year>(?:19|20)\d\d)",
    # "It may 5 times fail", "march 3 files": these two in small letters are verbs.
    "[capital]": "(?!(?-i:may|mar))",
    "[last]": r"(?:(?P<which>last|this) )",
}


def _compile(pattern: str) -> re.Pattern[str]:
    """A pattern with its places filled in, of whole words that are no part of a path or a call."""
    for place, said in _PLACES.items():
        pattern = pattern.replace(place, said)
    pattern = pattern.replace(" ", r"\s+")
    return regex(rf"(?:{pattern})(?:['’]s\b)?(?![\w/`(]|[-.:]\w)", re.IGNORECASE)


_ISO = _compile(r"(?P<year>\d{4})-(?P<number>\d\d)(?:-(?P<day>\d\d))?(?! \d\d?:\d)")
_FULL_MONTHS = " ".join(_MONTHS)
_ALL_MONTHS = f"{_FULL_MONTHS} {' '.join(name[:3] for name in _MONTHS)} sept"
_ALL_WEEKDAYS = " ".join(_WEEKDAYS)
_COUNTS = f"# {' '.join(_NUMBERS)} {' '.join(_VAGUE)}"
# The words that a date begins with ("#" is a number), its pattern, whether a word before it must
# announce a time, and what reads it.
_RULES: tuple[tuple[str, re.Pattern[str], bool, _Reader], ...] = (
    ("#", _ISO, False, _iso),
    ("day yesterday today", _compile("(?P<near>day before yesterday|yesterday|today)(?: [part])?"),
     False, _near),
    ("this", _compile("(?P<near>this) [part]"), False, _near),
    ("last tonight", _compile("(?P<near>last night|tonight)"), False, _near),
    (_COUNTS, _compile("[count] [unit] (?:ago|back)"), False, _ago),
    ("last previous past", _compile("(?:last|previous|past) [count] [unit]"), False, _last_units),
    ("past", _compile("past [unit]"), False, _last_units),
    ("last", _compile("last (?P<unit>hour|day)(?! of)"), False, _last_units),
    ("last previous this", _compile("(?P<which>last|previous|this) [calendar]"), False,
     _calendar_unit),
    ("week month year", _compile("(?P<unit>week|month|year) before last"), False, _calendar_unit),
    ("last this", _compile("[last]weekend"), False, _weekend),
    ("weekend", _compile("weekend"), True, _weekend),
    (f"last this {_ALL_WEEKDAYS}", _compile("[last]?[weekday](?: [part])?"), False, _weekday),
    ("mon tue wed thu fri", _compile("(?P<weekday>mon|tue|wed|thu|fri)"), True, _weekday),
    ("#", _compile(r"(?:(?P<first>\d\d?)(?:[-–—]| (?:to|until|through|and|[-–—]) ))?"
                   "[day](?: of)? [capital][month](?:,? [year])?"), False, _dated),
    (_ALL_MONTHS, _compile("[capital][month] [day](?:,? [year])?"), False, _dated),
    (_ALL_MONTHS, _compile("[month](?: of)? [year]"), False, _month),
    ("last this", _compile("[last][month]"), False, _month),
    (" ".join(_PLAIN_MONTHS), _compile(r"(?P<month>\w+)(?! \d)"), False, _month),
    (_FULL_MONTHS, _compile(r"(?P<month>\w+)(?! \d)"), True, _month),
    ("#", _compile(r"[year](?! \d)(?= (?P<noun>\w+)|)"), True, _year),
    ("recently lately", _compile("recently(?! used)|lately"), False, _recently),
)  # fmt: skip
_FIRST_WORD = regex(r"\d|[a-z]+", re.IGNORECASE)
_RULES_OF = {
    word: [rule for rule in _RULES if word in rule[0].split()]
    for rule in _RULES
    for word in rule[0].split()
}
