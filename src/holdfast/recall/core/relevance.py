"""How well a passage answers a query, on a scale that means the same for every query.

Retrievers rank, but do not say whether the best result is any good. Two measures do: coverage, the
share of the query's weight (rare words weigh more) that a passage contains, and the cosine of the
two vectors. Below `tuning.AbstentionThresholds` a search abstains.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import IRREGULAR_WORDS, stem, words
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.tuning import AbstentionThresholds
from holdfast.store.protocol import Reader

# Counting stops here: a word in more passages than this is common, however many there are.
MAX_COUNTED = 2000
# Longer texts are measured by their start: reading costs as much as finding.
_MAX_CHARACTERS = 8000
# Query words farther apart than this many words do not stand together; each is compared with this
# many of the query words that follow it.
_PROXIMITY_WINDOW = 8
_PROXIMITY_PAIRS = 3


class TermWeights(NamedTuple):
    """The weight of each term of a query, by its word and by its stem."""

    by_word: dict[str, float]
    by_stem: dict[str, float]


def weigh_terms(reader: Reader, bank: str | None, terms: Sequence[str]) -> TermWeights:
    """Weigh each term: the rarer, the heavier; an unknown word weighs most."""
    size = max(2, reader.passages.count(bank, MAX_COUNTED))
    counts = reader.passages.term_frequencies(bank, terms, MAX_COUNTED)
    by_word = {
        term: math.log(1 + size / (0.5 + count)) for term, count in zip(terms, counts, strict=True)
    }
    return TermWeights(by_word, {stem(term): value for term, value in by_word.items()})


def measure_relevance(
    candidate: Candidate, weights: Mapping[str, float], implied: frozenset[str] = frozenset()
) -> None:
    """Set a candidate's coverage and note its relevance. Stems in `implied` need not be in the
    text, because the candidate's date answers to them."""
    passage = candidate.passage
    own = stems_in(weights, passage.body)
    context = stems_in(weights, passage.context[: max(0, _MAX_CHARACTERS - len(passage.body))])
    candidate.coverage_alone = weight_share(weights, own)
    present = own | context
    candidate.coverage = weight_share(weights, present)
    if implied:
        rest = {key: value for key, value in weights.items() if key not in implied}
        candidate.coverage = max(candidate.coverage, weight_share(rest, present))
    candidate.notes["relevance"] = round(combine(candidate.coverage, candidate.cosine), 4)


def combine(coverage: float, cosine: float) -> float:
    """The relevance: coverage alone where no cosine is known."""
    return (coverage + 2 * cosine) / 3 if cosine else coverage


def reaches_threshold(ranked: Sequence[Candidate], thresholds: AbstentionThresholds) -> bool:
    """Whether a ranking answers the query at all; if not, the search abstains."""
    best = ranked[: thresholds.best_considered]
    covered = max((c.coverage for c in best), default=0.0)
    cosine = max((c.cosine for c in ranked), default=0.0)
    return combine(covered, cosine) >= thresholds.minimum(cosine)


def worth_showing(candidate: Candidate, thresholds: AbstentionThresholds) -> bool:
    """Whether a candidate of a ranking that answers the query should be shown."""
    minimum = thresholds.shown_fraction * thresholds.minimum(candidate.cosine)
    return candidate.notes["relevance"] >= minimum


def coverage(weights: Mapping[str, float], text: str) -> float:
    """The share of the query's weight that a text contains, from 0 to 1."""
    return weight_share(weights, stems_in(weights, text))


def stems_in(weights: Mapping[str, float], text: str) -> frozenset[str]:
    """Which of a query's stems a text contains."""
    return frozenset(found for _, found in _matched_stems(weights, text))


def weight_share(weights: Mapping[str, float], stems: Collection[str]) -> float:
    """The share of the query's weight that some stems have, from 0 to 1."""
    total = sum(weights.values())
    return sum(value for key, value in weights.items() if key in stems) / total if total else 0.0


def proximity(weights: Mapping[str, float], text: str) -> float:
    """How close together a query's words stand in a text, from 0 to 1. A pair of different words
    counts as much as the lighter of them, divided by the distance."""
    total = sum(weights.values())
    found = _matched_stems(weights, text)
    pairs: dict[tuple[str, str], float] = {}
    for n, (place, one) in enumerate(found):
        for further, other in found[n + 1 : n + 1 + _PROXIMITY_PAIRS]:
            apart = further - place
            if one != other and apart <= _PROXIMITY_WINDOW:
                pair = (min(one, other), max(one, other))
                pairs[pair] = max(min(weights[one], weights[other]) / apart, pairs.get(pair, 0.0))
    return min(1.0, sum(pairs.values()) / total) if total else 0.0


def _matched_stems(weights: Mapping[str, float], text: str) -> list[tuple[int, str]]:
    """The query's stems in a text, in order, each with its position."""
    # A stem keeps the first letters of its word: only words that begin alike need stemming.
    starts = {key[:2] for key in weights}
    said = words(text[:_MAX_CHARACTERS])
    alike = {
        word: stem(word) for word in set(said) if word[:2] in starts or word in IRREGULAR_WORDS
    }
    found = {word: root for word, root in alike.items() if root in weights}
    return [(n, found[word]) for n, word in enumerate(said) if word in found] if found else []
