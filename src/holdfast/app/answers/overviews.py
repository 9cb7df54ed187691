"""Answers questions without a subject: "What is not allowed?", "What is still open?" They list what
is known of that kind (`bank_overview`), with citations, instead of what is nearest to their words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.app.answers.bank_overview import BankOverview, Known, at_a_time
from holdfast.language import truncate
from holdfast.model.query import Answer, Confidence, Hit
from holdfast.model.uris import parse_uri
from holdfast.recall.query.overview_questions import Overview
from holdfast.recall.query.time_ranges import TimeRange
from holdfast.research.answering.answer import compose
from holdfast.research.answering.quoting import MAX_SENTENCE_CHARS, Quote
from holdfast.research.answering.request import AskRequest, hits_of_passages
from holdfast.store.protocol import Reader


class ListLimits(NamedTuple):
    """How much an overview lists: what is read at a glance. Of all banks it reads those with the
    latest sessions, which bounds the time."""

    quotes: int = 12
    banks: int = 5


_LIMITS = ListLimits()
# What agents say is broken or open may have changed since without a word.
_BY_AGENTS = frozenset((Overview.OPEN_TASKS, Overview.FAULTS))


def answer_overview(
    reader: Reader, request: AskRequest, wanted: Overview, when: TimeRange | None
) -> Answer | None:
    """The answer to a question without a subject, of the time that it names. It abstains if nothing
    of that kind is known; where nothing is and the question may ask for all work of a time, it is
    None."""
    found = list(_known(reader, request, wanted, when))
    quotes = _quotes(reader, request, found[: _LIMITS.quotes])
    if not quotes:
        return None if when is not None and when.only_time else _abstain(request, wanted, when)
    left = len(found) - len(quotes)
    notes = [f"Not listed: {left} more."] if left else []
    confidence = Confidence.LOW if wanted in _BY_AGENTS else Confidence.MEDIUM
    return compose(reader, request, quotes, confidence, notes, may_be_outdated=False)


def _abstain(request: AskRequest, wanted: Overview, when: TimeRange | None) -> Answer:
    of_time = " of that time" if when is not None else ""
    what = "anything that lasts" if wanted is Overview.EVERYTHING else wanted.value
    return Answer(
        question=request.question,
        answer=f"Not known: memory has no record of {what}{of_time}.",
        confidence=Confidence.NONE,
        abstained=True,
        source="",
    )


class _Found(NamedTuple):
    bank: str
    known: Known


def _known(
    reader: Reader, request: AskRequest, wanted: Overview, when: TimeRange | None
) -> Iterator[_Found]:
    for bank in _banks(reader, request.bank):
        known = BankOverview(reader, bank).of(wanted)
        if when is not None:
            known = at_a_time(known, when.start, when.end)
        yield from (_Found(bank, one) for one in known)


def _banks(reader: Reader, bank: str | None) -> Sequence[str]:
    if bank is not None:
        return [bank]
    ids = [one.id for one in reader.banks.all()]
    latest = sorted(ids, key=reader.sessions.last_end, reverse=True)
    return latest[: _LIMITS.banks]


def _quotes(reader: Reader, request: AskRequest, found: Sequence[_Found]) -> list[Quote]:
    """The quotes of what was found, as far as the request accepts their records."""
    quotes: list[Quote] = []
    for bank, known in found:
        hits = (_hit(reader, request, bank, record) for record in known.records)
        hit = next((one for one in hits if one is not None), None)
        if hit is not None and request.accepts(hit):
            sentence = truncate(" ".join(known.text.split()), MAX_SENTENCE_CHARS)
            quotes.append(Quote(hit, sentence, 0.0, 0.0, known.lead))
    return quotes


# A fact that only repeats a record is found as that record.
def _hit(reader: Reader, request: AskRequest, bank: str, record: str) -> Hit | None:
    named = parse_uri(record)
    passages = reader.passages.of_records(bank, named.kind, [named.id]) if named else []
    return next(iter(hits_of_passages(reader, request, passages)), None)
