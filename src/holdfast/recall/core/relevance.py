"""How well a passage answers a query, on a scale that means the same for every query.

Retrievers rank, but do not say whether the best result is any good. Two measures do: coverage, the
share of the query's weight (rare words weigh more) that a passage contains, and the cosine of the
two vectors. Below `tuning.AbstentionThresholds` a search abstains.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType

from holdfast.language import IRREGULAR_WORDS, stem, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.tuning import AbstentionThresholds
from holdfast.store.protocol import Reader
from holdfast.word_forms import (
    apart_from_pieces,
    fold_marks,
    is_piece,
    is_start,
    mixed_case_names,
    starts_word,
    without_elision,
)

# The note of how the reranker that ships scores a candidate; others have other scales.
READ = "read"
# Counting stops here: a word in more passages than this is common, however many there are.
MAX_COUNTED = 2000
# Longer texts are measured by their start: reading costs as much as finding.
_MAX_CHARACTERS = 8000
# Query words farther apart than this many words do not stand together; each is compared with this
# many of the query words that follow it.
_PROXIMITY_WINDOW = 8
_PROXIMITY_PAIRS = 3


class TermWeights(NamedTuple):
    """The weight of each term of a query, by its word and by its stem, and how many passages they
    were counted in, up to `MAX_COUNTED`. `unknown` are the words that none of these has."""

    by_word: dict[str, float]
    by_stem: dict[str, float]
    passages: int = 0
    unknown: frozenset[str] = frozenset()


def weigh_terms(reader: Reader, bank: str | None, terms: Sequence[str]) -> TermWeights:
    """Weigh each term: the rarer, the heavier; an unknown word weighs most."""
    size = max(2, reader.passages.count(bank, MAX_COUNTED))
    counts = reader.passages.term_frequencies(bank, terms, MAX_COUNTED)
    by_word = {
        term: math.log(1 + size / (0.5 + count)) for term, count in zip(terms, counts, strict=True)
    }
    by_stem = {stem(term): value for term, value in by_word.items()}
    unknown = frozenset(term for term, count in zip(terms, counts, strict=True) if not count)
    return TermWeights(by_word, by_stem, size, unknown)


class Wanted(NamedTuple):
    """What a candidate is measured by: the weights of the query's stems, those among them that name
    something, the thresholds, other terms for its words (each the stems that it stands for and
    its own), and the query's identifiers with their stems."""

    weights: Mapping[str, float]
    thresholds: AbstentionThresholds
    names: frozenset[str] = frozenset()
    alternatives: Sequence[tuple[frozenset[str], tuple[str, ...]]] = ()
    identifiers: Mapping[str, frozenset[str]] = MappingProxyType({})


def measure_relevance(
    candidate: Candidate, wanted: Wanted, implied: frozenset[str] = frozenset()
) -> None:
    """Set a candidate's coverage, and note its relevance and how much of it is needed for an
    answer. Stems in `implied` need not be in the text, because the candidate's date answers to
    them. An identifier that the candidate holds is there wherever it stands, and no cosine lowers
    what it tells: a vector knows little of a name."""
    weights = wanted.weights
    passage = candidate.passage
    own = stems_in(weights, passage.body)
    context = stems_in(weights, passage.context[: max(0, _MAX_CHARACTERS - len(passage.body))])
    names = [wanted.identifiers.get(name, frozenset()) for name in candidate.names]
    held = frozenset[str]().union(*names)
    own |= held
    candidate.coverage_alone = weight_share(weights, own)
    present = own | context
    candidate.coverage = weight_share(weights, present)
    if implied:
        rest = {key: value for key, value in weights.items() if key not in implied}
        candidate.coverage = max(candidate.coverage, weight_share(rest, present))
    by_both = combine(candidate.coverage, candidate.cosine)
    # A name of words that say nothing (`--with`) counts like one of the query's words.
    bare = names.count(frozenset())
    by_names = max(weight_share(weights, held), bare / max(1, bare + len(weights)))
    candidate.notes["relevance"] = round(max(by_both, by_names), 4)
    needed = wanted.thresholds.minimum(candidate.cosine)
    if wanted.names and not wanted.names & present:
        needed += wanted.thresholds.without_name
    if candidate.notes.get(READ, -math.inf) >= wanted.thresholds.read_score:
        needed -= wanted.thresholds.when_read
    candidate.notes["needed"] = round(needed, 4)
    candidate.notes.pop("own_words", None)
    if wanted.alternatives and not answers(candidate.notes):
        _count_other_words(candidate, wanted, present | implied)


def _count_other_words(candidate: Candidate, wanted: Wanted, present: frozenset[str]) -> None:
    """Raise the relevance of a text that says every word of the query that it lacks by another
    term, and note what its own words gave. Where only some are, the rest may be about something
    else."""
    text = f"{candidate.passage.body} {candidate.passage.context}"
    said = present.union(*(r for r, term in wanted.alternatives if _has_phrase(term, text)))
    if not said.issuperset(wanted.weights):
        return
    lacking = weight_share(wanted.weights, frozenset(wanted.weights) - present)
    by_both = 1 - lacking * (1 - wanted.thresholds.other_words)
    candidate.notes["own_words"] = candidate.notes["relevance"]
    candidate.notes["relevance"] = round(combine(by_both, candidate.cosine), 4)


def _has_phrase(stems: tuple[str, ...], text: str) -> bool:
    """Whether a text has these stems, one after the other."""
    places = set(_matches(tuple(dict.fromkeys(stems)), text[:_MAX_CHARACTERS]))
    return any(
        all((start + n, stem) in places for n, stem in enumerate(stems)) for start, _ in places
    )


def combine(coverage: float, cosine: float) -> float:
    """The relevance: coverage alone where no cosine is known."""
    return (coverage + 2 * cosine) / 3 if cosine else coverage


def answers(measures: Mapping[str, float]) -> bool:
    """Whether a text answers the query, by what `measure_relevance` noted of it. Where none does, a
    search abstains, and so does everything that answers by one."""
    return measures["relevance"] >= measures["needed"]


def worth_showing(measures: Mapping[str, float], thresholds: AbstentionThresholds) -> bool:
    """Whether a text is about the query, though it may not answer it by itself."""
    return measures["relevance"] >= thresholds.shown_fraction * measures["needed"]


def only_in_other_words(candidate: Candidate, thresholds: AbstentionThresholds) -> bool:
    """Whether a candidate would not be shown but for synonyms of the query's words."""
    own = candidate.notes.get("own_words")
    return (
        not candidate.names
        and own is not None
        and own < thresholds.shown_fraction * candidate.notes["needed"]
    )


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
                close = min(weights[one], weights[other]) / max(1, apart)
                pairs[pair] = max(close, pairs.get(pair, 0.0))
    return min(1.0, sum(pairs.values()) / total) if total else 0.0


def _matched_stems(weights: Mapping[str, float], text: str) -> Sequence[tuple[int, str]]:
    """The query's stems in a text, in order, each with its position."""
    return _matches(tuple(weights), text[:_MAX_CHARACTERS])


class _Sought(NamedTuple):
    """What a text is searched for: the stems of a query, the letters that they begin with, those
    among them that are pieces of a script without spaces, and starts of words, each with its
    stem."""

    stems: frozenset[str]
    first_letters: frozenset[str]
    pieces: tuple[str, ...]
    starts: tuple[tuple[str, str], ...]


@lru_cache(maxsize=16)
def _sought(stems: tuple[str, ...]) -> _Sought:
    starts = ((fold_marks(key[:-1].lower()), key) for key in stems if is_start(key))
    return _Sought(
        frozenset(stems),
        # A stem keeps the first letters of its word: only words that begin alike need stemming.
        frozenset(key[:2] for key in stems),
        tuple(key for key in stems if is_piece(key)),
        tuple(starts),
    )


# A search looks into each of its best texts several times.
@lru_cache(maxsize=512)
def _matches(stems: tuple[str, ...], text: str) -> Sequence[tuple[int, str]]:
    sought = _sought(stems)
    said = words(apart_from_pieces(text))
    distinct = set(said)
    found = {
        word: [root]
        for word in distinct
        if word[:2] in sought.first_letters or word in IRREGULAR_WORDS
        if (root := stem(word)) in sought.stems
    }
    for word, roots in _other_forms(sought, text, distinct):
        found[word] = [*found.get(word, ()), *roots]
    if not found and not sought.pieces:
        return ()
    matched = [(n, root) for n, word in enumerate(said) if word in found for root in found[word]]
    return sorted(matched + _piece_places(sought.pieces, text)) if sought.pieces else matched


def _other_forms(
    sought: _Sought, text: str, said: Collection[str]
) -> Iterator[tuple[str, list[str]]]:
    """Words of a text with the query's stems that they have in another form: as names in mixed
    case, whose parts are words, and as words that begin like one of the query."""
    for name, parts in mixed_case_names(text):
        roots = {stem(part) for part in parts} & sought.stems
        if roots:
            yield name, sorted(roots)
    if not text.isascii():
        # The index has no marks on letters: "migracion" finds "migración".
        for word in said:
            if not word.isascii() and (root := _unmarked_stem(word)) in sought.stems:
                yield word, [root]
    if sought.starts:
        beginnings = tuple(start for start, _ in sought.starts)
        for word in said:
            is_plain = word.isascii() and word.isalpha()
            folded = word if is_plain else fold_marks(without_elision(word))
            if folded.startswith(beginnings):
                roots = [key for start, key in sought.starts if starts_word(start, folded)]
                if roots:
                    yield word, roots


def _unmarked_stem(word: str) -> str:
    return stem(fold_marks(without_elision(word)))


def _piece_places(pieces: Iterable[str], text: str) -> list[tuple[int, str]]:
    """Where pieces of a script without spaces stand in a text, counted in words of two
    characters."""
    lowered = text.lower()
    return [
        (found.start() // 2, piece)
        for piece in pieces
        for found in islice(re.finditer(re.escape(piece), lowered), _PROXIMITY_WINDOW)
    ]
