"""Meaning, where records have vectors: how near a record is to what a concept holds so far."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
# Below this two texts have nothing in common, from there on they say the same.
_UNLIKE, _SAME = 0.3, 0.7


class Meanings:
    """The vectors of items by their number, and their sums by concept. May be empty."""

    def __init__(self, vectors: Mapping[int, Vector] | None = None) -> None:
        self._vectors = vectors or {}
        self._sums: dict[str, Vector] = {}

    def add(self, concept: str, number: int) -> None:
        """A record joined a concept."""
        vector = self._vectors.get(number)
        if vector is not None:
            known = self._sums.get(concept)
            self._sums[concept] = vector.copy() if known is None else known + vector

    def merge(self, concept: str, other: str) -> None:
        """One concept went into another."""
        gone = self._sums.pop(other, None)
        if gone is not None:
            known = self._sums.get(concept)
            self._sums[concept] = gone if known is None else known + gone

    def clear(self, concept: str) -> None:
        """A concept's members are counted anew."""
        self._sums.pop(concept, None)

    def nearness(self, number: int, concept: str) -> float:
        """From 0, nothing in common or nothing known, to 1."""
        vector, whole = self._vectors.get(number), self._sums.get(concept)
        if vector is None or whole is None:
            return 0.0
        length = float(np.linalg.norm(vector) * np.linalg.norm(whole))
        cosine = float(vector @ whole) / length if length else 0.0
        # Rounded: on another machine the last digits differ.
        return round(min(1.0, max(0.0, (cosine - _UNLIKE) / (_SAME - _UNLIKE))), 3)
