"""Finds which recaps of conversations a later one changed: both sum the same matter up.

A later conversation that changes a decision names most of what the first one settled: its names,
its numbers and what stays. So two recaps are of one matter if they share many words, rare ones
counting more. The later holds; the earlier is superseded where the later says most of it again, and
else amended. The result depends on the recaps alone.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from holdfast.language import STOPWORDS, code_names, stem, words
from holdfast.model.knowledge import Recap, StatusChange
from holdfast.model.trust import Status
from holdfast.model.uris import parse_uri, uri


class MatterLimits(NamedTuple):
    """When two recaps are of one matter. Chosen on the tuning half of `bench/data/recaps`, where
    changed pairs share 0.28 to 0.90 of the weight in 11 to 18 words, others at most 0.26 in 3 or
    0.20 in 5."""

    share: float = 0.25
    words: int = 7
    # What the later must say again of the earlier to supersede it.
    said_again: float = 0.45


_LIMITS = MatterLimits()


def recap_words(text: str) -> frozenset[str]:
    """The stems, numbers and names of code that tell what a recap is about."""
    said = (stem(word) for word in words(text) if word not in STOPWORDS)
    roots = {root for root in said if len(root) > 2 or root.isdigit()}
    return frozenset(roots | {name.lower() for name in code_names(text, 40)})


def changed_recaps(recaps: Sequence[Recap]) -> list[StatusChange]:
    """The changes of status of recaps that a later one changed, and of the turns that state
    them."""
    ordered = sorted(recaps, key=lambda one: (one.memory.when, one.memory.id))
    said = [recap_words(one.memory.what) for one in ordered]
    counts = Counter(word for own in said for word in own)
    weights = {word: math.log((len(said) + 1) / count) for word, count in counts.items()}
    places: dict[str, list[int]] = {}
    found: list[StatusChange] = []
    changed: set[int] = set()
    for later, own in enumerate(said):
        shared = Counter(earlier for word in own for earlier in places.get(word, ()))
        for earlier, count in sorted(shared.items()):
            same_session = ordered[earlier].session == ordered[later].session
            if count < _LIMITS.words or same_session or earlier in changed:
                continue
            both = _weight(own & said[earlier], weights)
            sizes = _weight(said[earlier], weights), _weight(own, weights)
            if both < _LIMITS.share * min(sizes):
                continue
            changed.add(earlier)
            again = both >= _LIMITS.said_again * sizes[0]
            status = Status.SUPERSEDED if again else Status.AMENDED
            found += _changes(ordered[earlier], ordered[later], status)
        for word in own:
            places.setdefault(word, []).append(later)
    return found


def _weight(said: Iterable[str], weights: dict[str, float]) -> float:
    return sum(weights[word] for word in said)


def _changes(earlier: Recap, later: Recap, status: Status) -> Iterable[StatusChange]:
    time, because = later.memory.when, uri("memory", later.memory.id)
    yield StatusChange("memory", earlier.memory.id, time, status, because)
    for name in map(parse_uri, earlier.memory.evidence_for):
        if name is not None and name.kind == "turn":
            yield StatusChange("turn", name.id, time, status, because)
