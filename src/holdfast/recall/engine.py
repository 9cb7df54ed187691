"""Recall: the records that speak of a question, best first, or an honest nothing.

Arms race over all layers; their finds become one ranking; the best are looked at closely; what
clears the floor is packed into the budget. See `rank` for the order of things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from holdfast.errors import HoldfastError
from holdfast.model.query import LAYER_OF, Layer, Passage, Recalled, Strategy
from holdfast.recall import arms, hits, order, packing
from holdfast.recall.candidates import Candidate, Pool, key_of
from holdfast.recall.expansion import Expansion, expand
from holdfast.recall.fusion import (
    HIGHEST,
    WORDS_ONLY,
    admit,
    by_places,
    by_scores,
    smooth,
    support,
    weights_for,
)
from holdfast.recall.meaning import Meaning
from holdfast.recall.plan import Budget, Fusion, Plan
from holdfast.recall.question import Query, read
from holdfast.recall.race import Arm, Finish, Found, race
from holdfast.recall.relevance import clears, coverage, judge, worth_showing
from holdfast.recall.standing import stand
from holdfast.store.protocol import Store

MISSES = 3
# How long the cross-encoder may take, so that nobody waits for it on a busy machine.
RERANK_S = {Budget.LOW: 0.0, Budget.MID: 1.0, Budget.HIGH: 2.0}
_NEIGHBOURS_OF = 40
_PART = 1200
_PARTS = 4
_CONTEXT = 300
# The cross-encoder takes as long as its texts are long: the start of one is judged.
_RERANKED = 800
_SHORT = 400
# What the cross-encoder says against what all else says.
_RERANK_SHARE = 0.7
# Reading a text for coverage takes as long as finding it: only what may be shown is read.
_JUDGED = 30
_LOOKED_AT = 5
_SAME_MEASURE = ("direct_fts", "summaries", "temporal")


class Ranking(NamedTuple):
    """Everything that is in the running, best first, and how it came about."""

    query: Query
    candidates: list[Candidate]
    strategies: tuple[Strategy, ...]

    @property
    def good(self) -> list[Candidate]:
        """Those to show, if the best are any good."""
        judged = [c for c in self.candidates if "relevance" in c.notes]
        return [] if self.abstains else [c for c in judged if self._answers(c)]

    @property
    def abstains(self) -> bool:
        """Whether nothing speaks of the question. A question about a time or about the latest
        work is answered by what there is of it."""
        if self.query.only_time:
            return not any("temporal" in c.ranks for c in self.candidates)
        if self.query.recent:
            return not any("recent" in c.ranks for c in self.candidates)
        return not clears(self.candidates)

    def _answers(self, candidate: Candidate) -> bool:
        """A question about a time is answered from that time, whatever words it was put in."""
        query = self.query
        if query.when is not None and query.only_time:
            in_time = query.when.holds(candidate.passage.time)
            return "temporal" in candidate.ranks or (in_time and worth_showing(candidate))
        return (query.recent and "recent" in candidate.ranks) or worth_showing(candidate)


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
        hits=tuple(hits.hit(store, item, plan.as_of) for item in shown),
        strategies=ranking.strategies,
        misses=tuple(hits.hit(store, item, plan.as_of) for item in misses),
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
    query = read(store, bank, text, (lambda: plan.as_of) if plan.as_of else now)
    meaning = meaning if plan.means.close else None
    finishes = race(store, _arms(bank, query, plan, meaning))
    near = finishes[-1]
    if near.failed:
        # A model that does not answer now would not a second time; words are left.
        meaning = None
    pool = _gather(finishes, plan)
    stand(store, pool, plan.as_of, now)
    if meaning is None:
        _score(pool, plan, WORDS_ONLY)
        if plan.means.close:
            _meet_neighbours(store, pool, plan)
            stand(store, pool, plan.as_of, now)
            _score(pool, plan, WORDS_ONLY)
    else:
        weights = weights_for(_best_coverage(query, finishes[0].found))
        _fill_meaning(store, query, pool, meaning, near)
        _score(pool, plan, weights)
        _meet_neighbours(store, pool, plan)
        stand(store, pool, plan.as_of, now)
        _fill_meaning(store, query, pool, meaning, near)
        _score(pool, plan, weights)
        _look_closely(query, pool, plan, meaning)
        _score(pool, plan, weights)
    named = order.named_speakers(pool, query.text)
    for candidate in pool:
        order.weigh_in(candidate, query.text, query.when, query.recent, named)
    strategies = [finish.strategy for finish in finishes]
    if meaning is not None and meaning.has_reranker:
        strategies.append(_rerank(query, pool, plan, meaning))
    return Ranking(query, _settle(pool, query, plan), tuple(strategies))


def _best_coverage(query: Query, found: Found) -> float:
    """How much of the question the best finds by words hold."""
    best = [find.passage for find in found.finds[:_LOOKED_AT]]
    return max((coverage(query.weight, f"{p.body} {p.context}") for p in best), default=0.0)


def _gather(finishes: Sequence[Finish], plan: Plan) -> Pool:
    """What the arms brought home, on one scale."""
    pool = Pool()
    by_words = max((find.score for find in finishes[0].found.finds), default=0.0)
    for finish in finishes:
        name, found = finish.strategy.name, finish.found
        highest = by_words if name in _SAME_MEASURE else 0.0
        finds = [find for find in found.finds if _wanted(find.passage, plan)]
        admit(pool, name, finds, found.lowest, highest)
    return pool


def _settle(pool: Pool, query: Query, plan: Plan) -> list[Candidate]:
    """The last word on the order, and on how good the best are."""
    support(pool)
    candidates = order.settle(order.distinct(pool.ranked()))
    for candidate in candidates:
        candidate.score = min(1.0, candidate.score / HIGHEST)
    for candidate in candidates[: max(_JUDGED, plan.limit)]:
        judge(candidate, query.weight)
    return candidates


def _wanted(passage: Passage, plan: Plan) -> bool:
    return not plan.layers or LAYER_OF[passage.kind] in plan.layers


def _arms(bank: str | None, query: Query, plan: Plan, meaning: Meaning | None) -> list[Arm]:
    layers, pool = plan.layers, plan.means.pool
    until = f"{plan.as_of}~" if plan.as_of else ""
    running = [arms.direct(bank, query.terms, layers, pool, until)]
    more = expand(query.terms.words, Expansion(plan.expansion))
    if more:
        running.append(arms.expanded(bank, query.terms, more, layers, pool, until))
    running.append(arms.summaries(bank, query.terms, layers, pool, until))
    if query.when is not None:
        running.append(arms.temporal(bank, query.terms, query.when, layers, pool))
    if query.recent:
        running.append(arms.recent(bank, until))
    if meaning is not None and plan.means.close:
        running.append(arms.semantic(bank, meaning, query.text, layers, pool))
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


def _meet_neighbours(store: Store, pool: Pool, plan: Plan) -> None:
    """What stands beside the best is in the running too, though it may share no word."""
    if plan.layers and Layer.TRANSCRIPTS not in plan.layers:
        return
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
    texts = [_in_context(candidate)[0][:_RERANKED] for candidate in best]
    try:
        values = meaning.rerank(query.text, texts, started + RERANK_S[plan.budget])
    except HoldfastError as error:
        return Strategy("rerank", 0, 0, problem=error.message)
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
