"""How each candidate stands: what became of what it says, and what was known at a time.

With a date to look back from, what is later is not there, and what happened later to the rest has
not happened. A fact that nobody has borne out for long is ranked a little lower; it never goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime

from holdfast.model.fact_history import status_change_at
from holdfast.model.knowledge import Fact, StatusChange
from holdfast.model.query import Hit, Passage
from holdfast.model.records import Digest, Exchange
from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.recall.core.candidates import PassageKey, Pool
from holdfast.store.protocol import Reader

KINDS_WITH_STATUS = ("fact", "turn", "exchange", "memory")
_FRESH_DAYS = 90
_LEAST = 0.85
_PER_DOUBLING = 0.05


def apply_status(reader: Reader, pool: Pool, as_of: str, now: Callable[[], str]) -> None:
    """Leave out what was not there yet, and give the rest its status of then."""
    if as_of:
        pool.keep_only(lambda passage: existed_at(reader, passage, as_of))
    told = status_histories(reader, (c.passage for c in pool))
    at = as_of or now()
    for candidate in pool:
        passage = candidate.passage
        last = status_change_at(told.get(candidate.key, ()), as_of)
        if passage.kind == "fact":
            status = last.status if last else Status.OBSERVED
            candidate.passage = passage._replace(status=status)
            factor = _decay(reader, passage, at)
            if factor < 1.0:
                candidate.notes["decay"] = candidate.factor = factor
        elif last is not None and passage.status in (Status.OBSERVED, Status.VERIFIED):
            candidate.passage = passage._replace(status=last.status)


def status_histories(
    reader: Reader, passages: Iterable[Passage]
) -> dict[PassageKey, list[StatusChange]]:
    """The lives of passages, by key."""
    names: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        if passage.kind in KINDS_WITH_STATUS:
            names.setdefault(passage.bank, []).append((passage.kind, passage.id))
    found: dict[PassageKey, list[StatusChange]] = {}
    for bank, asked in names.items():
        for life in reader.status_changes(bank, asked):
            found.setdefault((bank, life.kind, life.id), []).append(life)
    return found


def existed_at(reader: Reader, passage: Passage, as_of: str) -> bool:
    """Whether a record was there at a time, whole; what has no time cannot be told."""
    if not passage.time or passage.time > as_of:
        return False
    if passage.kind not in ("exchange", "digest"):
        return True
    found = reader.find(passage.bank, passage.kind, passage.id, 1)
    return all(not isinstance(r, Exchange | Digest) or r.ended <= as_of for r in found)


def _decay(reader: Reader, passage: Passage, at: str) -> float:
    """A gentle factor for what nobody has stated or followed for long."""
    for record in reader.find(passage.bank, "fact", passage.id, 1):
        if isinstance(record, Fact) and record.status is not Status.VERIFIED:
            return decay(record.last_validated, at)
    return 1.0


def decay(last_validated: str, now: str) -> float:
    """By how much a fact that was last borne out then counts less now."""
    if not last_validated or not now:
        return 1.0
    days = (datetime.fromisoformat(now) - datetime.fromisoformat(last_validated)).days
    factor, left = 1.0, days / _FRESH_DAYS
    while left > 1 and factor > _LEAST:
        factor, left = factor - _PER_DOUBLING, left / 2
    return round(max(factor, _LEAST), 3)


def supersession_of(reader: Reader, hit: Hit, as_of: str = "") -> tuple[str, tuple[str, ...]]:
    """What superseded a hit, and what it superseded, as URIs of facts."""
    kind, id = hit.kind, hit.uri.rpartition("/")[2]
    by, before = "", ()
    if kind == "fact":
        for record in reader.find(hit.bank, "fact", id, 1):
            if isinstance(record, Fact):
                by, before = record.superseded_by, record.supersedes
    elif hit.kind in KINDS_WITH_STATUS and hit.status is not Status.SUPERSEDED:
        stated = reader.facts_stated_in(hit.bank, hit.uri)
        before = tuple(name for fact in stated for name in fact.supersedes)
    elif hit.status is Status.SUPERSEDED:
        last = status_change_at(reader.status_changes(hit.bank, [(kind, id)]), as_of)
        by = last.because if last and "/fact/" in last.because else ""
    if hit.status is not Status.SUPERSEDED:
        by = ""
    if as_of:
        before = tuple(name for name in before if _ended_by(reader, hit.bank, name, as_of))
    return by, before


def _ended_by(reader: Reader, bank: str, name: str, as_of: str) -> bool:
    last = status_change_at(reader.status_changes(bank, [("fact", name.rpartition("/")[2])]), as_of)
    return last is not None and last.status in ENDED_STATUSES
