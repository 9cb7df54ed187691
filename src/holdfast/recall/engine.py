"""Recall: the records that speak of a question, best first, or an honest nothing.

Arms race over all layers; their finds become one ranking; the best are looked at closely; what
clears the floor is packed into the budget. See `rank` for the order of things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from time import monotonic
from typing import NamedTuple

from holdfast.model.query import LAYER_OF, Layer, Passage, Recalled, Strategy
from holdfast.recall import arms, hits, order, packing
from holdfast.recall.candidates import Candidate, Pool, key_of
from holdfast.recall.expansion import Expansion, expand, whole_names
from holdfast.recall.fusion import (
    HIGHEST,
    WEIGHTS,
    WORDS_ONLY,
    admit,
    by_places,
    by_scores,
    smooth,
    support,
)
from holdfast.recall.meaning import Meaning
from holdfast.recall.plan import Budget, Fusion, Plan
from holdfast.recall.race import Arm, Finish, race
from holdfast.recall.relevance import clears, judge, weigh, worth_showing
from holdfast.recall.terms import Terms, read_terms
from holdfast.recall.when import When, about_recent, read_when
from holdfast.store.protocol import Store

MISSES = 3
# How long the cross-encoder may take, so that nobody waits for it on a busy machine.
RERANK_S = {Budget.LOW: 0.0, Budget.MID: 1.0, Budget.HIGH: 2.0}
_NEIGHBOURS_OF = 40
_PART = 1200
_PARTS = 4
_CONTEXT = 300
_SHORT = 400
# What the cross-encoder says against what all else says.
_RERANK_SHARE = 0.7
_SAME_MEASURE = ("direct_fts", "summaries", "temporal")


class Query(NamedTuple):
    """A question, read."""

    text: str
    terms: Terms
    weight: dict[str, float]
    words: dict[str, float]
    when: When | None
    recent: bool


class Ranking(NamedTuple):
    """Everything that is in the running, best first, and how it came about."""

    query: Query
    candidates: list[Candidate]
    strategies: tuple[Strategy, ...]

    @property
    def good(self) -> list[Candidate]:
        """Those to show, if the best are any good."""
        return [] if self.abstains else [c for c in self.candidates if worth_showing(c)]

    @property
    def abstains(self) -> bool:
        """Whether nothing speaks of the question. A question about a time or about the latest
        work is answered by what there is of it."""
        query = self.query
        if query.recent or (query.when is not None and query.when.only):
            return not any({"recent", "temporal"} & c.ranks.keys() for c in self.candidates)
        return not clears(self.candidates)


def recall(
    store: Store,
    bank: str | None,
    text: str,
    plan: Plan,
    now: Callable[[], str],
    meaning: Meaning | None = None,
) -> Recalled:
    """Search a bank; `None` searches them all."""
    ranking = rank(store, bank, text, plan, now, meaning)
    good = ranking.good
    shown = packing.pack(good, plan.means.tokens, plan.limit, plan.repeats)
    misses = [] if good else ranking.candidates[:MISSES]
    return Recalled(
        query=text,
        bank=bank or "all",
        abstained=not good,
        hits=tuple(hits.hit(store, item) for item in shown),
        strategies=ranking.strategies,
        misses=tuple(hits.hit(store, item) for item in misses),
    )


def rank(
    store: Store,
    bank: str | None,
    text: str,
    plan: Plan,
    now: Callable[[], str],
    meaning: Meaning | None = None,
) -> Ranking:
    """Read the question, race the arms, fuse, look closely, and set in order."""
    query = read(store, bank, text, now)
    finishes = race(store, _arms(bank, query, plan, meaning))
    pool = Pool()
    by_words = max((find.score for find in finishes[0].found.finds), default=0.0)
    for finish in finishes:
        name, found = finish.strategy.name, finish.found
        highest = by_words if name in _SAME_MEASURE else 0.0
        finds = [find for find in found.finds if _wanted(find.passage, plan)]
        admit(pool, name, finds, found.lowest, highest)
    near = finishes[-1]
    if meaning is not None and plan.means.close:
        _fill_meaning(store, query, pool, meaning, near)
    weights = WORDS_ONLY if meaning is None or not plan.means.close else WEIGHTS
    _score(pool, plan, weights)
    if plan.means.close and (not plan.layers or Layer.TRANSCRIPTS in plan.layers):
        _meet_neighbours(store, pool)
        if meaning is not None:
            _fill_meaning(store, query, pool, meaning, near)
        _score(pool, plan, weights)
    strategies = [finish.strategy for finish in finishes]
    if meaning is not None and plan.means.close:
        _look_closely(query, pool, plan, meaning)
        _score(pool, plan, weights)
    for candidate in pool:
        order.weigh_in(candidate, query.text, query.when, query.recent)
    if meaning is not None and plan.means.rerank and meaning.has_reranker:
        strategies.append(_rerank(query, pool, plan, meaning))
    support(pool)
    candidates = order.settle(order.distinct(pool.ranked()))
    for candidate in candidates:
        candidate.score = min(1.0, candidate.score / HIGHEST)
        judge(candidate, query.weight)
    return Ranking(query, candidates, tuple(strategies))


def _wanted(passage: Passage, plan: Plan) -> bool:
    return not plan.layers or LAYER_OF[passage.kind] in plan.layers


def read(store: Store, bank: str | None, text: str, now: Callable[[], str]) -> Query:
    """What a question asks for, by which words, and of which time."""
    when = read_when(text, datetime.fromisoformat(now()), lambda name: _landmark(store, bank, name))
    terms = read_terms(when.rest if when is not None and when.rest.strip() else text)
    phrases = tuple(dict.fromkeys((*terms.phrases, *whole_names(text))))
    terms = terms._replace(phrases=phrases)
    weight = weigh(store, bank, terms.words)
    spelled = {word: weight.by_word[word] for word in terms.words}
    return Query(text, terms, weight.by_stem, spelled, when, about_recent(text))


def _landmark(store: Store, bank: str | None, name: str) -> datetime | None:
    """When something was released, as far as commits and sessions tell."""
    if name in ("last session", "session"):
        latest = store.recent(bank, "digest", 1)
        return datetime.fromisoformat(latest[0].time) if latest and latest[0].time else None
    found = [m.passage for m in store.search(bank, [name], ["team"], 20)]
    times = sorted(p.time for p in found if p.time and name.lower() in p.body.lower())
    return datetime.fromisoformat(times[-1]) if times else None


def _arms(bank: str | None, query: Query, plan: Plan, meaning: Meaning | None) -> list[Arm]:
    layers, pool = plan.layers, plan.means.pool
    running = [arms.direct(bank, query.terms, layers, pool)]
    more = expand(query.terms.words, Expansion(plan.expansion))
    if more:
        running.append(arms.expanded(bank, query.terms, more, layers, pool))
    running.append(arms.summaries(bank, query.terms, layers, pool))
    if query.when is not None:
        running.append(arms.temporal(bank, query.terms, query.when, layers, pool))
    if query.recent:
        running.append(arms.recent(bank))
    if meaning is not None and plan.means.close:
        running.append(arms.semantic(bank, meaning, query.text, pool))
    return running


def _score(pool: Pool, plan: Plan, weights: Mapping[str, float]) -> None:
    if plan.fusion is Fusion.RRF:
        by_places(list(pool))
    else:
        by_scores(pool, weights)
    smooth(pool)


def _fill_meaning(store: Store, query: Query, pool: Pool, meaning: Meaning, arm: Finish) -> None:
    """How near the finds of the other arms are, which the semantic arm did not name. A model that
    failed it, or was too slow, is not asked again."""
    if arm.strategy.problem or arm.strategy.timed_out:
        return
    near = arm.found
    for find in near.finds:
        known = pool.get(key_of(find.passage))
        if known is not None:
            known.cosine = find.score
    lacking = [c.passage for c in pool if not c.cosine and c.passage.hash]
    highest = max((find.score for find in near.finds), default=0.0)
    span = highest - near.lowest
    for key, cosine in meaning.similarities(store, query.text, lacking).items():
        known = pool.get(key)
        if known is not None and span > 0:
            known.cosine = cosine
            known.scores["semantic"] = min(1.0, max(0.0, (cosine - near.lowest) / span))


def _meet_neighbours(store: Store, pool: Pool) -> None:
    """What stands beside the best is in the running too, though it may share no word."""
    wanted: dict[tuple[str, str], set[int]] = {}
    for candidate in pool.ranked()[:_NEIGHBOURS_OF]:
        p = candidate.passage
        if p.kind == "turn":
            wanted.setdefault((p.bank, p.session), set()).update((p.seq - 1, p.seq + 1))
    for (bank, session), places in wanted.items():
        for passage in store.turn_passages(bank, session, sorted(places)):
            if passage.role != "tool":
                pool.meet(passage)


def _look_closely(query: Query, pool: Pool, plan: Plan, meaning: Meaning) -> None:
    """Match the best word by word, near words for part: by themselves, and with what stood
    before them."""
    best = pool.ranked()[: plan.means.close]
    alone = _soft(query, [_parts(candidate) for candidate in best], meaning)
    placed = _soft(query, [_in_context(candidate) for candidate in best], meaning)
    both = [one + other for one, other in zip(alone, placed, strict=True)]
    highest = max(both, default=0.0) or 1.0
    for candidate, value in zip(best, both, strict=True):
        candidate.scores["soft"] = value / highest


def _soft(query: Query, texts: list[list[str]], meaning: Meaning) -> list[float]:
    """Each candidate by its best part. What is long matches much by chance."""
    flat = [text for parts in texts for text in parts]
    values = iter(meaning.soft(query.words, flat))
    return [
        max(next(values) * min(1.0, (_SHORT / max(len(text), 1)) ** 0.5) for text in parts)
        for parts in texts
    ]


def _parts(candidate: Candidate) -> list[str]:
    """A passage in pieces of a size."""
    body = candidate.passage.body
    return [body[n : n + _PART] for n in range(0, min(len(body), _PART * _PARTS), _PART)] or [""]


def _in_context(candidate: Candidate) -> list[str]:
    """The same, the first piece with what stood before it."""
    first, *rest = _parts(candidate)
    return [f"{candidate.passage.context[:_CONTEXT]} {first}", *rest]


def _rerank(query: Query, pool: Pool, plan: Plan, meaning: Meaning) -> Strategy:
    """Let the cross-encoder judge the best; past its deadline the order stands as it is."""
    started = monotonic()
    best = pool.ranked()[: plan.means.rerank]
    texts = [_in_context(candidate)[0] for candidate in best]
    values = meaning.rerank(query.text, texts, started + RERANK_S[plan.budget])
    ms = round((monotonic() - started) * 1000, 2)
    if values is None or len(values) < 2:
        return Strategy("rerank", ms, 0, timed_out=values is None)
    lowest, highest = min(values), max(values)
    bare = [candidate.score / candidate.factor for candidate in best]
    least, most = min(bare), max(bare)
    for candidate, value, own in zip(best, values, bare, strict=True):
        judged = (value - lowest) / ((highest - lowest) or 1.0)
        before = (own - least) / ((most - least) or 1.0)
        candidate.notes["rerank"] = round(judged, 4)
        blended = (1 - _RERANK_SHARE) * before + _RERANK_SHARE * judged
        # Whose words they are and when they were said, the cross-encoder cannot know.
        candidate.score = (least + blended * (most - least)) * candidate.factor
    return Strategy("rerank", ms, len(best))
