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
from holdfast.recall.candidates import Candidate, Pool
from holdfast.recall.expansion import Expansion, expand, whole_names
from holdfast.recall.fusion import WEIGHTS, WORDS_ONLY, admit, by_places, by_scores, smooth, support
from holdfast.recall.meaning import Meaning
from holdfast.recall.plan import Fusion, Plan
from holdfast.recall.race import Arm, race
from holdfast.recall.relevance import FLOOR, judge, weigh
from holdfast.recall.terms import Terms, read_terms
from holdfast.recall.when import When, about_recent, read_when
from holdfast.store.protocol import Store

MISSES = 3
RERANK_S = 0.5
_NEIGHBOURS_OF = 40
_PART = 1200
_PARTS = 4
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
        """Those that clear the floor."""
        return [c for c in self.candidates if c.notes["relevance"] >= FLOOR]

    @property
    def abstains(self) -> bool:
        """Whether nothing does."""
        return not self.good


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
    shown = packing.pack(good, plan.means.tokens, plan.limit) if good else []
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
    if meaning is not None and plan.means.close:
        _fill_meaning(store, query, pool, meaning)
    weights = WORDS_ONLY if meaning is None or not plan.means.close else WEIGHTS
    _score(pool, plan, weights)
    if plan.means.close and (not plan.layers or Layer.TRANSCRIPTS in plan.layers):
        _meet_neighbours(store, query, pool, meaning)
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


def _fill_meaning(store: Store, query: Query, pool: Pool, meaning: Meaning) -> None:
    """How near the finds of the other arms are, which the semantic arm did not name."""
    lacking = [c.passage for c in pool if "semantic" not in c.scores]
    near = meaning.similarities(store, query.text, lacking)
    for key, value in near.items():
        known = pool.get(key)
        if known is not None:
            known.scores["semantic"] = value


def _meet_neighbours(store: Store, query: Query, pool: Pool, meaning: Meaning | None) -> None:
    """What stands beside the best is in the running too, though it may share no word."""
    wanted: dict[tuple[str, str], set[int]] = {}
    for candidate in pool.ranked()[:_NEIGHBOURS_OF]:
        p = candidate.passage
        if p.kind == "turn":
            wanted.setdefault((p.bank, p.session), set()).update((p.seq - 1, p.seq + 1))
    for (bank, session), places in wanted.items():
        for passage in store.turn_passages(bank, session, sorted(places)):
            if passage.role != "tool" and pool.get((bank, "turn", passage.id)) is None:
                pool.meet(passage)
    if meaning is not None:
        _fill_meaning(store, query, pool, meaning)


def _look_closely(query: Query, pool: Pool, plan: Plan, meaning: Meaning) -> None:
    """Match the best word by word, near words for part. What is long matches much by chance."""
    best = pool.ranked()[: plan.means.close]
    texts = [(c, text) for c in best for text in _texts(c)]
    values = meaning.soft(query.words, [text for _, text in texts])
    highest = max(values, default=0.0) or 1.0
    for (candidate, text), value in zip(texts, values, strict=True):
        discount = min(1.0, (_SHORT / max(len(text), 1)) ** 0.5)
        scaled = value / highest * discount
        candidate.scores["soft"] = max(scaled, candidate.scores.get("soft", 0.0))


def _texts(candidate: Candidate) -> list[str]:
    """A passage in pieces of a size, the first with what stood before it."""
    body = candidate.passage.body
    parts = [body[n : n + _PART] for n in range(0, min(len(body), _PART * _PARTS), _PART)] or [""]
    return [f"{candidate.passage.context[:300]} {parts[0]}", *parts[1:]]


def _rerank(query: Query, pool: Pool, plan: Plan, meaning: Meaning) -> Strategy:
    """Let the cross-encoder judge the best; past its deadline the order stands as it is."""
    started = monotonic()
    best = pool.ranked()[: plan.means.rerank]
    texts = [_texts(candidate)[0] for candidate in best]
    values = meaning.rerank(query.text, texts, started + RERANK_S)
    ms = round((monotonic() - started) * 1000, 2)
    if values is None or len(values) < 2:
        return Strategy("rerank", ms, 0, timed_out=values is None)
    lowest, highest = min(values), max(values)
    least, most = best[-1].score, best[0].score
    for candidate, value in zip(best, values, strict=True):
        judged = (value - lowest) / ((highest - lowest) or 1.0)
        before = (candidate.score - least) / ((most - least) or 1.0)
        candidate.notes["rerank"] = round(judged, 4)
        blended = (1 - _RERANK_SHARE) * before + _RERANK_SHARE * judged
        candidate.score = least + blended * (most - least)
    return Strategy("rerank", ms, len(best))
