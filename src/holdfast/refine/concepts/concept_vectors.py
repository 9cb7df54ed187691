"""Embedding vectors of items and the sums of their concepts: how similar in meaning both are."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
# The range of cosines that is mapped to 0..1: below it two texts have nothing in common, above it
# they say the same. It depends on the embedding model.
_UNRELATED_COSINE, _SAME_COSINE = 0.3, 0.7


class ConceptVectors:
    """The vectors of items by number, and their sums by concept. Without any, all are unlike."""

    def __init__(self, vectors: Mapping[int, Vector] | None = None) -> None:
        self._vectors = vectors or {}
        self._sums: dict[str, Vector] = {}

    def add(self, concept: str, number: int) -> None:
        """Add the vector of an item to a concept."""
        vector = self._vectors.get(number)
        if vector is not None:
            known = self._sums.get(concept)
            self._sums[concept] = vector.copy() if known is None else known + vector

    def merge(self, concept: str, other: str) -> None:
        """Add the sum of another concept to a concept and remove the other."""
        gone = self._sums.pop(other, None)
        if gone is not None:
            known = self._sums.get(concept)
            self._sums[concept] = gone if known is None else known + gone

    def clear(self, concept: str) -> None:
        """Remove the sum of a concept."""
        self._sums.pop(concept, None)

    def similarity(self, number: int, concept: str) -> float:
        """From 0 (nothing in common, or no vectors) to 1."""
        vector, whole = self._vectors.get(number), self._sums.get(concept)
        if vector is None or whole is None:
            return 0.0
        length = float(np.linalg.norm(vector) * np.linalg.norm(whole))
        cosine = float(vector @ whole) / length if length else 0.0
        scaled = (cosine - _UNRELATED_COSINE) / (_SAME_COSINE - _UNRELATED_COSINE)
        # Rounded, because the last digits differ between machines.
        return round(min(1.0, max(0.0, scaled)), 3)
