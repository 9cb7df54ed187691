"""How much each feature weighs in a bank: rare features weigh more (inverse document frequency).

Weights are computed over all items of a bank on a coarse scale, so that they, and with them the
concepts, stay the same when a bank grows by a few records.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from holdfast.refine.concepts.items import Item


class RarityScale(NamedTuple):
    """The scale of rarity, in powers of two of the share of items that have a feature."""

    highest: float = 5.0  # features rarer than that all weigh the same
    lowest: float = 0.05  # a feature that every item has weighs next to nothing
    # Factor of a feature that a single item has. It cannot join that item to another, but it makes
    # the shared features a smaller part of the item.
    unshared_factor: float = 0.5
    # Added to the number of items, so that in a small bank a feature is not taken for common after
    # a few occurrences.
    smoothing: int = 8


_SCALE = RarityScale()


class Features(NamedTuple):
    """The features of an item with their weights in this bank."""

    files: Mapping[str, float]
    words: Mapping[str, float]


class FeatureWeights:
    """The weights of the features of some items."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._frequency: Counter[str] = Counter()
        self._total = 0
        self._rarity: dict[str, float] = {}
        for item in items:
            self._frequency.update(item.files.keys())
            self._frequency.update(item.words.keys())
            self._total += 1

    def frequency(self, feature: str) -> int:
        """The number of items that have a feature."""
        return self._frequency[feature]

    def rarity(self, feature: str) -> float:
        """The rarity of a feature, from `lowest` to `highest`, in halves."""
        known = self._rarity.get(feature)
        if known is None:
            known = self._rarity[feature] = self._compute_rarity(self._frequency[feature])
        return known

    def _compute_rarity(self, frequency: int) -> float:
        raw = math.log2((_coarse(self._total) + _SCALE.smoothing) / (_coarse(frequency) + 1))
        return min(_SCALE.highest, max(_SCALE.lowest, round(raw * 2) / 2))

    def weigh(self, item: Item) -> Features:
        """The features of an item with their weights in this bank."""
        return Features(self._weighed(item.files), self._weighed(item.words))

    def _weighed(self, features: Mapping[str, float]) -> dict[str, float]:
        return {
            feature: weight
            * self.rarity(feature)
            * (_SCALE.unshared_factor if self._frequency[feature] < 2 else 1)
            for feature, weight in features.items()
        }


def _coarse(number: int) -> float:
    """The number rounded to a quarter power of two."""
    return number if number < 4 else 2 ** (round(math.log2(number) * 4) / 4)
