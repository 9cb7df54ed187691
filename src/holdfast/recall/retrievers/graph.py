"""The arm that walks the graph: from the entities a question names to the records that mention
them, and on through what those records mention.

An entity weighs what its name tells: the fewer records mention it, the more. One that nearly every
record mentions leads everywhere and so nowhere: it is walked from only if nothing else is named,
and never through.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from holdfast.language import STOPWORDS, file_word, folded
from holdfast.model.graph import MentionRole
from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.query.terms import QUESTION_WORDS
from holdfast.regex import regex
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import GraphEntity

_TOKEN = regex(r"[\w@#$/.-]*[\w#]")
_READ = 2000
_TOKENS = 60
_LONGEST_NAME = 4
_SHORTEST = 3
_NAMESAKES = 3
_COUNTED = 20_000
_YOUNG = 100
# What an entity must weigh to be walked from, and to be walked through.
_TELLS = 0.15
_LEADS = 0.3
_RECORDS_EACH = 300
_FROM = 30
_THROUGH = 12
_RECORDS_THROUGH = 40
_DECAY = 0.4
_MOST = 100
_PASSED_OVER = 3
# What a memory that does not name it has of the score of its exchange.
_UNNAMED = 0.6
_PARTS = (
    (MentionRole.ABOUT, 0.5),
    (MentionRole.TOUCHED, 0.25),
    (MentionRole.EFFECT | MentionRole.CAUSE | MentionRole.PROBLEM, 0.25),
)


class NamedEntity(NamedTuple):
    """An entity that a question names, and what it weighs."""

    entity: GraphEntity
    weight: float


def entities_named_in(reader: Reader, bank: str, question: str) -> list[NamedEntity]:
    """The entities a question names, by any of their spellings; of names within names the longest.
    The heaviest first."""
    tokens = [t.strip("./-") for t in _TOKEN.findall(question[:_READ])][:_TOKENS]
    spans = _spans([token for token in tokens if token])
    known: defaultdict[str, list[GraphEntity]] = defaultdict(list)
    for key, entity in reader.entities_by_spelling(bank, list(spans)):
        known[key].append(entity)
    taken: set[int] = set()
    found: dict[int, GraphEntity] = {}
    for key in sorted(known, key=lambda key: -len(spans[key][0])):
        free = [span for span in spans[key] if not taken & set(span)]
        if free:
            taken |= {place for span in free for place in span}
            found |= {entity.number: entity for entity in _meant(known[key], tokens, free)}
    size = reader.graph_size(bank, _COUNTED)
    told = [NamedEntity(entity, entity_weight(entity.records, size)) for entity in found.values()]
    return sorted(told, key=lambda one: (-one.weight, one.entity.id))


def _spans(tokens: Sequence[str]) -> dict[str, list[range]]:
    """What each run of words would be as a name, and where it stands."""
    spans: defaultdict[str, list[range]] = defaultdict(list)
    for first, token in enumerate(tokens):
        if "." in token.strip(".") or "/" in token:
            spans[file_word(token)].append(range(first, first + 1))
        if token.startswith("#") or "@" in token:
            spans[token.lower()].append(range(first, first + 1))
        for size in range(1, _LONGEST_NAME + 1):
            words = tokens[first : first + size]
            key = folded("".join(words))
            edges = {words[0].lower(), words[-1].lower()}
            if (
                len(words) == size
                and len(key) >= _SHORTEST
                and not edges & (STOPWORDS | QUESTION_WORDS)
            ):
                spans[key].append(range(first, first + size))
    return spans


def _meant(
    known: Sequence[GraphEntity], tokens: Sequence[str], spans: Sequence[range]
) -> list[GraphEntity]:
    """Of several entities of one name the one whose path the question spells. A name that many
    have, as `index.ts`, means none of them."""
    paths = [tokens[span[0]] for span in spans if len(span) == 1 and "." in tokens[span[0]]]
    exact = [e for e in known if any(e.name.endswith(path) for path in paths)]
    meant = exact or known
    return list(meant) if len(meant) <= _NAMESAKES else []


def entity_weight(records: int, size: int) -> float:
    """What an entity tells that so many of so many records mention: from 0 to 1. In a young memory
    nothing is everywhere yet."""
    size = max(size, records, _YOUNG)
    return math.log(size / max(records, 1)) / math.log(size)


class Walk(NamedTuple):
    """How far to walk, and what to bring home: records of some layers, at most so many. What is
    wanted may be `memories`: then an exchange stands for those that rest on it."""

    layers: Sequence[Layer]
    hops: int
    most: int
    memories: bool = False


def graph_retriever(bank: str | None, question: str, walk: Walk) -> Retriever:
    """Records by the entities that the question names."""

    def run(reader: Reader) -> RetrieverResult:
        banks = [bank] if bank is not None else [known.id for known in reader.banks()]
        return RetrieverResult(
            [find for one in banks for find in _walk(reader, one, question, walk)]
        )

    return Retriever("graph", run)


def _walk(reader: Reader, bank: str, question: str, walk: Walk) -> list[ScoredPassage]:
    named = entities_named_in(reader, bank, question)
    starts = [one for one in named if one.weight >= _TELLS] or named[:1]
    if not starts:
        return []
    total = sum(one.weight for one in starts) or 1.0
    scores = _spread(reader, bank, {s.entity.number: s.weight / total for s in starts})
    if walk.hops > 1:
        own = {s.entity.number for s in starts}
        for node, score in _further(reader, bank, scores, own).items():
            scores[node] = scores.get(node, 0.0) + score
    most = min(walk.most, _MOST)
    passed_over = _PASSED_OVER if walk.layers else 1
    best = sorted(scores, key=lambda node: -scores[node])[: most * passed_over]
    finds = [
        ScoredPassage(passage, scores[node])
        for node, passage in reader.node_passages(bank, best)
        if not walk.layers or LAYER_BY_KIND[passage.kind] in walk.layers
    ]
    if walk.memories:
        names = [folded(one.entity.name) for one in starts]
        finds = [find for find in finds if find.passage.kind == "memory"]
        finds += _resting(reader.node_memory_passages(bank, best), scores, names)
    ranked = sorted(finds, key=lambda f: (f.score, f.passage.time, f.passage.id), reverse=True)
    return ranked[:most]


def _resting(
    found: Iterable[tuple[int, Passage]], scores: Mapping[int, float], names: Sequence[str]
) -> list[ScoredPassage]:
    """Memories by the best of the exchanges that they rest on; of several of one exchange those
    that name what the question names."""
    best: dict[str, ScoredPassage] = {}
    for node, passage in found:
        told = folded(f"{passage.body}{passage.context}")
        score = scores[node] * (1.0 if any(name in told for name in names) else _UNNAMED)
        known = best.get(passage.id)
        if known is None or known.score < score:
            best[passage.id] = ScoredPassage(passage, score)
    return list(best.values())


def _spread(
    reader: Reader, bank: str, weights: Mapping[int, float], each: int = _RECORDS_EACH
) -> dict[int, float]:
    """Each record that mentions one of these, by what they weigh and the parts they play in it."""
    scores: defaultdict[int, float] = defaultdict(float)
    for entity, weight in weights.items():
        for bond in reader.mentions_of(bank, entity, each):
            scores[bond.node] += weight * _part(bond.parts)
    return scores


def _part(parts: MentionRole) -> float:
    return (1 + sum(gain for part, gain in _PARTS if parts & part)) / 2


def _further(
    reader: Reader, bank: str, scores: Mapping[int, float], own: Iterable[int]
) -> dict[int, float]:
    """What is one step further: the records that share something telling with the best so far."""
    best = sorted(scores, key=lambda node: -scores[node])[:_FROM]
    bonds = [bond for bond in reader.mentions_in(bank, best) if bond.entity not in set(own)]
    held: defaultdict[int, int] = defaultdict(int)
    for bond in bonds:
        held[bond.node] += 1
    size = reader.graph_size(bank, _COUNTED)
    telling = {
        k.number: entity_weight(k.records, size)
        for k in reader.entities_by_number(bank, list({b.entity for b in bonds}))
    }
    weights: defaultdict[int, float] = defaultdict(float)
    for bond in bonds:
        if telling.get(bond.entity, 0.0) >= _LEADS:
            share = scores[bond.node] * _part(bond.parts) / held[bond.node] ** 0.5
            weights[bond.entity] += share * telling[bond.entity]
    through = sorted(weights, key=lambda entity: -weights[entity])[:_THROUGH]
    highest = max((weights[entity] for entity in through), default=1.0)
    passed_on = {entity: _DECAY * weights[entity] / highest for entity in through}
    return _spread(reader, bank, passed_on, _RECORDS_THROUGH)
