"""An embedder for tests: small, without a model, and the same on every machine."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence

import numpy as np

from holdfast.inference.embedder import Vectors, unit_rows

_WORD = re.compile(r"\w+")


class BagOfWords:
    """Gives a text the vector of its words, each at a place given by its hash. `asked` holds
    every text that was embedded, in order."""

    def __init__(self, name: str = "bag-of-words", dimension: int = 16) -> None:
        self.name: str = name
        self.dimension: int = dimension
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length one per text, in the order given; zeros where a text has no word."""
        self.asked += texts
        rows = np.zeros((len(texts), self.dimension), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in _WORD.findall(text.lower()):
                mark = zlib.crc32(word.encode())
                row[mark % self.dimension] += 1 if mark & 1 << 20 else -1
        return unit_rows(rows)
