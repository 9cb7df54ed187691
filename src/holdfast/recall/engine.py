"""Recall: the records that speak of a question, best first, or an honest nothing.

Arms race over all layers; their finds become one ranking; the best are looked at closely; what
clears the floor is packed into the budget. See `rank` for the order of things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

from holdfast.model.knowledge import Memory
from holdfast.model.query import LAYER_BY_KIND, Layer, Passage, RecallResult, Strategy
from holdfast.recall.core.candidates import Candidate, Pool, passage_key
from holdfast.recall.core.parallel import Retriever, RetrieverResult, RetrieverRun, run_retrievers
from holdfast.recall.core.plan import Budget, Fusion, Plan
from holdfast.recall.core.relevance import (
    coverage,
    measure_relevance,
    reaches_threshold,
    worth_showing,
)
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.question import Query, read_query
from holdfast.recall.ranking import boosts, causes, hits, packing, plugin_hits, remote_hits
from holdfast.recall.ranking.branches import check_branch, demote_unmerged
from holdfast.recall.ranking.fusion import (
    HIGHEST,
    WORDS_ONLY,
    add_neighbour_scores,
    add_results,
    add_session_support,
    fuse_by_ranks,
    fuse_by_scores,
    weights_for,
)
from holdfast.recall.ranking.rerank import (
    CrossEncoder,
    SoftMatcher,
    add_as_evidence,
    blend_into_scores,
    rerank,
)
from holdfast.recall.ranking.status import apply_status
from holdfast.recall.retrievers import text as arms
from holdfast.recall.retrievers.graph import Walk, graph_retriever
from holdfast.store.protocol import ReadStore

MAX_MISSES = 3
# How long the cross-encoder may take, so that nobody waits for it on a busy machine.
RERANK_S = {Budget.LOW: 0.0, Budget.MID: 1.0, Budget.HIGH: 2.0}
_NEIGHBOURS_OF = 40
# Reading a text for coverage takes as long as finding it: only what may be shown is read.
_JUDGED = 30
_LOOKED_AT = 5
_AMONG_OTHERS = 2000
# What a record on the way along causes has of the score of what led to it.
_STEP = 0.97
_SAME_MEASURE = ("direct_fts", "summaries", "temporal")


class Ranking(NamedTuple):
    """Everything that is in the running, best first, and how it came about."""

    query: Query
    candidates: list[Candidate]
    strategies: tuple[Strategy, ...]
    # What plugins said, best first; it never competes with what is ours.
    told: tuple[Candidate, ...] = ()
    # What servers of the team's said, best first; it stands among what is ours.
    heard: tuple[remote_hits.Heard, ...] = ()

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
        if self.query.asks_for_recent_work:
            return not any("recent" in c.ranks for c in self.candidates)
        return not reaches_threshold(self.candidates)

    def _answers(self, candidate: Candidate) -> bool:
        """A question about a time is answered from that time, whatever words it was put in."""
        query = self.query
        if query.time_range is not None and query.only_time:
            in_time = query.time_range.contains(candidate.passage.time)
            return "temporal" in candidate.ranks or (in_time and worth_showing(candidate))
        if "link" in candidate.notes:
            return True
        return (query.asks_for_recent_work and "recent" in candidate.ranks) or worth_showing(
            candidate
        )


def recall(
    store: ReadStore,
    bank: str | None,
    text: str,
    plan: Plan,
    now: Callable[[], str],
    meaning: SemanticSearch | None = None,
    elsewhere: Sequence[Retriever] = (),
) -> RecallResult:
    """Search a bank; `None` searches them all. Arms that look elsewhere race with the others; what
    servers of the team's bring stands among what is ours, what plugins do after it."""
    ranking = rank(store, bank, text, plan, now, meaning, elsewhere)
    good = ranking.good
    shown = packing.pack(good, plan.limits.tokens, plan.limit, plan.include_repeats)
    misses = [] if good or ranking.heard else ranking.candidates[:MAX_MISSES]
    ours = tuple(hits.make_hit(store, item, plan.as_of) for item in shown)
    return RecallResult(
        query=text,
        bank=bank or "all",
        abstained=not (good or ranking.told or ranking.heard),
        hits=(
            *remote_hits.merge_remote_hits(ours, ranking.heard, plan.limit),
            *plugin_hits.make_plugin_hits(ranking.told, ours),
        ),
        strategies=ranking.strategies,
        misses=tuple(hits.make_hit(store, item, plan.as_of) for item in misses),
    )


def rank(
    store: ReadStore,
    bank: str | None,
    text: str,
    plan: Plan,
    now: Callable[[], str],
    meaning: SemanticSearch | None = None,
    elsewhere: Sequence[Retriever] = (),
) -> Ranking:
    """Read the question, race the arms, fuse, look closely, and set in order."""
    query = read_query(store, bank, text, (lambda: plan.as_of) if plan.as_of else now)
    meaning = meaning if plan.limits.soft_match_depth else None
    running = _arms(bank, query, plan, meaning)
    raced = run_retrievers(store, [*running, *elsewhere])
    finishes, far = raced[: len(running)], raced[len(running) :]
    near = finishes[-1]
    if near.failed:
        # A model that does not answer now would not a second time; words are left.
        meaning = None
    strategies = [finish.strategy for finish in raced]
    pool = _gather(store, finishes, plan)
    apply_status(store, pool, plan.as_of, now)
    if meaning is None:
        _score(pool, plan, WORDS_ONLY)
        if plan.limits.soft_match_depth:
            _meet_neighbours(store, pool, plan)
            apply_status(store, pool, plan.as_of, now)
            _score(pool, plan, WORDS_ONLY)
    else:
        weights = weights_for(_best_coverage(query, finishes[0].result))
        _fill_meaning(store, query, pool, meaning, near)
        _score(pool, plan, weights)
        _meet_neighbours(store, pool, plan)
        apply_status(store, pool, plan.as_of, now)
        _fill_meaning(store, query, pool, meaning, near)
        _score(pool, plan, weights)
        strategies.append(_look_closely(query, pool, plan, meaning))
        _score(pool, plan, weights)
    named = boosts.named_speakers(pool, query.text)
    for candidate in pool:
        boosts.apply_factors(
            candidate, query.text, query.time_range, query.asks_for_recent_work, named
        )
    if meaning is not None and meaning.has_reranker:
        strategies.append(_read_across(query, pool, plan, meaning))
    check_branch(store, bank, plan.branch)
    demote_unmerged(store, list(pool), plan.branch)
    candidates = _settle(pool, query, plan)
    way = causes.cause_direction(query.text) if plan.limits.graph_hops else None
    if way is not None:
        candidates, strategy = _follow(store, query, candidates, plan, way)
        strategies.append(strategy)
    told = plugin_hits.rank_plugin_texts(
        query, [arm for arm in far if not remote_hits.is_remote(arm)]
    )
    heard = remote_hits.rank_remote_texts(query, [arm for arm in far if remote_hits.is_remote(arm)])
    return Ranking(query, candidates, tuple(strategies), told, heard)


def _follow(
    store: ReadStore,
    query: Query,
    candidates: list[Candidate],
    plan: Plan,
    way: causes.CauseDirection,
) -> tuple[list[Candidate], Strategy]:
    """Add what lies on the way along causes, each just below what led to it."""
    started = monotonic()
    start, steps = causes.follow_causes(
        store, candidates, query.text, way, plan.limits.graph_hops + 1
    )
    by_key = {candidate.key: candidate for candidate in candidates}
    found, sieve = 0, _Sieve(store, plan)
    for step in steps:
        if start is None or not sieve.lets(step.passage):
            continue
        candidate = by_key.setdefault(passage_key(step.passage), Candidate(step.passage))
        candidate.notes[way.value] = step.hop
        candidate.notes["link"] = round(step.weight, 4)
        candidate.score = max(candidate.score, start.score * _STEP**step.hop)
        measure_relevance(
            candidate, query.stem_weights, query.time_stems_at(candidate.passage.time)
        )
        found += bool(step.hop)
    ranked = sorted(by_key.values(), key=lambda c: -c.score)
    ms = round((monotonic() - started) * 1000, 2)
    return ranked, Strategy("causal", ms, found)


def _best_coverage(query: Query, found: RetrieverResult) -> float:
    """How much of the question the best finds by words hold."""
    best = [find.passage for find in found.passages[:_LOOKED_AT]]
    return max((coverage(query.stem_weights, f"{p.body} {p.context}") for p in best), default=0.0)


def _gather(store: ReadStore, finishes: Sequence[RetrieverRun], plan: Plan) -> Pool:
    """What the arms brought home, on one scale."""
    pool, sieve = Pool(), _Sieve(store, plan)
    by_words = max((find.score for find in finishes[0].result.passages), default=0.0)
    for finish in finishes:
        name, found = finish.strategy.name, finish.result
        highest = by_words if name in _SAME_MEASURE else 0.0
        finds = [find for find in found.passages if sieve.lets(find.passage)]
        add_results(pool, name, finds, found.lowest_score, highest)
    return pool


def _settle(pool: Pool, query: Query, plan: Plan) -> list[Candidate]:
    """The last word on the order, and on how good the best are."""
    add_session_support(pool)
    candidates = boosts.break_ties(boosts.drop_duplicates(pool.ranked()))
    for candidate in candidates:
        candidate.score = min(1.0, candidate.score / HIGHEST)
    for candidate in candidates[: max(_JUDGED, plan.limit)]:
        measure_relevance(
            candidate, query.stem_weights, query.time_stems_at(candidate.passage.time)
        )
    return candidates


class _Sieve:
    """What a plan lets through. Each session is looked up once."""

    def __init__(self, store: ReadStore, plan: Plan) -> None:
        self._store = store
        self._plan = plan
        self._agents: dict[tuple[str, str], str] = {}

    def lets(self, passage: Passage) -> bool:
        """Whether this is among what was asked for."""
        plan = self._plan
        if plan.layers and LAYER_BY_KIND[passage.kind] not in plan.layers:
            return False
        if plan.as_of and passage.time > plan.as_of:
            return False
        if plan.kinds and passage.kind not in plan.kinds:
            return False
        if plan.agent and self._agent(passage.bank, passage.session) != plan.agent:
            return False
        return not plan.networks or self._is_of_network(passage)

    def _agent(self, bank: str, session: str) -> str:
        """Whose session it is; "" where there is none."""
        known = self._agents.get((bank, session))
        if known is None:
            found = self._store.session(bank, session) if session else None
            known = self._agents[bank, session] = found.agent if found is not None else ""
        return known

    def _is_of_network(self, passage: Passage) -> bool:
        if passage.kind != "memory":
            return False
        found = self._store.find(passage.bank, "memory", passage.id, 1)
        return any(isinstance(m, Memory) and m.network in self._plan.networks for m in found)


def _arms(
    bank: str | None, query: Query, plan: Plan, meaning: SemanticSearch | None
) -> list[Retriever]:
    layers, pool = plan.layers, plan.limits.pool_size
    until = f"{plan.as_of}~" if plan.as_of else ""
    if plan.networks:
        # Memories are few among the records of their layer, and must not be crowded out.
        layers, pool = (LAYER_BY_KIND["memory"],), _AMONG_OTHERS
    if plan.kinds or plan.agent:
        pool = _AMONG_OTHERS
    running = [arms.direct(bank, query.terms, layers, pool, until)]
    more = expand(query.terms.words, Expansion(plan.expansion))
    if more:
        running.append(arms.expanded(bank, query.terms, more, layers, pool, until))
    running.append(arms.summaries(bank, query.terms, layers, pool, until))
    if query.time_range is not None:
        running.append(arms.temporal(bank, query.terms, query.time_range, layers, pool))
    if query.asks_for_recent_work:
        running.append(arms.recent(bank, until))
    if plan.limits.graph_hops:
        walk = Walk(layers, plan.limits.graph_hops, pool, memories=bool(plan.networks))
        running.append(graph_retriever(bank, query.text, walk))
    if meaning is not None and plan.limits.soft_match_depth:
        running.append(arms.semantic(bank, meaning, query.text, layers, pool))
    return running


def _score(pool: Pool, plan: Plan, weights: Mapping[str, float]) -> None:
    if plan.fusion is Fusion.RRF:
        fuse_by_ranks(list(pool))
    else:
        fuse_by_scores(pool, weights)
    add_neighbour_scores(pool)


def _fill_meaning(
    store: ReadStore, query: Query, pool: Pool, meaning: SemanticSearch, arm: RetrieverRun
) -> None:
    """How near the finds of the other arms are, which the semantic arm did not name. A model that
    failed it, or was too slow, is not asked again."""
    if arm.failed:
        return
    near = arm.result
    for find in near.passages:
        known = pool.get(passage_key(find.passage))
        if known is not None:
            known.cosine = find.score
    lacking = [c.passage for c in pool if not c.cosine and c.passage.hash]
    highest = max((find.score for find in near.passages), default=0.0)
    span = highest - near.lowest_score
    for key, cosine in meaning.similarities(store, query.text, lacking).items():
        known = pool.get(key)
        if known is not None and span > 0:
            known.cosine = cosine
            known.scores["semantic"] = min(1.0, max(0.0, (cosine - near.lowest_score) / span))


def _meet_neighbours(store: ReadStore, pool: Pool, plan: Plan) -> None:
    """What stands beside the best is in the running too, though it may share no word."""
    if plan.networks or (plan.layers and Layer.TRANSCRIPTS not in plan.layers):
        return
    wanted: dict[tuple[str, str], set[int]] = {}
    for candidate in pool.ranked()[:_NEIGHBOURS_OF]:
        p = candidate.passage
        if p.kind == "turn":
            wanted.setdefault((p.bank, p.session), set()).update((p.seq - 1, p.seq + 1))
    for (bank, session), places in wanted.items():
        for passage in store.turn_passages(bank, session, sorted(places)):
            if passage.role != "tool":
                pool.add(passage)


def _look_closely(query: Query, pool: Pool, plan: Plan, meaning: SemanticSearch) -> Strategy:
    """What comes with every recall by meaning: one more kind of evidence."""
    means, most_s = plan.limits, RERANK_S[plan.budget]
    return rerank(
        SoftMatcher(meaning), query, pool, means.soft_match_depth, most_s, add_as_evidence
    )


def _read_across(query: Query, pool: Pool, plan: Plan, meaning: SemanticSearch) -> Strategy:
    """What a cross-encoder adds, if the settings name one: it outweighs the rest."""
    means, most_s = plan.limits, RERANK_S[plan.budget]
    return rerank(CrossEncoder(meaning), query, pool, means.rerank_depth, most_s, blend_into_scores)
