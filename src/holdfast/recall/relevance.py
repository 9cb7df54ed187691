"""How well a passage answers a question, on a scale that means the same for every question.

The index ranks; it does not say whether the best is any good. Coverage does: the share of the
question's weight, rare words heavier, that a passage contains. Below `FLOOR` we abstain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from holdfast.language import IRREGULAR, stem, words
from holdfast.store.protocol import Reader

FLOOR = 0.45
MOST = 2000
_READ = 8000


def weigh(reader: Reader, bank: str | None, terms: Sequence[str]) -> dict[str, float]:
    """The weight of each term's stem: the rarer, the heavier; an unknown word weighs most."""
    size = max(2, reader.size(bank, MOST))
    counts = reader.frequencies(bank, terms, MOST)
    return {
        stem(term): math.log(1 + size / (0.5 + count))
        for term, count in zip(terms, counts, strict=True)
    }


def coverage(weight: Mapping[str, float], text: str) -> float:
    """The share of the weight that a text covers, from 0 to 1."""
    total = sum(weight.values())
    if not total:
        return 0.0
    # A stem keeps the first letters of its word: only words that begin alike need stemming.
    starts = {key[:2] for key in weight}
    found = {word for word in words(text[:_READ]) if word[:2] in starts or word in IRREGULAR}
    stems = {stem(word) for word in found}
    return sum(value for key, value in weight.items() if key in stems) / total
