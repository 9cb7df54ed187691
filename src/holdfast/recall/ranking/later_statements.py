"""Puts a later statement above what it superseded or amended, though it may share fewer words with
the query: people say only what changes.

What ended is recognised in `status`, which lowers it and lifts what holds instead, if that was
found. Here the later statement is added where no retriever found it, and put above everything of
the earlier session that speaks of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.language import content_stems
from holdfast.model.fact_history import status_change_at
from holdfast.model.knowledge import Fact
from holdfast.model.query import Passage
from holdfast.model.trust import REPLACED_STATUSES, Status
from holdfast.model.uris import uri
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.ranking.status import status_histories
from holdfast.store.protocol import Reader

# A record of the same session speaks of an amended statement if it has so many of its words.
_SHARED_STEMS = 2
# How many times a later statement may itself have been amended.
_MAX_STEPS = 8


def put_later_statements_first(
    reader: Reader,
    ranked: Sequence[Candidate],
    accepts: Callable[[Passage], bool],
    as_of: str,
    compared: int,
) -> list[Candidate]:
    """The ranking with each later statement above what it superseded or amended. `accepts` tells
    which passages are wanted; the `compared` best are looked at."""
    later_of = _later_statements(reader, ranked[:compared], as_of)
    order = list(ranked)
    for old in ranked[:compared] if later_of else ():
        name = _concerning(old, later_of)
        fact = _last_version(reader, old.passage.bank, name, as_of) if name else None
        if fact is None:
            continue
        place = order.index(old)
        stating = {uri("fact", fact.id), *fact.evidence}
        found = [c for c in order if uri(c.passage.kind, c.passage.id) in stating]
        if any(order.index(c) < place for c in found) or old in found:
            continue
        holds = found[0] if found else _candidate(reader, fact, accepts, as_of)
        if holds is None:
            continue
        if found:
            order.remove(holds)
        holds.notes["amendment"] = round(old.score - holds.score, 4)
        holds.score = old.score
        order.insert(order.index(old), holds)
    return order


def _later_statements(
    reader: Reader, head: Sequence[Candidate], as_of: str
) -> list[tuple[Candidate, str]]:
    """The candidates that were superseded or amended, each with the URI of the later fact."""
    replaced = [c for c in head if c.passage.status in REPLACED_STATUSES]
    histories = status_histories(reader, (c.passage for c in replaced)) if replaced else {}
    found: list[tuple[Candidate, str]] = []
    for candidate in head:
        ended = next((one.instead for one in candidate.ended or () if one.instead), "")
        name = ended
        if not name and candidate.passage.status in REPLACED_STATUSES:
            last = status_change_at(histories.get(candidate.key, ()), as_of)
            name = last.because if last else ""
        if candidate.passage.kind == "fact" and candidate.passage.status is Status.AMENDED:
            name = _amended_by(reader, candidate.passage)
        if "/fact/" in name:
            found.append((candidate, name))
    return found


def _amended_by(reader: Reader, passage: Passage) -> str:
    for record in reader.records.find(passage.bank, "fact", passage.id, 1):
        if isinstance(record, Fact):
            return record.superseded_by
    return ""


def _concerning(candidate: Candidate, later_of: Sequence[tuple[Candidate, str]]) -> str:
    """The URI of the fact that superseded or amended what a candidate says: its own, or that of a
    record of its session that says about the same."""
    for other, name in later_of:
        if other is candidate:
            return name
    stems = content_stems(candidate.passage.body)
    for other, name in later_of:
        p, q = candidate.passage, other.passage
        same_session = p.session and (p.bank, p.session) == (q.bank, q.session)
        if same_session and len(stems & content_stems(q.body)) >= _SHARED_STEMS:
            return name
    return ""


def _last_version(reader: Reader, bank: str, name: str, as_of: str) -> Fact | None:
    """The fact of a URI, or the last that superseded it."""
    last: Fact | None = None
    for _ in range(_MAX_STEPS):
        records = reader.records.find(bank, "fact", name.rpartition("/")[2], 1)
        fact = next((record for record in records if isinstance(record, Fact)), None)
        if fact is None or (as_of and fact.validity.learned > as_of):
            break
        last = fact
        if fact.status is not Status.SUPERSEDED:
            break
        name = fact.superseded_by
    return last


def _candidate(
    reader: Reader, fact: Fact, accepts: Callable[[Passage], bool], as_of: str
) -> Candidate | None:
    """A candidate for a fact that no retriever found."""
    for passage in reader.passages.of_records(fact.bank, "fact", [fact.id]):
        if accepts(passage) and not (as_of and passage.time > as_of):
            status = fact.status if not as_of else Status.OBSERVED
            return Candidate(passage._replace(status=status), ended=())
    return None
