"""How well a passage answers a question, on a scale that means the same for every question.

The arms rank; they do not say whether the best is any good. Two things do: coverage, the share of
the question's weight, rare words heavier, that a passage contains; and the cosine of the two
meanings. Below the floor we abstain. The floors were fitted on questions put to the bank that
holds their answer and to one that does not; `bench/RESULTS.md` has the figures.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import IRREGULAR, stem, words
from holdfast.recall.core.candidates import Candidate
from holdfast.store.protocol import Reader

# By words alone, and where meaning is known too.
FLOOR = 0.45
FLOOR_WITH_MEANING = 0.43
# What is far below the best of a good ranking is not shown.
SHOWN = 0.5
_LOOKED_AT = 5
MOST = 2000
_READ = 8000
# Words of a question that stand farther apart than this do not stand together.
_WINDOW = 8
_BESIDE = 3


class Weights(NamedTuple):
    """How much each term of a question counts, by its word and by its stem."""

    by_word: dict[str, float]
    by_stem: dict[str, float]


def weigh_terms(reader: Reader, bank: str | None, terms: Sequence[str]) -> Weights:
    """The weight of each term: the rarer, the heavier; an unknown word weighs most."""
    size = max(2, reader.count_passages(bank, MOST))
    counts = reader.term_frequencies(bank, terms, MOST)
    by_word = {
        term: math.log(1 + size / (0.5 + count)) for term, count in zip(terms, counts, strict=True)
    }
    return Weights(by_word, {stem(term): value for term, value in by_word.items()})


def measure_relevance(
    candidate: Candidate, weight: Mapping[str, float], dated: frozenset[str] = frozenset()
) -> None:
    """Note how much of the question a candidate covers, by itself and with its context. Where its
    date answers to some stems of the question, it need not say them."""
    passage = candidate.passage
    alone = stems_in(weight, passage.body)
    beside = stems_in(weight, passage.context[: max(0, _READ - len(passage.body))])
    candidate.coverage_alone = weight_share(weight, alone)
    held = alone | beside
    candidate.coverage = weight_share(weight, held)
    if dated:
        rest = {key: value for key, value in weight.items() if key not in dated}
        candidate.coverage = max(candidate.coverage, weight_share(rest, held))
    candidate.notes["relevance"] = round(combine(candidate.coverage, candidate.cosine), 4)


def combine(covered: float, cosine: float) -> float:
    """Words and meaning together; words alone where no meaning is known."""
    return (covered + 2 * cosine) / 3 if cosine else covered


def reaches_threshold(ranked: Sequence[Candidate]) -> bool:
    """Whether the best of a ranking speak of the question at all."""
    best = ranked[:_LOOKED_AT]
    covered = max((c.coverage for c in best), default=0.0)
    cosine = max((c.cosine for c in ranked), default=0.0)
    return combine(covered, cosine) >= (FLOOR_WITH_MEANING if cosine else FLOOR)


def worth_showing(candidate: Candidate) -> bool:
    """Whether a candidate of a ranking that clears the floor should be shown."""
    floor = FLOOR_WITH_MEANING if candidate.cosine else FLOOR
    return candidate.notes["relevance"] >= SHOWN * floor


def coverage(weight: Mapping[str, float], text: str) -> float:
    """The share of the weight that a text covers, from 0 to 1."""
    return weight_share(weight, stems_in(weight, text))


def stems_in(weight: Mapping[str, float], text: str) -> frozenset[str]:
    """Which of a question's stems a text holds."""
    return frozenset(met for _, met in _matched_stems(weight, text))


def weight_share(weight: Mapping[str, float], stems: Collection[str]) -> float:
    """The share of the weight that some stems have, from 0 to 1."""
    total = sum(weight.values())
    return sum(value for key, value in weight.items() if key in stems) / total if total else 0.0


def proximity(weight: Mapping[str, float], text: str) -> float:
    """How close together a question's words stand in a text, from 0 to 1. Two different words
    count as much as the lighter of them, the less the farther apart they are."""
    total = sum(weight.values())
    met = _matched_stems(weight, text)
    pairs: dict[tuple[str, str], float] = {}
    for n, (place, one) in enumerate(met):
        for further, other in met[n + 1 : n + 1 + _BESIDE]:
            apart = further - place
            if one != other and apart <= _WINDOW:
                pair = (min(one, other), max(one, other))
                pairs[pair] = max(min(weight[one], weight[other]) / apart, pairs.get(pair, 0.0))
    return min(1.0, sum(pairs.values()) / total) if total else 0.0


def _matched_stems(weight: Mapping[str, float], text: str) -> list[tuple[int, str]]:
    """The question's stems in a text, in order, each with its place."""
    # A stem keeps the first letters of its word: only words that begin alike need stemming.
    starts = {key[:2] for key in weight}
    said = words(text[:_READ])
    alike = {word: stem(word) for word in set(said) if word[:2] in starts or word in IRREGULAR}
    met = {word: its for word, its in alike.items() if its in weight}
    return [(place, met[word]) for place, word in enumerate(said) if word in met] if met else []
