"""The interface to embedding models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Maps each text to a vector; texts of similar meaning are close.

    `name` is stored with every vector and changes whenever the vectors would differ, so that
    vectors of two models are never compared.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text, in the order given."""
        ...


def unit_rows(rows: Vectors) -> Vectors:
    """The rows scaled to length one; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled = rows / np.maximum(lengths, np.float32(1e-12))
    return np.ascontiguousarray(scaled, dtype=np.float32)
