"""The graph retriever: from the entities that a query names to the records that mention them, and
one hop further through what those records mention.

An entity weighs more the fewer records mention it. One that nearly every record mentions leads
everywhere: it is a start only if the query names nothing else, and is never walked through.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from holdfast.language import STOPWORDS, file_word, fold_name
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.graph import MentionRole
from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import ScoredPassage
from holdfast.recall.core.parallel import Retriever, RetrieverResult
from holdfast.recall.query.terms import QUESTION_WORDS
from holdfast.regex import regex
from holdfast.store.knowledge.graph import GraphEntity
from holdfast.store.protocol import Reader

# Counting the records of a bank stops here; above, an entity's weight hardly changes.
MAX_COUNTED = 20_000

# Reading names out of a query: how much of it, and runs of how many words.
_TOKEN = regex(r"[\w@#$/.-]*[\w#]")
_MAX_QUERY = 2000
_MAX_TOKENS = 60
_MAX_NAME_WORDS = 4
_MIN_NAME_LENGTH = 3
# A name that more entities share (such as `index.ts`) means none of them.
_MAX_NAMESAKES = 3

# A bank of fewer records counts as one of this many: nothing is everywhere in a young bank.
_MIN_BANK_SIZE = 100
# The weight an entity needs to be a start, and to be walked through (which spreads further).
_MIN_START_WEIGHT = 0.15
_MIN_THROUGH_WEIGHT = 0.3

# These bound the time of the walk: 14.7 ms for two hops over 100,000 memories (bench.graph).
_RECORDS_PER_START = 300
_RECORDS_TO_WALK_FROM = 30
_ENTITIES_TO_WALK_THROUGH = 12
_RECORDS_PER_ENTITY = 40
_MAX_RESULTS = 100
# Where only some layers are wanted, so many times more records are looked at to find enough.
_OVERSAMPLING = 3

# A record reached by a second hop has at most this much of the score of the best direct one.
_SECOND_HOP = 0.4
# A memory that does not name an entity of the query has this much of its exchange's score.
_UNNAMED_MEMORY = 0.6
# What an entity's roles in a record add to a mere mention, which counts 1; all of them make 2.
_ROLE_GAINS = (
    (MentionRole.ABOUT, 0.5),
    (MentionRole.TOUCHED, 0.25),
    (MentionRole.EFFECT | MentionRole.CAUSE | MentionRole.PROBLEM, 0.25),
)


class NamedEntity(NamedTuple):
    """An entity that a query names, and its weight."""

    entity: GraphEntity
    weight: float


def entities_named_in(reader: Reader, bank: str, query: str) -> list[NamedEntity]:
    """The entities a query names by any of their spellings, the heaviest first. Of names within
    names the longest counts."""
    tokens = [t.strip("./-") for t in _TOKEN.findall(query[:_MAX_QUERY])][:_MAX_TOKENS]
    spans = _possible_names([token for token in tokens if token])
    known: defaultdict[str, list[GraphEntity]] = defaultdict(list)
    for key, entity in reader.graph.entities_by_spelling(bank, list(spans)):
        known[key].append(entity)
    taken: set[int] = set()
    found: dict[int, GraphEntity] = {}
    for key in sorted(known, key=lambda key: -len(spans[key][0])):
        free = [span for span in spans[key] if not taken & set(span)]
        if free:
            taken |= {place for span in free for place in span}
            meant = _disambiguate(known[key], tokens, free)
            found |= {entity.number: entity for entity in meant}
    size = reader.graph.size(bank, MAX_COUNTED)
    named = [NamedEntity(entity, entity_weight(entity.records, size)) for entity in found.values()]
    return sorted(named, key=lambda one: (-one.weight, one.entity.id))


def _possible_names(tokens: Sequence[str]) -> dict[str, list[range]]:
    """The spelling of each run of words as a name, with the positions of its words."""
    spans: defaultdict[str, list[range]] = defaultdict(list)
    for first, token in enumerate(tokens):
        if "." in token.strip(".") or "/" in token:
            spans[file_word(token)].append(range(first, first + 1))
        if token.startswith("#") or "@" in token:
            spans[token.lower()].append(range(first, first + 1))
        for size in range(1, _MAX_NAME_WORDS + 1):
            words = tokens[first : first + size]
            key = fold_name("".join(words))
            edges = {words[0].lower(), words[-1].lower()}
            is_name = len(words) == size and len(key) >= _MIN_NAME_LENGTH
            if is_name and not edges & (STOPWORDS | QUESTION_WORDS):
                spans[key].append(range(first, first + size))
    return spans


def _disambiguate(
    known: Sequence[GraphEntity], tokens: Sequence[str], spans: Sequence[range]
) -> list[GraphEntity]:
    """Of several entities of one name, those whose path the query spells; none if too many share
    the name."""
    paths = [tokens[span[0]] for span in spans if len(span) == 1 and "." in tokens[span[0]]]
    exact = [e for e in known if any(e.name.endswith(path) for path in paths)]
    meant = exact or known
    return list(meant) if len(meant) <= _MAX_NAMESAKES else []


def entity_weight(records: int, size: int) -> float:
    """The weight, from 0 to 1, of an entity that so many of a bank's records mention."""
    size = max(size, records, _MIN_BANK_SIZE)
    return math.log(size / max(records, 1)) / math.log(size)


def graph_retriever(
    bank: str | None,
    query: str,
    layers: Sequence[Layer],
    hops: int,
    limit: int,
    only_memories: bool = False,
) -> Retriever:
    """Records that mention the entities of a query. With `only_memories`, exchanges are replaced by
    the memories that rest on them."""

    def run(reader: Reader) -> RetrieverResult:
        banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
        found = [
            passage
            for one in banks
            for passage in _walk(reader, one, query, layers, hops, limit, only_memories)
        ]
        return RetrieverResult(found)

    return Retriever("graph", run)


def _walk(
    reader: Reader,
    bank: str,
    query: str,
    layers: Sequence[Layer],
    hops: int,
    limit: int,
    only_memories: bool,
) -> list[ScoredPassage]:
    named = entities_named_in(reader, bank, query)
    starts = [one for one in named if one.weight >= _MIN_START_WEIGHT] or named[:1]
    if not starts:
        return []
    total = sum(one.weight for one in starts) or 1.0
    start_weights = {s.entity.number: s.weight / total for s in starts}
    scores = _score_records(reader, bank, start_weights, _RECORDS_PER_START)
    if hops > 1:
        for node, score in _second_hop(reader, bank, scores, set(start_weights)).items():
            scores[node] = scores.get(node, 0.0) + score
    limit = min(limit, _MAX_RESULTS)
    looked_at = limit * (_OVERSAMPLING if layers else 1)
    best = sorted(scores, key=lambda node: -scores[node])[:looked_at]
    found = [
        ScoredPassage(passage, scores[node])
        for node, passage in reader.graph.node_passages(bank, best)
        if not layers or LAYER_BY_KIND[passage.kind] in layers
    ]
    if only_memories:
        names = [fold_name(one.entity.name) for one in starts]
        found = [one for one in found if one.passage.kind == "memory"]
        found += _score_memories(reader.graph.node_memory_passages(bank, best), scores, names)
    ranked = sorted(found, key=lambda f: (f.score, f.passage.time, f.passage.id), reverse=True)
    return ranked[:limit]


def _score_memories(
    found: Iterable[tuple[int, Passage]], scores: Mapping[int, float], names: Sequence[str]
) -> list[ScoredPassage]:
    """Memories with the best score of the exchanges they rest on; those that do not name an entity
    of the query get less."""
    best: dict[str, ScoredPassage] = {}
    for node, passage in found:
        text = fold_name(f"{passage.body}{passage.context}")
        score = scores[node] * (1.0 if any(name in text for name in names) else _UNNAMED_MEMORY)
        known = best.get(passage.id)
        if known is None or known.score < score:
            best[passage.id] = ScoredPassage(passage, score)
    return list(best.values())


def _score_records(
    reader: Reader, bank: str, weights: Mapping[int, float], limit_each: int
) -> dict[int, float]:
    """The records that mention some entities, by the entities' weights and roles in them."""
    scores: defaultdict[int, float] = defaultdict(float)
    for entity, weight in weights.items():
        for mention in reader.graph.mentions_of(bank, entity, limit_each):
            scores[mention.node] += weight * _role_factor(mention.roles)
    return scores


def _role_factor(roles: MentionRole) -> float:
    return (1 + sum(gain for role, gain in _ROLE_GAINS if roles & role)) / 2


def _second_hop(
    reader: Reader, bank: str, scores: Mapping[int, float], starts: set[int]
) -> dict[int, float]:
    """The records that share another rare entity with the best so far."""
    best = sorted(scores, key=lambda node: -scores[node])[:_RECORDS_TO_WALK_FROM]
    mentions = [m for m in reader.graph.mentions_in(bank, best) if m.entity not in starts]
    mentioned: defaultdict[int, int] = defaultdict(int)
    for mention in mentions:
        mentioned[mention.node] += 1
    size = reader.graph.size(bank, MAX_COUNTED)
    rarity = {
        k.number: entity_weight(k.records, size)
        for k in reader.graph.entities_by_number(bank, list({m.entity for m in mentions}))
    }
    weights: defaultdict[int, float] = defaultdict(float)
    for mention in mentions:
        if rarity.get(mention.entity, 0.0) >= _MIN_THROUGH_WEIGHT:
            share = scores[mention.node] * _role_factor(mention.roles)
            weights[mention.entity] += (
                share / mentioned[mention.node] ** 0.5 * rarity[mention.entity]
            )
    through = sorted(weights, key=lambda entity: -weights[entity])[:_ENTITIES_TO_WALK_THROUGH]
    highest = max((weights[entity] for entity in through), default=1.0)
    passed_on = {entity: _SECOND_HOP * weights[entity] / highest for entity in through}
    return _score_records(reader, bank, passed_on, _RECORDS_PER_ENTITY)
