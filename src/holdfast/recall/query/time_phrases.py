"""Time ranges in a query: "between March and May", "since v1.3", "from Monday to Friday".

`read_time_range` returns the time that a query asks about; `asks_for_recent_work` recognises
"where did we leave off?". A single date or period is read by `date_phrases`, its calendar is in
`calendar_spans`; here are the ranges made of them.

In English, and in the languages of `date_words`, whose dates are read as English. A word that is
not surely a time is not read as one, because a wrong range hides what a query without one would
find. "Since", "from", "until" and "by" include the day or month they name, "before" and "after"
exclude it. Several phrases are intersected; where they do not overlap, the range covers all of
them. Of a long query only the first and the last line are read: dates in a pasted log are not its
time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, tzinfo

from holdfast.function_words import ENGLISH, language_of
from holdfast.language import STOPWORDS, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.recall.query.calendar_spans import (
    FIRST_YEAR,
    LAST_YEAR,
    UNITS,
    Span,
    rolling,
    shift_back,
    subtract,
)
from holdfast.recall.query.date_phrases import DateReader, SpanAt, Token, tokenize
from holdfast.recall.query.terms import QUESTION_WORDS
from holdfast.times import format_time

LandmarkLookup = Callable[[str], datetime | None]

# The languages besides English whose dates are read, by the tables of `date_words`.
DATE_LANGUAGES = frozenset("de fr es it pt nl ru ja zh ko".split())
# Queries up to this length are read whole; of longer ones, this much of the first and last line.
_MAX_WHOLE = 2_000
_MAX_LINE = 500
# A landmark's name is at most this long ("the last release of beta").
_MAX_LANDMARK_WORDS = 4
_LANDMARK_PREPOSITIONS = frozenset("before after since until till between and".split())
_PUNCTUATION = "\"'“”().,;:!?…"
_ARTICLES = ("the", "a", "an", "our", "my")
_PREPOSITIONS = frozenset("in on during over within throughout from around".split())
_WEAK_PREPOSITIONS = frozenset("at of for about".split())
_RANGE_JOINTS = frozenset(("to", "until", "till", "through", "-", "–", "—"))
_START_WORDS = frozenset(("since", "after"))
_END_WORDS = frozenset(("before", "until", "till", "by"))
_QUESTION_AND_STOPWORDS = STOPWORDS | (QUESTION_WORDS - {"last"})

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


class _OpenRange(NamedTuple):
    """A span that may be open at one end, and the index of the token after its words."""

    start: datetime | None
    end: datetime | None
    after: int
    cycle: str = ""


def read_time_range(query: str, now: datetime, landmark: LandmarkLookup) -> TimeRange | None:
    """The time range that a query asks about, or None. Days are those of `now`'s time zone.

    `landmark` looks up the time of names such as "release", "v1.4.0" or "last session". It is
    called with the words after "before", "after", "since", "until" or "between", without their
    article, the longest run of words first; if it returns None for all, they are not a time.
    """
    codes = [code for code in language_of(query).codes if code in DATE_LANGUAGES] or [ENGLISH]
    found = (_read_in_language(query, now, landmark, code) for code in codes)
    return next(filter(None, found), None)


def _read_in_language(
    query: str, now: datetime, landmark: LandmarkLookup, code: str
) -> TimeRange | None:
    """The time range that a query in a language asks about."""
    zone = now.tzinfo or UTC
    tokens = [
        token for start, end in _parts_to_read(query) for token in _tokens(query, start, end, code)
    ]
    reader = _PhraseReader(tokens, now.replace(tzinfo=None), zone, landmark)
    ranges: list[_OpenRange] = []
    phrases: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        found = reader.read_phrase(at)
        if found:
            ranges.append(found)
            phrases.append((tokens[at].start, tokens[found.after - 1].end))
        at = found.after if found else at + 1
    if not ranges:
        return None
    start, end = _intersection(ranges)
    spelled = [
        format_time(moment.replace(tzinfo=zone)) if moment else "" for moment in (start, end)
    ]
    if all(spelled) and spelled[0] > spelled[1]:
        # An hour that a clock shows twice.
        spelled.reverse()
    rest = _remove_spans(query, phrases)
    phrase = " ".join(query[first:last] for first, last in phrases)
    only_time = not _asks_for_content(rest[:_MAX_WHOLE], code)
    return TimeRange(spelled[0], spelled[1], phrase, only_time, rest)


def _asks_for_content(rest: str, code: str) -> bool:
    """Whether a query without its time asks for something in particular."""
    if code == ENGLISH:
        return any(map(_has_content, words(rest)))
    from holdfast.recall.query.foreign_dates import has_content

    return has_content(rest, code)


def _tokens(query: str, start: int, end: int, code: str) -> list[Token]:
    if code == ENGLISH:
        return tokenize(query, start, end)
    from holdfast.recall.query.foreign_dates import translate_dates

    return translate_dates(query, start, end, code)


def _parts_to_read(query: str) -> list[tuple[int, int]]:
    """The parts of a query that may name its time: all of it, or its first and last line."""
    if len(query) <= _MAX_WHOLE:
        return [(0, len(query))]
    end = len(query.rstrip())
    first = query.find("\n", 0, _MAX_LINE)
    last = query.rfind("\n", max(end - _MAX_LINE, 0), end)
    return [(0, first if first >= 0 else _MAX_LINE), (last if last >= 0 else end - _MAX_LINE, end)]


def _intersection(ranges: list[_OpenRange]) -> tuple[datetime | None, datetime | None]:
    """What lies in all ranges; where two do not overlap, from the start of one to the end of the
    other."""
    start, end = ranges[0].start, ranges[0].end
    cycle = ranges[0].cycle
    for other in ranges[1:]:
        if cycle and start and end and other.start and other.end:
            # "Tuesday last week" is not the latest Tuesday.
            start, end = _shift_to_meet(Span(start, end, cycle), other.start, other.end)
        low = max(filter(None, (start, other.start)), default=None)
        high = min(filter(None, (end, other.end)), default=None)
        if low and high and low >= high:
            # "Redis in March, and in May": hide neither.
            low = min(start, other.start) if start and other.start else None
            high = max(end, other.end) if end and other.end else None
        if low or high:
            start, end, cycle = low, high, ""
    return start, end


def _shift_to_meet(span: Span, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """A month or weekday, moved back until it overlaps a longer range; as it is if it never
    does."""
    back = max((span.start - end).days, 0) // (7 if span.cycle == "week" else 366)
    for times in (back, back + 1, back + 2):
        moved = shift_back(span, times)
        if moved and moved.start < end and start < moved.end:
            return moved.start, moved.end
    return span.start, span.end


def _remove_spans(query: str, spans: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for first, last in spans:
        kept.append(query[at:first])
        at = last
    return "".join((*kept, query[at:])).strip()


def _has_content(word: str) -> bool:
    return not (
        word in STOPWORDS or word in QUESTION_WORDS or stem(word) in _EMPTY_STEMS or len(word) == 1
    )


def _year_after(span: Span, start: datetime) -> Span:
    """A month named without a year, in the first year in which it is not before `start`."""
    years = (span.start - start).days // 366
    turns = (shift_back(span, times) for times in (years + 1, years))
    return next((found for found in turns if found and found.start >= start), span)


class _PhraseReader:
    """Reads the time phrase at a token: a span, a range with one end, or a range with two."""

    def __init__(
        self, tokens: list[Token], now: datetime, zone: tzinfo, landmark: LandmarkLookup
    ) -> None:
        self.tokens = tokens
        self.now = now
        self.zone = zone
        self.landmark = landmark
        self.dates = DateReader(tokens, now)
        self.word = self.dates.word

    def read_phrase(self, at: int) -> _OpenRange | None:
        """The phrase that starts at a token."""
        word = self.word(at)
        if not word:
            return None
        if word == "between":
            return self._read_from_to(at + 1, {"and"}) or self._read_span(at + 1)
        if word == "from" and (found := self._read_from_to(at + 1)):
            return found
        if word in _START_WORDS or word in _END_WORDS:
            return self._read_one_side(at + 1, word)
        if (word, self.word(at + 1)) == ("prior", "to"):
            return self._read_one_side(at + 2, "before")
        return self._read_span(at) or self._read_around_landmark(at)

    def _read_span(self, at: int) -> _OpenRange | None:
        after_preposition = self.word(at) in _PREPOSITIONS
        first = at + (after_preposition or self.word(at) in _WEAK_PREPOSITIONS)
        if self.word(first + 1) in _RANGE_JOINTS and self.tokens[first].spelled[:1].isupper():
            after_preposition = self._read_from_to(first) is not None
        first += self.word(first) == "the"
        # "The weekend" needs no preposition.
        found = self.dates.read(first, after_preposition or self.word(first) == "weekend")
        if not found:
            return None
        if self.word(at) == "from" and self.word(found.after) in ("on", "onward", "onwards"):
            return _OpenRange(found.span.start, None, found.after + 1)
        if self.word(found.after) in _RANGE_JOINTS and (to := self._read_from_to(first)):
            return to
        return _OpenRange(found.span.start, found.span.end, found.after, found.span.cycle)

    def _read_from_to(self, at: int, joints: Collection[str] = _RANGE_JOINTS) -> _OpenRange | None:
        """X to Y. A side without a year takes the other's: in "from March to May 2025" March is the
        last one before that May."""
        first = self._read_end(at)
        if not first or self.word(first.after) not in joints:
            return None
        second = self._read_end(first.after + 1)
        if not second:
            return None
        one, two = first.span, second.span
        if two.cycle == "year" and not one.cycle:
            two = _year_after(two, one.start)
        elif one.cycle == "year" and not two.cycle:
            one = shift_back(one, max(one.start.year - two.start.year, 0)) or one
        if one.cycle and one.start > two.start:
            one = shift_back(one, 1) or one
        return _OpenRange(min(one.start, two.start), max(one.end, two.end), second.after)

    def _read_one_side(self, at: int, word: str) -> _OpenRange | None:
        found = self._read_end(at)
        if not found:
            return None
        span, after = found
        if word in _START_WORDS:
            return _OpenRange(span.end if word == "after" else span.start, None, after)
        return _OpenRange(None, span.start if word == "before" else span.end, after)

    def _read_around_landmark(self, at: int) -> _OpenRange | None:
        """Such as "Two days before the release", "the week after v2"."""
        count = (1, 1, at + 1) if self.word(at) == "the" else self.dates.count(at)
        unit = UNITS.get(self.word(count[2])) if count else None
        if not count or not unit or self.word(count[2] + 1) not in ("before", "after"):
            return None
        found = self._read_landmark(count[2] + 2)
        if not found:
            return None
        moment = found.span.start
        far = subtract(moment, count[1], unit)
        if far is None:
            return None
        if self.word(count[2] + 1) == "before":
            return _OpenRange(far, moment, found.after)
        return _OpenRange(moment, moment + (moment - far), found.after)

    def _read_end(self, at: int) -> SpanAt | None:
        """One end of a range: a span, "now", a timestamp, or a landmark."""
        first = at + (self.word(at) in ("the", "about", "around"))
        if found := self.dates.read(first, after_preposition=True):
            return found
        if self.word(at) == "now" and self.word(at - 1) in (*_RANGE_JOINTS, "and"):
            return SpanAt(Span(self.now, self.now), at + 1)
        count = self.dates.count(first)
        unit = UNITS.get(self.word(count[2])) if count else None
        if count and unit and self.word(at - 1) == "since":
            span = rolling(self.now, count[1], unit)
            return SpanAt(span, count[2] + 1) if span else None
        return self._read_timestamp(at) or self._read_landmark(at)

    def _read_timestamp(self, at: int) -> SpanAt | None:
        """An ISO 8601 timestamp."""
        if "t" not in self.word(at)[10:11]:
            return None
        try:
            moment = datetime.fromisoformat(self.tokens[at].spelled)
        except ValueError:
            return None
        return self._at_moment(moment, at + 1)

    def _read_landmark(self, at: int) -> SpanAt | None:
        leads = self.word(at - 1)
        at += self.word(at) in _ARTICLES
        # "From" and "to" mostly join places; only between versions they join times.
        if leads not in _LANDMARK_PREPOSITIONS and not any(map(str.isdigit, self.word(at))):
            return None
        length = 0
        while length < _MAX_LANDMARK_WORDS and self.word(
            at + length
        ) not in _QUESTION_AND_STOPWORDS | {""}:
            length += 1
        for after in range(at + length, at, -1):
            named = " ".join(token.spelled for token in self.tokens[at:after])
            moment = self.landmark(named) if named.lower() != "last" else None
            if moment is not None:
                return self._at_moment(moment, after)
        return None

    def _at_moment(self, moment: datetime, after: int) -> SpanAt | None:
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        here = aware.astimezone(self.zone).replace(tzinfo=None)
        return SpanAt(Span(here, here), after)


# Questions about recent work. Words are replaced by one synonym each and fillers are dropped, so
# "where have I stopped?" and "where did we stop?" become the same phrase. One regular expression
# for all of them would take 8 ms to compile, this takes none.
_SYNONYMS = {
    same: word
    for word, others in {
        "we": "i", "us": "me", "our": "my", "was": "were have had am are did", "do": "doing done",
        "left": "leave", "stopped": "stop paused ended", "last": "latest previous recent",
        "what is": "what's whats", "summarise": "summarize",
        "session": "sessions conversation chat",
    }.items()
    for same in others.split()
}  # fmt: skip
_FILLERS = frozenset(
    "please now then here again just currently still been it this things from with so today most "
    "ok okay and".split()
)
_LEFT = [f"what {be} {it}" for be in ("is", "was") for it in "next left open remaining".split()]
_RECENT_ANYWHERE = (
    "we left off", "what was we working on", "what was we up to", "catch us up",
    "we was working on", "up to speed", "us up to date",
    "remind us where we was", "remind us where we stopped",
    "what was our next steps", "what was the next steps", "show us the next steps",
    *(f"{go} where we" for go in ("continue", "resume", "pick up", "carry on", "go on")),
    *(f"{left} {to}" for left in _LEFT for to in ("to do", "to finish", "to be do", "for us")),
    *(
        f"{verb} {whose} last {talk}"
        for verb in ("summarise", "recap", "sum up", "summary of", "happened in", "was in")
        for whose in ("our", "the")
        for talk in ("session", "work")
    ),
)  # fmt: skip
_RECENT_AT_END = (
    *_LEFT, "where was we", "where was we at", "where was we stopped", "where was we left",
    "we do next", "we need to do next", "we work on next", "what remains", "what remains to be do",
    "our last session",
    *(f"was we {did} last{what}" for did in ("do", "work on", "finish", "change")
      for what in ("", " time", " session")),
)  # fmt: skip
_RECENT_ALONE = frozenset((
    "continue", "resume", "carry on", "go on", "keep going", "next steps", "what was we do",
    "where do we stand", "what is our current task", "what was our current task",
))  # fmt: skip


def asks_for_recent_work(query: str) -> bool:
    """Whether a query asks about the user's own latest work: where it stopped, what is next."""
    said = [
        word.strip(_PUNCTUATION) for word in query[:_MAX_LINE].lower().replace("’", "'").split()
    ]
    text = " ".join(_SYNONYMS.get(word, word) for word in said if word and word not in _FILLERS)
    whole = f" {text} "
    return (
        text in _RECENT_ALONE
        or any(f" {phrase} " in whole for phrase in _RECENT_ANYWHERE)
        or any(whole.endswith(f" {phrase} ") for phrase in _RECENT_AT_END)
    )
