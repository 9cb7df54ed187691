"""Puts records that hold an identifier of the query, spelled as it is there, among the first.

Other words can be said otherwise; a name of code, a path, a flag, a version or a key cannot. What
is near in meaning, or has the parts of a name, goes behind a record that has the name itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from holdfast.model.query import Passage
from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.candidates import Candidate, Pool
from holdfast.store.protocol import Reader

# A record with the name is one of so many first ones.
_FIRST = 3
# Only this many of the best are put in order where a query is nothing but names.
_COMPARED = 30

# So many records with the words of a name are read to find one with the name as it is written.
_MAX_LOOKED_THROUGH = 400

Holds = Callable[[str], bool]
Accepts = Callable[[Passage], bool]


def mark_names(ranked: Sequence[Candidate], names: Sequence[str]) -> None:
    """Note which of the names each candidate holds."""
    for name in names:
        for candidate in _holders(ranked, name):
            candidate.names |= {name}


def find_names(
    reader: Reader, bank: str | None, pool: Pool, names: Sequence[str], accepts: Accepts
) -> None:
    """Add to the pool a record that holds each of the names, where there is none yet: words that
    are part of a name may be in many others."""
    for name in names:
        if _exact_holders(list(pool), name):
            continue
        matches = reader.passages.search(bank, [name], limit=_MAX_LOOKED_THROUGH)
        found = [match.passage for match in matches]
        if len(found) == _MAX_LOOKED_THROUGH and not any(name in one.body for one in found):
            # Its words are those of most records (`--with`): no index tells it from them.
            found = reader.passages.containing(bank, name, _MAX_LOOKED_THROUGH)
        held = _exact_holders([Candidate(one) for one in found if accepts(one)], name)
        for candidate in held[:_FIRST]:
            pool.add(candidate.passage)


def put_exact_names_first(
    ranked: Sequence[Candidate], names: Sequence[str], names_only: bool
) -> list[Candidate]:
    """The ranking with a record that holds each of the names among the first three, if there is
    one. Where a query has `names_only`, all records that hold them go before the others."""
    order = list(ranked)
    for name in reversed(names):
        holders = _holders(order, name)
        if not holders:
            continue
        if names_only:
            first = [c for c in order[:_COMPARED] if c in holders] or holders[:1]
            _move(order, first, 0)
        elif not any(c in holders for c in order[:_FIRST]):
            _move(order, holders[:1], _FIRST - 1)
    return order


def _move(order: list[Candidate], moved: Sequence[Candidate], place: int) -> None:
    """Move candidates to a place; each scores at least as much as what it passes."""
    others = [candidate for candidate in order if candidate not in moved]
    passed = others[place].score if place < len(others) else 0.0
    for candidate in moved:
        if candidate.score < passed:
            candidate.notes["named"] = round(passed - candidate.score, 4)
            candidate.score = passed
    order[:] = [*others[:place], *moved, *others[place:]]


def _holders(ranked: Sequence[Candidate], name: str) -> list[Candidate]:
    """The candidates that hold a name as it is written or, where none does, in any case."""
    found = _exact_holders(ranked, name)
    if found:
        return found
    lowered = name.lower()
    folded = [(c, c.passage.body.lower()) for c in _current(ranked)]
    return [c for c, body in folded if lowered in body and _has_whole(lowered)(body)]


def _exact_holders(ranked: Sequence[Candidate], name: str) -> list[Candidate]:
    exact = [c for c in _current(ranked) if name in c.passage.body]
    return [c for c in exact if _has_whole(name)(c.passage.body)]


def _current(ranked: Sequence[Candidate]) -> list[Candidate]:
    return [c for c in ranked if c.passage.status not in ENDED_STATUSES]


def _has_whole(name: str) -> Holds:
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return lambda text: pattern.search(text) is not None
