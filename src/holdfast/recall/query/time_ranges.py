"""Time ranges in a question: "last week", "between March and May", "since v1.3", "until Monday".

A single date or period is read by `dates`, in English; in other languages only dates in ISO form
are. A word that is not surely a time is not read as one, because a wrong range hides what a
question without one would find. "Since", "from", "until" and "by" include the day or month they
name, "before" and "after" exclude it. Several phrases are intersected; where they do not overlap,
the range covers all of them. Of a long text only the first and the last line are read: dates in a
pasted log are not its time.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime

from holdfast.function_words import language_of
from holdfast.language import STOPWORDS, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.recall.query.dates import (
    FIRST_YEAR,
    LAST_YEAR,
    DateAt,
    Span,
    read_date,
    read_iso_date,
)
from holdfast.recall.query.terms import QUESTION_WORDS
from holdfast.regex import regex
from holdfast.times import format_time

LandmarkLookup = Callable[[str], datetime | None]

# Queries up to this length are read whole; of longer ones, this much of the first and last line.
_MAX_WHOLE = 2_000
_MAX_LINE = 500
# A landmark's name is at most this long ("the last release of beta").
_MAX_LANDMARK_WORDS = 4
# How many weeks or years back "Tuesday last week" is looked for.
_MAX_CYCLES = 60

# A word that is no part of a path, a name or code.
_WORD = regex(r"(?<![\w`./-])\w[\w'’]*")
_LEAD = regex(
    r"(?P<word>in|on|during|over|within|throughout|around|from|since|after|before|prior to|until|"
    r"till|by|between|at|of|for|about)\s+(?:the\s+|our\s+|my\s+|about\s+|around\s+)?",
    re.IGNORECASE,
)
_WEAK = frozenset("at of for about".split())
_START = frozenset(("since", "after"))
_END = frozenset(("before", "prior to", "until", "till", "by"))
_BEFORE_LANDMARKS = _START | _END - {"by"} | {"between"}
_TO = regex(r"\s*[-–—]\s*|\s+(?:to|until|till|through)\s+", re.IGNORECASE)
_AND = regex(r"\s+and\s+", re.IGNORECASE)
_ARTICLE = regex(r"(?:the|an?|our|my)\s+", re.IGNORECASE)
_NOW = regex(r"now\b", re.IGNORECASE)
_ONWARDS = regex(r"\s+on(?:wards?)?\b(?!\s+\w)", re.IGNORECASE)
_TIMESTAMP = regex(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:?\d\d)?(?![\w])", re.IGNORECASE)
_NAME = regex(r"[^\s,;:!?\"”)]*\w")
_AHEAD_OR_REPEATING = regex(r"\b(?:next|every|each|any|coming|following|per)\s+$", re.IGNORECASE)

# Stems that add nothing to a time: a query of these and a time asks for whatever happened then.
_EMPTY_STEMS = frozenset(
    stem(word)
    for word in "work do happen change new news thing stuff everything anything something "
    "activity progress session conversation chat commit summary summarise summarize recap review "
    "overview history timeline log going back since far task project week day month period".split()
)


class TimeRange(NamedTuple):
    """From `start` up to, but without, `end`, in UTC as records spell times; "" is open. `phrase`
    are the words that were read as the time, `rest` is the query without them, and `only_time`
    tells that the rest asks for nothing in particular."""

    start: str
    end: str
    phrase: str
    only_time: bool
    rest: str = ""

    def contains(self, time: str) -> bool:
        """Whether a time lies in the range; False for ""."""
        return bool(time) and self.start <= time and (not self.end or time < self.end)


class _Range(NamedTuple):
    """A span that may be open at one end, and where its words end."""

    start: datetime | None
    stop: datetime | None
    end: int
    cycle: str = ""


def read_time_range(query: str, now: datetime, landmark: LandmarkLookup) -> TimeRange | None:
    """The time range that a query asks about, or None. Days are those of `now`'s time zone.

    `landmark` looks up the time of names such as "release", "v1.4.0" or "last session". It is
    called with the words after "before", "after", "since", "until" or "between", without their
    article, the longest run of words first; if it returns None for all, they are not a time.
    """
    zone = now.tzinfo or UTC
    ranges: list[_Range] = []
    phrases: list[tuple[int, int]] = []
    for first, last in _parts_to_read(query):
        reader = _RangeReader(query, last, now, landmark)
        at = first
        while word := _WORD.search(query, at, last):
            found = reader.read(word.start())
            if found:
                ranges.append(found)
                phrases.append((word.start(), found.end))
            at = found.end if found else word.end()
    if not ranges:
        return None
    # Of an hour that a clock shows twice, the second may seem the earlier.
    spelled = [
        format_time(moment.replace(tzinfo=zone)) if moment else "" for moment in _overlap(ranges)
    ]
    start, end = sorted(spelled) if all(spelled) else spelled
    rest = _without(query, phrases)
    phrase = " ".join(query[first:last] for first, last in phrases)
    return TimeRange(start, end, phrase, not any(map(_is_content, words(rest[:_MAX_WHOLE]))), rest)


def _parts_to_read(query: str) -> list[tuple[int, int]]:
    """The parts of a query that may name its time: all of it, or its first and last line."""
    if len(query) <= _MAX_WHOLE:
        return [(0, len(query))]
    end = len(query.rstrip())
    first = query.find("\n", 0, _MAX_LINE)
    last = query.rfind("\n", max(end - _MAX_LINE, 0), end)
    return [(0, first if first >= 0 else _MAX_LINE), (last if last >= 0 else end - _MAX_LINE, end)]


def _overlap(ranges: list[_Range]) -> tuple[datetime | None, datetime | None]:
    """What lies in all ranges; where two do not overlap, from the start of one to the end of the
    other."""
    start, stop, _, cycle = ranges[0]
    for other in ranges[1:]:
        if cycle and start and stop and other.start and other.stop:
            start, stop, _ = _back_into(Span(start, stop, cycle), other.start, other.stop)
        low = max(filter(None, (start, other.start)), default=None)
        high = min(filter(None, (stop, other.stop)), default=None)
        if low and high and low >= high:
            # "Redis in March, and in May": hide neither.
            low = min(start, other.start) if start and other.start else None
            high = max(stop, other.stop) if stop and other.stop else None
        if low or high:
            start, stop, cycle = low, high, ""
    return start, stop


def _back_into(span: Span, start: datetime, stop: datetime) -> Span:
    """A month or weekday, moved back until it lies in a longer range, as in "Tuesday last week"; as
    it is if it never does."""
    moved = (span.back(times) for times in range(_MAX_CYCLES))
    return next((one for one in moved if one.start < stop and start < one.end), span)


def _without(query: str, spans: list[tuple[int, int]]) -> str:
    starts = [0, *(last for _, last in spans)]
    ends = [*(first for first, _ in spans), len(query)]
    return "".join(query[a:b] for a, b in zip(starts, ends, strict=True)).strip()


def _is_content(word: str) -> bool:
    return not (
        word in STOPWORDS or word in QUESTION_WORDS or stem(word) in _EMPTY_STEMS or len(word) == 1
    )


class _RangeReader:
    """Reads the time phrase at a place: a span, a range with one end, or a range with two."""

    def __init__(self, text: str, end: int, now: datetime, landmark: LandmarkLookup) -> None:
        self._text = text
        self._end = end
        self._zone = now.tzinfo or UTC
        self._now = now.replace(tzinfo=None)
        self._landmark = landmark
        self._is_english = language_of(text).is_english

    def read(self, at: int) -> _Range | None:
        """The range whose words start at a place."""
        lead = _LEAD.match(self._text, at, self._end) if self._is_english else None
        if lead is None:
            return self._read_range(at, "", _TO) or self._read_span(at, False)
        word, after = " ".join(lead["word"].lower().split()), lead.end()
        if word == "between":
            found = self._read_range(after, word, _AND)
        elif word in _START or word in _END:
            found = self._read_one_side(after, word)
        else:
            found = self._read_range(after, word, _TO) or self._read_span(after, word not in _WEAK)
            if found and word == "from" and (on := _ONWARDS.match(self._text, found.end)):
                return _Range(found.start, None, on.end())
        return found

    def _date(self, at: int, announced: bool) -> DateAt | None:
        if not self._is_english:
            return read_iso_date(self._text, at, self._end, self._now)
        if _AHEAD_OR_REPEATING.search(self._text[max(at - 20, 0) : at]):
            return None
        return read_date(self._text, at, self._end, self._now, announced)

    def _read_span(self, at: int, announced: bool) -> _Range | None:
        found = self._date(at, announced)
        return _Range(*found.span[:2], found.end, found.span.cycle) if found else None

    def _read_one_side(self, at: int, word: str) -> _Range | None:
        found = self._read_end(at, word)
        if found is None:
            return None
        if word in _START:
            return _Range(found.span.end if word == "after" else found.span.start, None, found.end)
        is_before = word in ("before", "prior to")
        return _Range(None, found.span.start if is_before else found.span.end, found.end)

    def _read_range(self, at: int, word: str, joint: re.Pattern[str]) -> _Range | None:
        """X to Y, with the days in "9 to 15 March" as one date. A side without a year takes the
        other's: in "from March to May 2025" March is the last one before that May."""
        first = self._read_end(at, word)
        if first is None:
            days = self._date(at, announced=True) if word == "between" else None
            return _Range(*days.span[:2], days.end) if days else None
        joined = joint.match(self._text, first.end, self._end)
        second = self._read_end(joined.end(), word or "to") if joined else None
        if second is None:
            return None
        one, two = first.span, second.span
        if two.cycle == "year" and not one.cycle:
            two = two.back(two.start.year - one.start.year)
            two = two.back(-1) if two.start < one.start else two
        while one.cycle and one.start > two.start:
            one = one.back(max(one.start.year - two.start.year, 1) if one.cycle == "year" else 1)
        return _Range(min(one.start, two.start), max(one.end, two.end), second.end)

    def _read_end(self, at: int, word: str) -> DateAt | None:
        """One end of a range: a date, "now", a timestamp, or a landmark. `word` leads to it."""
        if article := _ARTICLE.match(self._text, at, self._end):
            at = article.end()
        if found := self._date(at, announced=True):
            return found
        if word in ("to", "until", "till", "from", "between") and (
            now := _NOW.match(self._text, at, self._end)
        ):
            return DateAt(Span(self._now, self._now), now.end())
        return self._read_timestamp(at) or self._read_landmark(at, word)

    def _read_timestamp(self, at: int) -> DateAt | None:
        found = _TIMESTAMP.match(self._text, at, self._end)
        try:
            return self._at_moment(datetime.fromisoformat(found[0]), found.end()) if found else None
        except ValueError:
            return None

    def _read_landmark(self, at: int, word: str) -> DateAt | None:
        """Of the words here, the longest run that names a landmark. "From" and "to" mostly join
        places; only between versions they join times."""
        names: list[re.Match[str]] = []
        start = at
        while len(names) < _MAX_LANDMARK_WORDS:
            name = _NAME.match(self._text, start, self._end)
            said = name[0].lower() if name else ""
            is_small = said in STOPWORDS or (said in QUESTION_WORDS and said != "last")
            if name is None or is_small:
                break
            names.append(name)
            if self._text[name.end() : name.end() + 1] != " ":
                break
            start = name.end() + 1
        if not names or (word not in _BEFORE_LANDMARKS and not any(map(str.isdigit, names[0][0]))):
            return None
        for last in reversed(names):
            named = " ".join(self._text[at : last.end()].split())
            moment = self._landmark(named) if named.lower() != "last" else None
            if moment is not None:
                return self._at_moment(moment, last.end())
        return None

    def _at_moment(self, moment: datetime, end: int) -> DateAt | None:
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        here = aware.astimezone(self._zone).replace(tzinfo=None)
        return DateAt(Span(here, here), end)
