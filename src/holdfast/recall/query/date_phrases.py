"""One date or period in English words: "last Friday", "three weeks ago", "early March", "Q2 2025".
Dates of other languages come here as English (`foreign_dates`).

`DateReader.read` tries one reader method after the other at a token. Ranges ("from X to Y") are in
`time_phrases`.

A word that may mean something else (may, march, sun, spring, dec) counts only where its neighbours
make it a time. A month or weekday without a year or week is the latest that has begun. `3/5/2026`
is read only if one order of its parts is possible and past; with dots the day comes first. Future
("next Monday") and repeated times ("every day") are never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from holdfast.language import STOPWORDS
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.recall.query.calendar_spans import (
    CALENDAR,
    DAY,
    FIRST_YEAR,
    LAST_YEAR,
    SEASONS,
    UNITS,
    Span,
    ago,
    containing,
    date,
    day,
    far_day,
    midnight,
    months,
    part_of,
    rolling,
    season,
    shift_back,
)
from holdfast.regex import regex

_PIECE = regex(r"mid-(?=\w)|[–—]|[^\s–—]+", re.IGNORECASE)
_NUMERIC = regex(r"(\d{4,9})([-/])(\d\d?)(?:\2(\d\d?))?|(\d\d?)([/.])(\d\d?)\6(\d{4})")
_CLOCK = regex(r"\d\d?:\d\d")
_ORDINAL = regex(r"([0-3]?\d)(st|nd|rd|th)?")
_DAYS = regex(r"(\d{1,2})[-–—](\d{1,2})")
_DAY_JOINTS = frozenset(("to", "until", "till", "through", "-", "–", "—"))
_QUARTER = regex(r"q([1-4])(?:[-/]?(20\d\d))?|(20\d\d)[-/]?q([1-4])")
_WRAPPING = "\"'“”‘’()[]{}<>.,;:!?*…"

_MONTHS = (
    "january february march april may june july august september october november december".split()
)
_MONTH = {spelled: n for n, name in enumerate(_MONTHS, 1) for spelled in (name, name[:3])} | {
    "sept": 9
}
_BARE_MONTHS = frozenset(_MONTHS) - {"march", "april", "may", "june", "august"}
_DOUBTFUL_MONTHS = frozenset("march may mar sep oct dec".split())
_DOUBTFUL_SHORT = _DOUBTFUL_MONTHS - {"march", "may"}
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY = {name: n for n, name in enumerate(_WEEKDAYS)}
_SHORT_WEEKDAY = {name[:3]: n for n, name in enumerate(_WEEKDAYS)} | {
    "tues": 1, "weds": 2, "thur": 3, "thurs": 3,
}  # fmt: skip
_COUNTS = {
    word: (n, n)
    for n, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
} | {"a": (1, 1), "an": (1, 1), "couple": (1, 3), "few": (2, 7), "several": (3, 10)}
_DAYPARTS = {"morning": (0, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)}
_NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3}
_PARTS = {
    "early": (0, 3), "beginning": (0, 3), "start": (0, 3), "mid": (1, 3), "mid-": (1, 3),
    "middle": (1, 3), "late": (2, 3), "end": (2, 3),
}  # fmt: skip
_LAST = ("last", "previous", "past")
_THIS = ("this", "current")
_AHEAD_OR_REPEATING = frozenset("next every each any coming following per".split())


class Token(NamedTuple):
    """A word of the text in lower case, its spelling, its position, and whether a comma follows. An
    empty word is the end of a sentence."""

    word: str
    spelled: str = ""
    start: int = 0
    end: int = 0
    comma: bool = False


class SpanAt(NamedTuple):
    """A span, and the index of the first token after its words."""

    span: Span
    after: int


def _at(span: Span | None, after: int, cycle: str = "") -> SpanAt | None:
    """The span with the index after its words, and with a cycle if one is given."""
    if span is None:
        return None
    return SpanAt(span._replace(cycle=cycle) if cycle else span, after)


def tokenize(text: str, start: int, end: int) -> list[Token]:
    """The tokens of a part of a text; names and numbers of code stay in one piece."""
    found: list[Token] = []
    for match in _PIECE.finditer(text, start, end):
        core = match[0].strip(_WRAPPING)
        if not core:
            found.append(Token(""))
            continue
        first = match.start() + match[0].index(core)
        tail = text[first + len(core) : match.end()]
        word = core.lower().removesuffix("'s").removesuffix("’s") + "()" * ("(" in tail)
        found.append(Token(word, core, first, first + len(core), "," in tail))
        if any(stop in tail for stop in ".!?;:") and word not in _MONTH:
            found.append(Token(""))
    return found


class DateReader:
    """Reads the date or period that starts at a token."""

    def __init__(self, tokens: Sequence[Token], now: datetime) -> None:
        self.tokens = tokens
        self.now = now
        self.today = midnight(now)

    def word(self, at: int) -> str:
        """The word at an index; "" outside of the text and between sentences."""
        return self.tokens[at].word if 0 <= at < len(self.tokens) else ""

    def read(self, at: int, after_preposition: bool = False) -> SpanAt | None:
        """The span that starts at this token, or None. `after_preposition` tells that a word before
        it, such as "in" or "since", announces a time."""
        if self.word(at - 1) in _AHEAD_OR_REPEATING or not self.word(at):
            return None
        return (
            self._read_slice(at) or self._read_part(at) or self._read_whole(at, after_preposition)
        )

    def _read_whole(self, at: int, after_preposition: bool) -> SpanAt | None:
        readers: tuple[Callable[[int, bool], SpanAt | None], ...] = (
            self._read_fixed,
            self._read_ago,
            self._read_last,
            self._read_weekday,
            self._read_numeric,
            self._read_days,
            self._read_week_of,
            self._read_dated,
            self._read_month,
            self._read_quarter,
            self._read_season,
            self._read_year,
        )
        return next((found for reader in readers if (found := reader(at, after_preposition))), None)

    def count(self, at: int) -> tuple[int, int, int] | None:
        """A number in words or digits: its least and most value, and the index after it."""
        word = self.word(at)
        if word == "a" and self.word(at + 1) in ("few", "couple"):
            at, word = at + 1, self.word(at + 1)
        if word.isascii() and word.isdigit() and len(word) <= 4:
            return int(word), int(word), at + 1
        if word not in _COUNTS:
            return None
        return *_COUNTS[word], at + (2 if word == "couple" and self.word(at + 1) == "of" else 1)

    def _read_fixed(self, at: int, after_preposition: bool) -> SpanAt | None:
        word, today = self.word(at), self.today
        three = " ".join(self.word(n) for n in range(at, at + 3))
        if three == "day before yesterday":
            return SpanAt(day(today - 2 * DAY), at + 3)
        if three in ("week before last", "month before last", "year before last"):
            return self._calendar_unit_before(at + 3, word, 2)
        if word in ("today", "yesterday"):
            return self._with_daypart(day(today - DAY * (word == "yesterday")), at + 1)
        if word == "tonight":
            return self._with_daypart(day(today), at, "evening")
        if word in ("recently", "lately") and self.word(at + 1) != "used":
            return SpanAt(rolling(self.now, 14, "day") or day(today), at + 1)
        if word == "other" and self.word(at + 1) == "day" and self.word(at - 1) == "the":
            return SpanAt(Span(today - 10 * DAY, today), at + 2)
        return None

    def _with_daypart(self, span: Span, at: int, part: str = "") -> SpanAt:
        part = part or self.word(at)
        if part not in _DAYPARTS:
            return SpanAt(span, at)
        first, last = (span.start + DAY * hour / 24 for hour in _DAYPARTS[part])
        return SpanAt(Span(first, last, span.cycle), at + 1)

    def _read_ago(self, at: int, after_preposition: bool) -> SpanAt | None:
        count = self.count(at)
        unit = UNITS.get(self.word(count[2])) if count else None
        if not count or not unit or self.word(count[2] + 1) not in ("ago", "back"):
            return None
        return _at(ago(self.now, count[0], count[1], unit), count[2] + 2)

    def _calendar_unit_before(self, after: int, unit: str, count: int) -> SpanAt | None:
        """The calendar week, month, quarter or year, so many before this one."""
        span = containing(self.now, unit)
        for _ in range(count):
            span = containing(span.start - DAY, unit) if span else None
        return _at(span, after)

    def _read_slice(self, at: int) -> SpanAt | None:
        """Such as "First week of March", "second half of 2025", "first quarter of 2026"."""
        which, unit = self.word(at), self.word(at + 1)
        if self.word(at + 2) != "of" or (which not in _NTH and which != "last"):
            return None
        inner = self._read_inner(at + 3)
        if not inner:
            return None
        span, number = inner.span, _NTH.get(which)
        if unit in ("half", "quarter"):
            of = 2 if unit == "half" else 4
            number = of - 1 if number is None else number
            return SpanAt(part_of(span, number, of), inner.after) if number < of else None
        length = {"day": DAY, "week": 7 * DAY}.get(unit)
        if not length:
            return None
        start = span.end - length if number is None else span.start + length * number
        return SpanAt(Span(start, start + length, span.cycle), inner.after)

    def _read_inner(self, at: int) -> SpanAt | None:
        """The longer span of which a part is taken; "the month" is this month."""
        at += self.word(at) in ("of", "in")
        if self.word(at) != "the":
            return self._read_whole(at, True)
        unit = self.word(at + 1)
        return (
            self._calendar_unit_before(at + 2, unit, 0)
            if unit in CALENDAR
            else self._read_whole(at + 1, True)
        )

    def _read_part(self, at: int) -> SpanAt | None:
        word = self.word(at)
        if word == "earlier":
            found = (
                self._read_whole(at + 1, False) if self.word(at + 1) in ("this", "today") else None
            )
            if found and found.span.start < self.now:
                return SpanAt(Span(found.span.start, self.now), found.after)
            return None
        if word not in _PARTS or (
            word in ("beginning", "start", "middle", "end") and self.word(at + 1) != "of"
        ):
            return None
        inner = self._read_inner(at + 1)
        return SpanAt(part_of(inner.span, *_PARTS[word]), inner.after) if inner else None

    def _read_last(self, at: int, after_preposition: bool) -> SpanAt | None:
        word, what = self.word(at), self.word(at + 1)
        if word not in _LAST and word not in _THIS:
            return None
        if what in SEASONS:
            return self._latest_season(at + 2, what, word in _LAST)
        if what in _DAYPARTS and (word == "this" or what == "night"):
            return self._with_daypart(day(self.today - DAY * (word in _LAST)), at + 1)
        if what in _MONTH or what in _WEEKDAY or what in _SHORT_WEEKDAY:
            return self._read_last_named(at + 1, word)
        if word in _LAST:
            return self._read_last_units(at, word)
        return (
            self._calendar_unit_before(at + 2, what, 0)
            if what in CALENDAR
            else self._weekend(at + 1, 0)
        )

    def _read_last_units(self, at: int, word: str) -> SpanAt | None:
        count, what = self.count(at + 1), self.word(at + 1)
        if count and (unit := UNITS.get(self.word(count[2]))):
            return _at(rolling(self.now, count[1], unit), count[2] + 1)
        if what in CALENDAR and self.word(at + 2) != "of":
            if word != "past":
                return self._calendar_unit_before(at + 2, what, 1)
            return _at(rolling(self.now, 1, what), at + 2)
        if what in ("day", "hour", "fortnight") and self.word(at + 2) != "of":
            return _at(rolling(self.now, 1, what), at + 2)
        return self._weekend(at + 1, 1)

    def _weekend(self, at: int, back: int) -> SpanAt | None:
        if self.word(at) != "weekend":
            return None
        saturday = self.today - DAY * (self.today.weekday() - 5) - 7 * DAY * back
        return SpanAt(Span(saturday, saturday + 2 * DAY, "week"), at + 1)

    def _read_last_named(self, at: int, word: str) -> SpanAt | None:
        """Such as "last Tuesday", "last Friday morning", "last March": one that is over, so not
        this month, and never today, whatever part of the day is named."""
        found = (
            self._read_weekday(at, True) or self._read_dated(at, True) or self._read_month(at, True)
        )
        if not found or word in _THIS or not found.span.cycle:
            return found
        over = found.span.end <= self.now and found.span.start < self.today
        return found if over else _at(shift_back(found.span, 1), found.after)

    def _read_weekday(self, at: int, after_preposition: bool) -> SpanAt | None:
        word = self.word(at)
        number = _WEEKDAY.get(word)
        if number is None and after_preposition:
            # "sat" and "sun" are mostly a verb and a company.
            fits = word not in ("sat", "sun") or self.word(at - 1) in (*_LAST, *_THIS)
            number = _SHORT_WEEKDAY.get(word) if fits else None
        if word == "weekend" and after_preposition and self.word(at - 1) == "the":
            return self._weekend(at, int(self.today.weekday() < 5))
        if number is None:
            return None
        behind = (self.today.weekday() - number) % 7
        found = day(self.today - DAY * behind)
        return self._with_daypart(found._replace(cycle="week"), at + 1)

    def _read_numeric(self, at: int, after_preposition: bool) -> SpanAt | None:
        match = _NUMERIC.fullmatch(self.word(at))
        # A date with a time of day is mostly from a log.
        if not match or _CLOCK.match(self.word(at + 1)):
            return None
        year, _, month, number, one, sign, two, late_year = match.groups()
        if year:
            if not number:
                return _at(months(int(year), int(month), 1), at + 1)
            # The month and the day are checked in a leap year.
            is_far = not FIRST_YEAR <= int(year) < LAST_YEAR and date(2000, int(month), int(number))
            span = far_day(int(year)) if is_far else date(int(year), int(month), int(number))
            return _at(span, at + 1)
        orders = ((two, one),) if sign == "." else dict.fromkeys(((one, two), (two, one)))
        spans = [date(int(late_year), int(m), int(d)) for m, d in orders]
        past = [span for span in spans if span and span.start <= self.now]
        return SpanAt(past[0], at + 1) if len(past) == 1 else None

    def _ordinal(self, at: int) -> int:
        match = _ORDINAL.fullmatch(self.word(at))
        return int(match[1]) if match and 1 <= int(match[1]) <= 31 else 0

    def _year_at(self, at: int) -> int:
        word = self.word(at)
        return int(word) if len(word) == 4 and word.isascii() and word.isdigit() else 0

    def _read_days(self, at: int, after_preposition: bool) -> SpanAt | None:
        """Such as "9 to 15 March", "9-15 March 2026", "between 9 and 15 March"."""
        if joined := _DAYS.fullmatch(self.word(at)):
            ends = [Token(joined[1], joined[1]), Token("to"), Token(joined[2], joined[2])]
            apart = DateReader([*ends, *self.tokens[at + 1 :]], self.now)._read_days(0, True)
            return apart._replace(after=apart.after - 2 + at) if apart else None
        first, joint = self._ordinal(at), self.word(at + 1)
        is_range = joint in _DAY_JOINTS or (joint == "and" and self.word(at - 1) == "between")
        last = self._read_dated(at + 2, True) if first and is_range else None
        if last is None or first >= last.span.start.day:
            return None
        start = last.span.start - DAY * (last.span.start.day - first)
        return last._replace(span=last.span._replace(start=start))

    def _read_week_of(self, at: int, after_preposition: bool) -> SpanAt | None:
        """Such as "week of 9 March": the calendar week of that day, or the days that are named."""
        if (self.word(at), self.word(at + 1)) != ("week", "of"):
            return None
        found = self._read_whole(at + 2 + (self.word(at + 2) == "the"), True)
        if found is None or found.span.end - found.span.start > DAY:
            return found
        week = containing(found.span.start, "week")
        return found._replace(span=week._replace(cycle=found.span.cycle)) if week else None

    def _read_dated(self, at: int, after_preposition: bool) -> SpanAt | None:
        """Such as "5 March 2026", "the 5th of March", "March 5th", "Mar 5, 2026"."""
        number = self._ordinal(at)
        place = at + 1 + (self.word(at + 1) == "of") if number else at
        month = _MONTH.get(self.word(place), 0)
        after = place + 1
        if month and not number:
            number, after = self._ordinal(place + 1), place + 2
        if not month or not number:
            return None
        year = self._year_at(after)
        name = self.tokens[place]
        if name.word in _DOUBTFUL_MONTHS and not (
            year or after_preposition or name.spelled[0].isupper()
        ):
            return None
        if year:
            return _at(date(year, month, number), after + 1)
        # February 29th is at most eight years ago.
        past = (date(self.now.year - n, month, number) for n in range(9))
        return _at(
            next((found for found in past if found and found.start <= self.now), None),
            after,
            "year",
        )

    def _read_month(self, at: int, after_preposition: bool) -> SpanAt | None:
        word = self.word(at)
        month = _MONTH.get(word)
        if not month:
            return None
        after = at + 1 + (self.word(at + 1) == "of")
        if year := self._year_at(after):
            return _at(months(year, month, 1), after + 1)
        upper = self.tokens[at].spelled[0].isupper()
        if (
            word not in _BARE_MONTHS
            and not after_preposition
            and not (upper and self.word(at - 1) == "the")
        ):
            return None
        no_such_day = self._ordinal(at + 1) and self._year_at(at + 2)
        if no_such_day or (word == "jan" and self.word(at - 1) in ("from", "by")):
            return None
        if not upper and (word in _DOUBTFUL_SHORT or self.word(at + 1) in ("be", "have", "not")):
            return None
        return _at(months(self.now.year - (month > self.now.month), month, 1), at + 1, "year")

    def _read_quarter(self, at: int, after_preposition: bool) -> SpanAt | None:
        match = _QUARTER.fullmatch(self.word(at))
        if not match:
            return None
        number = int(match[1] or match[4])
        after = at + 1 + (self.word(at + 1) == "of")
        year = int(match[2] or match[3] or 0) or self._year_at(after)
        if year:
            return _at(
                months(year, number * 3 - 2, 3), at + 1 if match[2] or match[3] else after + 1
            )
        if not after_preposition:
            return None
        begun = number * 3 - 2 <= self.now.month
        return _at(months(self.now.year - (not begun), number * 3 - 2, 3), at + 1, "year")

    def _read_season(self, at: int, after_preposition: bool) -> SpanAt | None:
        """Such as "Spring" is a framework and "fall" a verb, so these two need "the" or a year."""
        name = self.word(at)
        if name not in SEASONS:
            return None
        after = at + 1 + (self.word(at + 1) == "of")
        if year := self._year_at(after):
            return _at(season(name, year), after + 1)
        announced = self.word(at - 1) in ("the", *_PARTS) and self._no_noun_follows(at)
        if not after_preposition or (name in ("spring", "fall") and not announced):
            return None
        return self._latest_season(at + 1, name, False)

    def _latest_season(self, after: int, name: str, over: bool) -> SpanAt | None:
        spans = (season(name, self.now.year - n) for n in range(3))
        for span in spans:
            if span and (span.end if over else span.start) <= self.now:
                return SpanAt(span._replace(cycle="year"), after)
        return None

    def _no_noun_follows(self, at: int) -> bool:
        """Whether no noun follows that the word would describe or count."""
        follows = self.word(at + 1)
        return not follows or follows in STOPWORDS or self.tokens[at].comma

    def _read_year(self, at: int, after_preposition: bool) -> SpanAt | None:
        """A bare year: only after a preposition, not before a noun that it may count."""
        year = self._year_at(at)
        if (
            not after_preposition
            or not self._no_noun_follows(at)
            or not self.now.year - 25 <= year <= self.now.year
        ):
            return None
        return _at(months(year, 1, 12), at + 1)
