"""Chains: linked records that together cover a question.

A record found by a refined query is not an answer because it fits that query. It counts by what it
covers of the question that was asked, and only if it is linked to what was found before: by a rare
word or name that both contain, by a common session, or because one was made in the other. A chain
must cover nearly all of the question and every heavy word of it: a question about the mailer is
not answered with the importer, however much else agrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.language import collapse_spaces, sentences, stem, truncate, words
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Hit
from holdfast.recall.core.relevance import stems_in, weight_share
from holdfast.recall.core.statements import states
from holdfast.research.answering.quoting import (
    DIGEST_LABEL,
    MAX_SENTENCE_CHARS,
    announces_more,
    joined,
)


class ChainLimits(NamedTuple):
    """What makes records a chain. With these values `bench.research` answers all of its questions
    that need two records and none of those that nothing answers."""

    # Share of the question's weight that a chain must cover. Lower answers more, and more wrongly.
    min_coverage: float = 0.8
    # Words of a question that are looked for. Of "Why did we drop the queue?" one record has the
    # one and any other the other.
    min_words: int = 3
    # Share of the question's weight that each further record must add.
    min_added: float = 0.12
    # The same for a record that is linked by its session alone, which is a weaker link.
    min_added_same_session: float = 0.2
    # A word of the question that weighs more than this share of the mean must be covered.
    heavy_word: float = 0.9
    # Sentences of an excerpt, and what each further one must add to be worth its length.
    max_sentences: int = 3
    min_gain_per_sentence: float = 0.02
    # Characters of a record that are read for an excerpt: bounds the time for long records.
    read_chars: int = 6000


LIMITS = ChainLimits()


class Link(NamedTuple):
    """A record of a chain, its excerpt, and which of the question's stems the excerpt covers."""

    hit: Hit
    excerpt: str
    covers: frozenset[str]


class Chain(NamedTuple):
    """Linked records, and what links each to those before it."""

    links: tuple[Link, ...]
    link_reasons: tuple[str, ...] = ()

    @property
    def covers(self) -> frozenset[str]:
        """The stems of the question that the records cover together."""
        return frozenset[str]().union(*(link.covers for link in self.links))

    @property
    def last(self) -> Link:
        """The record that was added last."""
        return self.links[-1]

    def contains(self, uri: str) -> bool:
        """Whether the chain has this record."""
        return any(link.hit.uri == uri for link in self.links)


def best_excerpt(
    weights: Mapping[str, float], text: str, must_mention: str = ""
) -> tuple[str, frozenset[str]]:
    """The few consecutive sentences that cover most of a question, and the stems they cover. Where
    a name is given they must mention it: "" if none do."""
    unlabelled = [DIGEST_LABEL.sub("", s) for s in sentences(text[: LIMITS.read_chars])]
    statements = [s for s in unlabelled if states(s, by_person=False)]
    best, best_score = ("", frozenset[str]()), -1.0
    for size in range(1, LIMITS.max_sentences + 1):
        for first in range(max(1, len(statements) - size + 1)):
            run = statements[first : first + size]
            excerpt = collapse_spaces(joined(run)) if run else ""
            if not excerpt or announces_more(excerpt) or len(excerpt) > MAX_SENTENCE_CHARS:
                continue
            if must_mention and not mentions(excerpt, must_mention):
                continue
            stems = stems_in(weights, excerpt)
            score = weight_share(weights, stems) - LIMITS.min_gain_per_sentence * size
            if score > best_score:
                best, best_score = (truncate(excerpt, MAX_SENTENCE_CHARS), stems), score
    return best


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name, or all of its words."""
    if name.lower() in text.lower():
        return True
    stems = {stem(word) for word in words(text)}
    wanted = {stem(word) for word in words(name)}
    return bool(wanted) and wanted <= stems


def covers_enough(weights: Mapping[str, float], covered: frozenset[str]) -> bool:
    """Whether stems are nearly all of a question, and include all of its heavy words."""
    missing = [weight for word, weight in weights.items() if word not in covered]
    mean = sum(weights.values()) / len(weights) if weights else 0.0
    misses_heavy = any(weight > LIMITS.heavy_word * mean for weight in missing)
    return (
        bool(weights) and not misses_heavy and weight_share(weights, covered) >= LIMITS.min_coverage
    )


def extend(
    weights: Mapping[str, float],
    chain: Chain,
    hit: Hit,
    reason: str,
    must_mention: str = "",
    min_added: float = LIMITS.min_added,
) -> Chain | None:
    """A chain with one record more; None if that adds too little, or covers as much alone."""
    if chain.contains(hit.uri):
        return None
    excerpt, covers = best_excerpt(weights, hit.text, must_mention)
    added = weight_share(weights, covers - chain.covers)
    if not excerpt or added < min_added or chain.covers <= covers:
        return None
    return Chain((*chain.links, Link(hit, excerpt, covers)), (*chain.link_reasons, reason))


def best_chains(weights: Mapping[str, float], chains: Sequence[Chain], limit: int) -> list[Chain]:
    """The chains that cover most; of equal ones the shorter, then those with higher scores."""

    def rank(chain: Chain) -> tuple[float, int, float]:
        mean_score = sum(link.hit.score for link in chain.links) / len(chain.links)
        return -weight_share(weights, chain.covers), len(chain.links), -mean_score

    return sorted(chains, key=rank)[:limit]
