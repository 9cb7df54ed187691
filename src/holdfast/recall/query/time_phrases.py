"""Times in a question: which stretch it asks about, and which of its words said so.

English words only, and a word that is not surely a time is none: a wrong stretch hides what
a question without one would find. "Since" and "from" take in the day or month they name,
and so do "until" and "by"; "before" and "after" leave it out. Several times narrow each
other, or span what lies between them. The log or file in a long question is not its time, so
only its first and last line are read. What a release is, only the caller knows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from holdfast.language import STOPWORDS, stem, words
from holdfast.recall.query.dates import DateReader, SpanAt, Token, tokenize
from holdfast.recall.query.spans import (
    FIRST_YEAR,
    LAST_YEAR,
    UNITS,
    Span,
    rolling,
    shift_back,
    subtract,
)
from holdfast.recall.query.terms import QUESTION_WORDS

LandmarkLookup = Callable[[str], datetime | None]

_LONG = 2_000
_LINE = 500
_LANDMARK_WORDS = 4
_LANDMARK_AFTER = frozenset("before after since until till between and".split())
_SIGNS = "\"'“”().,;:!?…"
_ARTICLES = ("the", "a", "an", "our", "my")
_IN = frozenset("in on during over within throughout from around".split())
_BY_THE_WAY = frozenset("at of for about".split())
_TO = frozenset(("to", "until", "till", "through", "-", "–", "—"))
_SINCE = frozenset(("since", "after"))
_UNTIL = frozenset(("before", "until", "till", "by"))
_QUESTION = STOPWORDS | (QUESTION_WORDS - {"last"})

# What a question about nothing but a time is made of, under their stems.
_EMPTY = frozenset(
    stem(word)
    for word in "work do happen change new news thing stuff everything anything something "
    "activity progress session conversation chat commit summary summarise summarize recap review "
    "overview history timeline log going back since far task project".split()
)


class TimeRange(NamedTuple):
    """From `start` up to, but not at, `end`, as our records spell times; "" is open. `words` were
    read as the time, `rest` is the question without them, and `only` says that the rest asks
    for nothing in particular."""

    start: str
    end: str
    phrase: str
    only_time: bool
    rest: str = ""

    def contains(self, time: str) -> bool:
        """Whether a moment lies in it; what has no time does not."""
        return bool(time) and self.start <= time and (not self.end or time < self.end)


class _OpenRange(NamedTuple):
    """A span that may be open, and the place after its words."""

    start: datetime | None
    end: datetime | None
    after: int
    cycle: str = ""


def read_time_range(query: str, now: datetime, landmark: LandmarkLookup) -> TimeRange | None:
    """The time that a question is about, or None. Days are those of `now`'s zone.

    `landmark` is asked what moment the words after "before", "after", "since", "until" or
    "between" name, such as "release", "v1.4.0" or "last session": without their article, the
    longest words first. If it knows none of them, they are no time.
    """
    zone = now.tzinfo or UTC
    tokens = [token for start, end in _read_part(query) for token in tokenize(query, start, end)]
    scan = _PhraseReader(tokens, now.replace(tzinfo=None), zone, landmark)
    ranges: list[_OpenRange] = []
    said: list[tuple[int, int]] = []
    at = 0
    while at < len(tokens):
        found = scan.read_phrase(at)
        if found:
            ranges.append(found)
            said.append((tokens[at].start, tokens[found.after - 1].end))
        at = found.after if found else at + 1
    if not ranges:
        return None
    start, end = _narrowed(ranges)
    spelled = [_spelled(moment, zone) for moment in (start, end)]
    if all(spelled) and spelled[0] > spelled[1]:
        # An hour that a clock shows twice.
        spelled.reverse()
    rest = _without(query, said)
    told = " ".join(query[first:last] for first, last in said)
    return TimeRange(
        spelled[0], spelled[1], told, not any(map(_telling, words(rest[:_LONG]))), rest
    )


def _read_part(query: str) -> list[tuple[int, int]]:
    """The places of the text that may say a time: all of it, or its first and last line."""
    if len(query) <= _LONG:
        return [(0, len(query))]
    end = len(query.rstrip())
    first = query.find("\n", 0, _LINE)
    last = query.rfind("\n", max(end - _LINE, 0), end)
    return [(0, first if first >= 0 else _LINE), (last if last >= 0 else end - _LINE, end)]


def _narrowed(ranges: list[_OpenRange]) -> tuple[datetime | None, datetime | None]:
    """What lies in all the ranges; where two do not meet, what lies from one to the other."""
    start, end = ranges[0].start, ranges[0].end
    cycle = ranges[0].cycle
    for other in ranges[1:]:
        if cycle and start and end and other.start and other.end:
            # "Tuesday last week" is not the latest Tuesday.
            start, end = _meeting(Span(start, end, cycle), other.start, other.end)
        low = max(filter(None, (start, other.start)), default=None)
        high = min(filter(None, (end, other.end)), default=None)
        if low and high and low >= high:
            # "Redis in March, and in May": neither alone, and nothing hidden.
            low = min(start, other.start) if start and other.start else None
            high = max(end, other.end) if end and other.end else None
        if low or high:
            start, end, cycle = low, high, ""
    return start, end


def _meeting(span: Span, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """The month or weekday turned back until it meets a longer stretch, if it ever does."""
    back = max((span.start - end).days, 0) // (7 if span.cycle == "week" else 366)
    for times in (back, back + 1, back + 2):
        moved = shift_back(span, times)
        if moved and moved.start < end and start < moved.end:
            return moved.start, moved.end
    return span.start, span.end


def _spelled(moment: datetime | None, zone: tzinfo) -> str:
    if moment is None:
        return ""
    known = moment.replace(tzinfo=zone).astimezone(UTC)
    return known.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _without(query: str, said: list[tuple[int, int]]) -> str:
    kept: list[str] = []
    at = 0
    for first, last in said:
        kept.append(query[at:first])
        at = last
    return "".join((*kept, query[at:])).strip()


def _telling(word: str) -> bool:
    return not (
        word in STOPWORDS or word in QUESTION_WORDS or stem(word) in _EMPTY or len(word) == 1
    )


def _year_after(span: Span, start: datetime) -> Span:
    """A month named without a year, as the first one that does not lie before `start`."""
    years = (span.start - start).days // 366
    turns = (shift_back(span, times) for times in (years + 1, years))
    return next((found for found in turns if found and found.start >= start), span)


class _PhraseReader:
    """Reads phrases of time: a stretch, one side of it, or from one to another."""

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
            return self._from_to(at + 1, {"and"})
        if word == "from" and (found := self._from_to(at + 1)):
            return found
        if word in _SINCE or word in _UNTIL:
            return self._one_side(at + 1, word)
        if (word, self.word(at + 1)) == ("prior", "to"):
            return self._one_side(at + 2, "before")
        return self._plain(at) or self._around_landmark(at)

    def _plain(self, at: int) -> _OpenRange | None:
        led = self.word(at) in _IN
        first = at + (led or self.word(at) in _BY_THE_WAY)
        if self.word(first + 1) in _TO and self.tokens[first].spelled[:1].isupper():
            led = self._from_to(first) is not None
        first += self.word(first) == "the"
        # "The weekend" announces itself.
        found = self.dates.read(first, led or self.word(first) == "weekend")
        if not found:
            return None
        if self.word(at) == "from" and self.word(found.after) in ("on", "onward", "onwards"):
            return _OpenRange(found.span.start, None, found.after + 1)
        if self.word(found.after) in _TO and (to := self._from_to(first)):
            return to
        return _OpenRange(found.span.start, found.span.end, found.after, found.span.cycle)

    def _from_to(self, at: int, joints: Collection[str] = _TO) -> _OpenRange | None:
        """X to Y. Each side without a year takes it from the other: in "from March to May 2025"
        March is the last before that May."""
        first = self._edge(at)
        if not first or self.word(first.after) not in joints:
            return None
        second = self._edge(first.after + 1)
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

    def _one_side(self, at: int, word: str) -> _OpenRange | None:
        found = self._edge(at)
        if not found:
            return None
        span, after = found
        if word in _SINCE:
            return _OpenRange(span.end if word == "after" else span.start, None, after)
        return _OpenRange(None, span.start if word == "before" else span.end, after)

    def _around_landmark(self, at: int) -> _OpenRange | None:
        """Two days before the release; the week after v2."""
        count = (1, 1, at + 1) if self.word(at) == "the" else self.dates.count(at)
        unit = UNITS.get(self.word(count[2])) if count else None
        if not count or not unit or self.word(count[2] + 1) not in ("before", "after"):
            return None
        found = self._landmark(count[2] + 2)
        if not found:
            return None
        moment = found.span.start
        far = subtract(moment, count[1], unit)
        if far is None:
            return None
        if self.word(count[2] + 1) == "before":
            return _OpenRange(far, moment, found.after)
        return _OpenRange(moment, moment + (moment - far), found.after)

    def _edge(self, at: int) -> SpanAt | None:
        """What a side of a range is named by: a stretch, a moment, now, or a landmark."""
        first = at + (self.word(at) in ("the", "about", "around"))
        if found := self.dates.read(first, led=True):
            return found
        if self.word(at) == "now" and self.word(at - 1) in (*_TO, "and"):
            return SpanAt(Span(self.now, self.now), at + 1)
        count = self.dates.count(first)
        unit = UNITS.get(self.word(count[2])) if count else None
        if count and unit and self.word(at - 1) == "since":
            span = rolling(self.now, count[1], unit)
            return SpanAt(span, count[2] + 1) if span else None
        return self._stamp(at) or self._landmark(at)

    def _stamp(self, at: int) -> SpanAt | None:
        """A full time as machines write it."""
        if "t" not in self.word(at)[10:11]:
            return None
        try:
            moment = datetime.fromisoformat(self.tokens[at].spelled)
        except ValueError:
            return None
        return self._moment(moment, at + 1)

    def _landmark(self, at: int) -> SpanAt | None:
        leads = self.word(at - 1)
        at += self.word(at) in _ARTICLES
        # "From" and "to" mostly join places; between versions they join times.
        if leads not in _LANDMARK_AFTER and not any(map(str.isdigit, self.word(at))):
            return None
        length = 0
        while length < _LANDMARK_WORDS and self.word(at + length) not in _QUESTION | {""}:
            length += 1
        for after in range(at + length, at, -1):
            named = " ".join(token.spelled for token in self.tokens[at:after])
            moment = self.landmark(named) if named.lower() != "last" else None
            if moment is not None:
                return self._moment(moment, after)
        return None

    def _moment(self, moment: datetime, after: int) -> SpanAt | None:
        if not FIRST_YEAR <= moment.year <= LAST_YEAR:
            return None
        aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        here = aware.astimezone(self.zone).replace(tzinfo=None)
        return SpanAt(Span(here, here), after)


# The many ways to ask one thing, brought together: "where have I stopped?" and "where did we
# stop?" are the same. A pattern for all of them takes 8 ms to compile, this takes none.
_SAME = {
    same: word
    for word, others in {
        "we": "i", "us": "me", "our": "my", "was": "were have had am are did", "do": "doing done",
        "left": "leave", "stopped": "stop paused ended", "last": "latest previous recent",
        "what is": "what's whats", "summarise": "summarize",
        "session": "sessions conversation chat",
    }.items()
    for same in others.split()
}  # fmt: skip
_FILLING = frozenset(
    "please now then here again just currently still been it this things from with so today most "
    "ok okay and".split()
)
_LEFT = [f"what {be} {it}" for be in ("is", "was") for it in "next left open remaining".split()]
_ANYWHERE = (
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
_AT_THE_END = (
    *_LEFT, "where was we", "where was we at", "where was we stopped", "where was we left",
    "we do next", "we need to do next", "we work on next", "what remains", "what remains to be do",
    "our last session",
    *(f"was we {did} last{what}" for did in ("do", "work on", "finish", "change")
      for what in ("", " time", " session")),
)  # fmt: skip
_ALONE = frozenset((
    "continue", "resume", "carry on", "go on", "keep going", "next steps", "what was we do",
    "where do we stand", "what is our current task", "what was our current task",
))  # fmt: skip


def asks_for_recent_work(query: str) -> bool:
    """Whether a question is about the asker's own latest work: where it stopped, what is next."""
    said = [word.strip(_SIGNS) for word in query[:_LINE].lower().replace("’", "'").split()]
    text = " ".join(_SAME.get(word, word) for word in said if word and word not in _FILLING)
    whole = f" {text} "
    return (
        text in _ALONE
        or any(f" {phrase} " in whole for phrase in _ANYWHERE)
        or any(whole.endswith(f" {phrase} ") for phrase in _AT_THE_END)
    )
