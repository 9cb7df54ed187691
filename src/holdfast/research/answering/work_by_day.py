"""What was done at a time: its sessions, grouped by day, each with its title and its outcome.

A question for nothing but a time ("last week", "on 3 March") names no subject, so its answer lists
sessions instead of quoting what is nearest to its words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.language import counted, sentences, truncate
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Passage
from holdfast.model.records import Digest, Outcome
from holdfast.recall.core.statements import reports_progress, states, without_outer_reports
from holdfast.recall.query.query import find_time_range
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote, day_in_words
from holdfast.research.answering.request import AskRequest, hits_of_passages
from holdfast.store.protocol import Reader


class DayLimits(NamedTuple):
    """How much an answer for a time lists. It is read at a glance, so a long time is told by its
    days and a short one by its sessions."""

    # Sessions that are read: those of a month of hard work.
    read: int = 400
    # Sessions that are listed, unless there are more days than that; and days at most.
    sessions: int = 12
    days: int = 31
    # Characters of a title and of an outcome.
    title: int = 120
    outcome: int = 240
    # A title that goes on with so many characters of the outcome repeats it.
    same_start: int = 20
    # Days that are named where not all of their sessions are listed.
    named_days: int = 3


_LIMITS = DayLimits()
_DASH = " — "
# What is told of a session that completed nothing.
_UNFINISHED = {
    Outcome.OPEN: "left open",
    Outcome.INTERRUPTED: "interrupted",
    Outcome.FAILED: "failed",
}


class WorkByDay(NamedTuple):
    """Quotes of sessions in the order of their time, and what is not listed."""

    quotes: list[Quote]
    notes: list[str]


class _Work(NamedTuple):
    """A session: its title, if it has one, the passage that is cited, and its digest."""

    title: str
    passage: Passage
    digest: Digest


def work_by_day(reader: Reader, request: AskRequest) -> WorkByDay:
    """The sessions of the time that a question names, the earliest day first; none if it may not be
    answered by sessions."""
    by_day: dict[str, list[_Work]] = {}
    for work in _work_of_time(reader, request):
        by_day.setdefault(work.passage.time[:10], []).append(work)
    days = list(by_day)[-_LIMITS.days :]
    room = max(1, _LIMITS.sessions // max(1, len(days)))
    listed = {day: _largest(by_day[day], room) for day in days}
    left = {day: len(works) - len(listed.get(day, ())) for day, works in by_day.items()}
    quotes = _quotes(reader, request, [work for works in listed.values() for work in works])
    return WorkByDay(quotes, _not_listed({day: count for day, count in left.items() if count}))


def _work_of_time(reader: Reader, request: AskRequest) -> list[_Work]:
    """The sessions of the time in its order, without those of subagents: the session that started
    them tells what they did."""
    time = find_time_range(reader, request.bank, request.question, request.time)
    if time is None:
        return []
    until = min(filter(None, (time.end, request.until)), default="")
    found: list[_Work] = []
    for passage in reader.passages.recent(request.bank, "digest", _LIMITS.read, time.start, until):
        session = reader.sessions.get(passage.bank, passage.session)
        is_part = session is not None and bool(session.parent)
        if request.has_layer_of(passage) and not is_part:
            title = session.title if session is not None else ""
            records = reader.records.find(passage.bank, "digest", passage.id, 1)
            found += [_Work(title, passage, one) for one in records if isinstance(one, Digest)]
    return sorted(found, key=lambda work: (work.passage.time, work.passage.id))


def _largest(works: Sequence[_Work], count: int) -> list[_Work]:
    """So many of a day's sessions, in their order: those that completed something, and in which
    most was asked for."""
    ranked = sorted(works, key=lambda work: (not work.digest.completed, -work.digest.exchanges))
    return [work for work in works if work in ranked[:count]]


def _quotes(reader: Reader, request: AskRequest, works: Sequence[_Work]) -> list[Quote]:
    hits = hits_of_passages(reader, request, [work.passage for work in works])
    by_digest = {(work.digest.bank, work.digest.id): work for work in works}
    named = [(hit, by_digest[hit.bank, hit.uri.rpartition("/")[2]]) for hit in hits]
    return [Quote(hit, _gist(reader, work), 0.0, 0.0) for hit, work in named]


def _gist(reader: Reader, work: _Work) -> str:
    """The title of a session and what came of it, on one line."""
    request = work.digest.request.partition(" (and ")[0]
    title = work.title if work.title and request.startswith(work.title) else request
    outcome = _outcome(reader, work.digest)
    if not outcome:
        return truncate(request, MAX_SENTENCE_CHARS)
    # A session that asked for little is called by its result, too.
    title = title.partition(f"{_DASH}{outcome[: _LIMITS.same_start]}")[0]
    return truncate(f"{truncate(title, _LIMITS.title)}{_DASH}{outcome}", MAX_SENTENCE_CHARS)


def _outcome(reader: Reader, digest: Digest) -> str:
    """What a session completed: the statements of the first thing that has any. How it ended, where
    it completed nothing."""
    titles = [one.title for one in reader.sessions.exchanges(digest.bank, digest.session)]
    for completed in digest.completed:
        title = max((t for t in titles if completed.startswith(t)), key=len, default="")
        said = map(without_outer_reports, sentences(completed.removeprefix(title).lstrip(": ")))
        stated = [s for s in said if states(s, by_person=False) and not reports_progress(s)]
        if stated:
            return truncate(" ".join(stated), _LIMITS.outcome)
    return _UNFINISHED.get(digest.outcome, "")


def _not_listed(left: Mapping[str, int]) -> list[str]:
    """How many sessions of which days are not listed."""
    if not left:
        return []
    more = counted(sum(left.values()), "more session")
    if len(left) > _LIMITS.named_days:
        return [f"Not listed: {more} of {counted(len(left), 'day')}."]
    return [f"Not listed: {more} ({', '.join(map(day_in_words, left))})."]
