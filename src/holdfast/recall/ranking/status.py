"""The status of each candidate: whether what it says still holds, or held at a given time.

With a time to look back from (`as_of`), later records are left out and later changes of status are
ignored. A fact that was not confirmed for long is ranked a little lower; it is never dropped.
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
# A fact that was not confirmed for 90 days loses 0.05, the same again after each doubling of that
# time, and 0.15 at most: age alone must not bury a fact.
_FRESH_DAYS = 90
_LOSS_PER_DOUBLING = 0.05
_LOWEST_FACTOR = 0.85


def apply_status(reader: Reader, pool: Pool, as_of: str, now: Callable[[], str]) -> None:
    """Drop what did not exist at `as_of`, and give the rest its status of then."""
    if as_of:
        pool.keep_only(lambda passage: existed_at(reader, passage, as_of))
    histories = status_histories(reader, (c.passage for c in pool))
    at = as_of or now()
    for candidate in pool:
        passage = candidate.passage
        last = status_change_at(histories.get(candidate.key, ()), as_of)
        if passage.kind == "fact":
            status = last.status if last else Status.OBSERVED
            candidate.passage = passage._replace(status=status)
            factor = _fact_decay(reader, passage, at)
            if factor < 1.0:
                candidate.notes["decay"] = candidate.factor = factor
        elif last is not None and passage.status in (Status.OBSERVED, Status.VERIFIED):
            candidate.passage = passage._replace(status=last.status)


def status_histories(
    reader: Reader, passages: Iterable[Passage]
) -> dict[PassageKey, list[StatusChange]]:
    """The changes of status of some passages."""
    by_bank: dict[str, list[tuple[str, str]]] = {}
    for passage in passages:
        if passage.kind in KINDS_WITH_STATUS:
            by_bank.setdefault(passage.bank, []).append((passage.kind, passage.id))
    found: dict[PassageKey, list[StatusChange]] = {}
    for bank, names in by_bank.items():
        for change in reader.status_changes(bank, names):
            found.setdefault((bank, change.kind, change.id), []).append(change)
    return found


def existed_at(reader: Reader, passage: Passage, as_of: str) -> bool:
    """Whether a record was complete at a time; False for records without a time."""
    if not passage.time or passage.time > as_of:
        return False
    if passage.kind not in ("exchange", "digest"):
        return True
    found = reader.find(passage.bank, passage.kind, passage.id, 1)
    return all(not isinstance(r, Exchange | Digest) or r.ended <= as_of for r in found)


def _fact_decay(reader: Reader, passage: Passage, at: str) -> float:
    """The factor for a fact's age; 1 for verified facts."""
    for record in reader.find(passage.bank, "fact", passage.id, 1):
        if isinstance(record, Fact) and record.status is not Status.VERIFIED:
            return decay(record.last_validated, at)
    return 1.0


def decay(last_validated: str, now: str) -> float:
    """The factor for a fact that was last confirmed at a time."""
    if not last_validated or not now:
        return 1.0
    days = (datetime.fromisoformat(now) - datetime.fromisoformat(last_validated)).days
    factor, left = 1.0, days / _FRESH_DAYS
    while left > 1 and factor > _LOWEST_FACTOR:
        factor, left = factor - _LOSS_PER_DOUBLING, left / 2
    return round(max(factor, _LOWEST_FACTOR), 3)


def supersession_of(reader: Reader, hit: Hit, as_of: str = "") -> tuple[str, tuple[str, ...]]:
    """The URI of the fact that superseded a hit ("" if none did), and those that it superseded."""
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
        before = tuple(name for name in before if _had_ended(reader, hit.bank, name, as_of))
    return by, before


def _had_ended(reader: Reader, bank: str, name: str, as_of: str) -> bool:
    last = status_change_at(reader.status_changes(bank, [("fact", name.rpartition("/")[2])]), as_of)
    return last is not None and last.status in ENDED_STATUSES
