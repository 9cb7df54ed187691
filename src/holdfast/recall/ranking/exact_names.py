"""Puts records that hold an identifier of the query, spelled as it is there, among the first.

Other words can be said otherwise; a name of code, a path, a flag, a version or a key cannot. What
is near in meaning, or has the parts of a name, goes behind a record that has the name itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from holdfast.model.trust import ENDED_STATUSES
from holdfast.recall.core.candidates import Candidate

# A record with the name is one of so many first ones.
_FIRST = 3
# Only this many of the best are put in order where a query is nothing but names.
_COMPARED = 30

Holds = Callable[[str], bool]


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
    current = [c for c in ranked if c.passage.status not in ENDED_STATUSES]
    exact = [c for c in current if name in c.passage.body]
    found = [c for c in exact if _has_whole(name)(c.passage.body)]
    if found:
        return found
    lowered = name.lower()
    folded = [(c, c.passage.body.lower()) for c in current]
    return [c for c, body in folded if lowered in body and _has_whole(lowered)(body)]


def _has_whole(name: str) -> Holds:
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return lambda text: pattern.search(text) is not None
