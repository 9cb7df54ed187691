"""How well a passage answers a question, on a scale that means the same for every question.

The index ranks; it does not say whether the best is any good. Coverage does: the share of the
question's weight, rare words heavier, that a passage contains. Below `FLOOR` we abstain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.language import IRREGULAR, stem, words
from holdfast.recall.candidates import Candidate
from holdfast.store.protocol import Reader

FLOOR = 0.45
MOST = 2000
_READ = 8000


class Weights(NamedTuple):
    """How much each term of a question counts, by its word and by its stem."""

    by_word: dict[str, float]
    by_stem: dict[str, float]


def weigh(reader: Reader, bank: str | None, terms: Sequence[str]) -> Weights:
    """The weight of each term: the rarer, the heavier; an unknown word weighs most."""
    size = max(2, reader.size(bank, MOST))
    counts = reader.frequencies(bank, terms, MOST)
    by_word = {
        term: math.log(1 + size / (0.5 + count)) for term, count in zip(terms, counts, strict=True)
    }
    return Weights(by_word, {stem(term): value for term, value in by_word.items()})


def judge(candidate: Candidate, weight: Mapping[str, float]) -> None:
    """Note how much of the question a candidate covers, by itself and with its context."""
    passage = candidate.passage
    candidate.alone = coverage(weight, passage.body)
    candidate.covered = coverage(weight, f"{passage.body} {passage.context}")
    candidate.notes["relevance"] = round(candidate.covered, 4)


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
