"""Evidence in several records: a chain whose records are linked and together cover a question.

What a refined query finds is never taken for an answer because it fits that query. It counts only
by what it covers of the question that was asked, and only if it is tied to what was found before:
by a rare word or name that both hold, by the session both stand in, or because the one made the
other. A chain must cover nearly all of the question and every heavy word of it: who asks about the
mailer is not told of the importer, however much else agrees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.language import cut, sentences, squeeze, stem, words
from holdfast.model.query import Hit
from holdfast.recall.core.relevance import weight_share, stems_in
from holdfast.research.answering.quoting import DIGEST_LABEL, MAX_SENTENCE_CHARS

# What a chain must cover of a question, and what each of its records must add to the rest.
COVERED = 0.8
ADDED = 0.12
# A word of the question that weighs more than this share of the mean must not be missing.
_HEAVY = 0.9
_WINDOW = 3
_READ = 6000


class Link(NamedTuple):
    """A record of a chain, what it says, and which of the question's stems that covers."""

    hit: Hit
    excerpt: str
    covers: frozenset[str]


class Chain(NamedTuple):
    """Linked records, and by what each is linked to those before."""

    links: tuple[Link, ...]
    link_reasons: tuple[str, ...] = ()

    @property
    def covers(self) -> frozenset[str]:
        """What they cover together."""
        return frozenset[str]().union(*(link.covers for link in self.links))

    @property
    def last(self) -> Link:
        """The record that was added last."""
        return self.links[-1]

    def contains(self, uri: str) -> bool:
        """Whether a record is in it."""
        return any(link.hit.uri == uri for link in self.links)


def best_excerpt(weight: Mapping[str, float], text: str, must: str = "") -> tuple[str, frozenset[str]]:
    """The few sentences of a text that stand together and cover most of a question, and what they
    cover; with a word that they must hold, "" where they do not."""
    told = [DIGEST_LABEL.sub("", s) for s in sentences(text[:_READ])]
    kept = [s for s in told if not s.rstrip().endswith("?")]
    best, most = ("", frozenset[str]()), -1.0
    for size in range(1, _WINDOW + 1):
        for first in range(max(1, len(kept) - size + 1)):
            said = squeeze(" ".join(kept[first : first + size]))
            if not said or len(said) > MAX_SENTENCE_CHARS or (must and not mentions(said, must)):
                continue
            stems = stems_in(weight, said)
            # One sentence more must be worth it.
            worth = weight_share(weight, stems) - 0.02 * size
            if worth > most:
                best, most = (cut(said, MAX_SENTENCE_CHARS), stems), worth
    return best


def mentions(text: str, name: str) -> bool:
    """Whether a text has a name, or all the words of it."""
    if name.lower() in text.lower():
        return True
    stems = {stem(word) for word in words(text)}
    wanted = {stem(word) for word in words(name)}
    return bool(wanted) and wanted <= stems


def covers_enough(weight: Mapping[str, float], covered: frozenset[str]) -> bool:
    """Whether some stems are nearly all of a question, and all that is heavy in it."""
    missing = [value for key, value in weight.items() if key not in covered]
    mean = sum(weight.values()) / len(weight) if weight else 0.0
    heavy = any(value > _HEAVY * mean for value in missing)
    return bool(weight) and not heavy and weight_share(weight, covered) >= COVERED


def extend(
    weight: Mapping[str, float],
    chain: Chain,
    hit: Hit,
    by: str,
    must: str = "",
    least: float = ADDED,
) -> Chain | None:
    """A chain with one record more, if that adds so much to what is covered and does not stand
    without the rest."""
    if chain.contains(hit.uri):
        return None
    said, covers = best_excerpt(weight, hit.text, must)
    added = weight_share(weight, covers - chain.covers)
    if not said or added < least or chain.covers <= covers:
        return None
    return Chain((*chain.links, Link(hit, said, covers)), (*chain.link_reasons, by))


def best_chains(weight: Mapping[str, float], chains: Sequence[Chain], most: int) -> list[Chain]:
    """The chains that cover most, the shorter and the surer first among equals."""

    def worth(chain: Chain) -> tuple[float, int, float]:
        sure = sum(link.hit.score for link in chain.links) / len(chain.links)
        return -weight_share(weight, chain.covers), len(chain.links), -sure

    return sorted(chains, key=worth)[:most]
