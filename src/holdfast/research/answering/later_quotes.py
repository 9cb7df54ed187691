"""Puts what a later statement says above quotes of what it superseded or amended.

The quotes of an answer are chosen by the words of the question. An amendment repeats few of them,
so its quote may be missing, or come last. The same goes for a later statement that recall put first
though nothing links it to the earlier one (`recall.ranking.newer_statements`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.language import content_stems, shared_fraction
from holdfast.model.knowledge import Fact
from holdfast.model.query import Hit
from holdfast.model.uris import parse_uri, uri
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS
from holdfast.research.answering.quoting import MAX_CITATIONS, Quote
from holdfast.store.protocol import Reader

# A record of the session in which a statement was made speaks of it if it has so many of its words.
_SHARED_STEMS = 2
# Two quotes that share this part of the shorter one's words say the same.
_SAME_WORDS = 0.8


def with_later_first(
    reader: Reader, hits: Sequence[Hit], chosen: Sequence[Quote], quote: Callable[[Hit], Quote]
) -> list[Quote]:
    """The chosen quotes with that of each later statement above those of what it superseded or
    amended; `quote` makes one that was not chosen."""
    order = list(chosen)
    for rank, later in enumerate(hits):
        earlier = [_Earlier(reader, fact) for fact in _facts(reader, later.bank, later.supersedes)]
        below = {hit.uri for hit in hits[rank:]} if "newer" in later.why else set[str]()
        places = [
            n
            for n, q in enumerate(order)
            if any(one.is_said_in(q.hit) for one in earlier)
            or (q.hit.uri in below and _is_newer(later, q.hit))
        ]
        if not places:
            continue
        said = quote(later)
        own = next(
            (
                q
                for n, q in enumerate(order)
                if _says_the_same(reader, q, later)
                or (n not in places and _share_words(q.sentence, said.sentence))
            ),
            None,
        )
        if own is not None and order.index(own) < places[0]:
            continue
        if own is not None:
            order.remove(own)
        order.insert(places[0], own or said)
    return order[:MAX_CITATIONS]


def _is_newer(later: Hit, earlier: Hit) -> bool:
    """Whether recall, which put a later statement first, did so before such a hit."""
    shared = shared_fraction(content_stems(later.text), content_stems(earlier.text))
    is_after = later.session != earlier.session and later.time > earlier.time > ""
    return is_after and shared >= DEFAULT_WEIGHTS.newer_subject


def _says_the_same(reader: Reader, quote: Quote, later: Hit) -> bool:
    """Whether a quote is of a hit, of a turn or fact that states the same, or in the same words."""
    names = {quote.hit.uri, later.uri}
    if len(names) == 1:
        return True
    facts = _facts(reader, later.bank, [name for name in names if "/fact/" in name])
    stated_in_both = any(names & {*fact.evidence} for fact in facts)
    same_words = content_stems(quote.sentence) == content_stems(later.text)
    return stated_in_both or same_words


def _share_words(one: str, other: str) -> bool:
    """Whether one of two quotes has nearly all words of the other."""
    return shared_fraction(content_stems(one), content_stems(other)) >= _SAME_WORDS


def _facts(reader: Reader, bank: str, names: Sequence[str]) -> list[Fact]:
    found = [reader.records.find(bank, "fact", name.rpartition("/")[2], 1) for name in names]
    return [record for some in found for record in some if isinstance(record, Fact)]


class _Earlier:
    """A superseded or amended fact, with the records and sessions that state it."""

    def __init__(self, reader: Reader, fact: Fact) -> None:
        self._uris = {uri("fact", fact.id), *fact.evidence}
        self._stems = content_stems(fact.content)
        self._sessions: set[str] = set()
        for name in map(parse_uri, fact.evidence):
            for record in reader.records.find(fact.bank, *name, 1) if name else ():
                session = reader.sessions.get(fact.bank, str(getattr(record, "session", "")))
                if session is not None:
                    self._sessions.add(session.host)

    def is_said_in(self, hit: Hit) -> bool:
        """Whether a hit states the fact, or speaks of it where it was stated."""
        if hit.uri in self._uris:
            return True
        shared = len(self._stems & content_stems(hit.text))
        return hit.session in self._sessions and shared >= _SHARED_STEMS
