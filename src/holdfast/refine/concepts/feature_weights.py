"""How much each feature counts in a bank: what many records have tells few apart.

Counted over all that is grouped, on a coarse scale, so that a bank that grows by a few records
weighs its features as it did before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.refine.concepts.items import Item

# What is seldom enough counts all the same.
_HIGHEST = 5.0
_LOWEST = 0.05
# What only one record has cannot join it to another; that it is there still sets it apart.
_ALONE = 0.5
_EVEN = 8


class Features(NamedTuple):
    """An item's files and words as they count in this bank."""

    files: Mapping[str, float]
    words: Mapping[str, float]


class Weights:
    """What features count in a bank."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._frequency: Counter[str] = Counter()
        self._total = 0
        self._rarity: dict[str, float] = {}
        for item in items:
            self._frequency.update(item.files.keys())
            self._frequency.update(item.words.keys())
            self._total += 1

    def frequency(self, feature: str) -> int:
        """In how many items a feature occurs."""
        return self._frequency[feature]

    def rarity(self, feature: str) -> float:
        """How much it tells, from next to nothing up to `_HIGHEST`, in halves."""
        known = self._rarity.get(feature)
        if known is None:
            known = self._rarity[feature] = self._reckon(self._frequency[feature])
        return known

    def _reckon(self, number: int) -> float:
        raw = math.log2((_coarse(self._total) + _EVEN) / (_coarse(number) + 1))
        return min(_HIGHEST, max(_LOWEST, round(raw * 2) / 2))

    def of(self, item: Item) -> Features:
        """An item's features, weighed."""
        return Features(self._weighed(item.files), self._weighed(item.words))

    def _weighed(self, features: Mapping[str, float]) -> dict[str, float]:
        return {
            feature: weight * self.rarity(feature) * (_ALONE if self._frequency[feature] < 2 else 1)
            for feature, weight in features.items()
        }


def _coarse(number: int) -> float:
    """The number on a scale of quarter powers of two."""
    return number if number < 4 else 2 ** (round(math.log2(number) * 4) / 4)
