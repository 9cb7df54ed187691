"""One search from the query to the hits.

`rank` runs the retrievers in parallel, fuses their scores into one ranking, looks closer at the
best candidates and adjusts them. `recall` returns those that pass the thresholds and fit the
budget; a plan may ask for the others, too, marked as weak. If none passes, it abstains. All numbers
that decide the ranking are in `core.tuning`.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Collection, Sequence
from time import monotonic

from holdfast.language import sentences
from holdfast.lazy_dataclass import replace
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Memory
from holdfast.model.query import LAYER_BY_KIND, Hit, Layer, Passage, RecallResult, RetrieverReport
from holdfast.recall.core.candidates import Candidate, PassageKey, Pool, passage_key
from holdfast.recall.core.parallel import (
    RETRIEVER_TIMEOUT_S,
    Retriever,
    RetrieverResult,
    RetrieverRun,
    run_retrievers,
)
from holdfast.recall.core.plan import Budget, Fusion, RecallPlan
from holdfast.recall.core.relevance import (
    answers,
    coverage,
    measure_relevance,
    only_in_other_words,
    worth_showing,
)
from holdfast.recall.core.semantic_port import SemanticSearch
from holdfast.recall.core.statements import is_question
from holdfast.recall.core.tuning import DEFAULT_THRESHOLDS, AbstentionThresholds, RankingWeights
from holdfast.recall.query.expansion import Expansion, expand
from holdfast.recall.query.query import CauseDirection, Query, cause_direction, read_query
from holdfast.recall.query.terms import given_words, has_given_word
from holdfast.recall.ranking import boosts, external_hits, hits
from holdfast.recall.ranking.authority import put_authorities_first
from holdfast.recall.ranking.exact_names import find_names, mark_names, put_exact_names_first
from holdfast.recall.ranking.fusion import (
    add_neighbour_scores,
    add_results,
    add_session_support,
    fuse_by_ranks,
    fuse_by_scores,
    weights_for_coverage,
    words_only,
)
from holdfast.recall.ranking.later_statements import put_later_statements_first
from holdfast.recall.ranking.newer_statements import put_newer_statements_first
from holdfast.recall.ranking.status import (
    apply_status,
    check_branch,
    demote_ended,
    demote_unmerged,
    put_what_holds_first,
)
from holdfast.recall.retrievers import text as retrievers
from holdfast.recall.retrievers.recaps import RecapSearch
from holdfast.store.protocol import ReadStore

# The turns beside this many of the best turns become candidates, too.
_NEIGHBOURS_OF_BEST = 40
# Relevance is measured for this many of the best (or as many as are asked for): reading a text
# takes as long as finding it, and no more are shown.
_MAX_MEASURED = 30
# The texts of this many of the best (or as many as are asked for) are compared with what ended in
# their bank: more than are measured, because those that have ended give way to others.
_MAX_READ_FOR_ENDINGS = 40
# How many of the best full-text results are read to see whether the query's words are exact.
_COVERAGE_AMONG = 5
# The pool where most of what is found will be filtered out (by network, kind, agent or knowledge).
_FILTERED_POOL = 2000
# A query of so many words that does not begin with a question tells a story, as a bug report does:
# it is compared with whole conversations. A long question asks for something; the conversation that
# is nearest to it answered 1 of 10 questions of BEAM, and 6 of 40 that were put to another bank.
_MIN_WORDS_OF_REPORT = 10
# So many of the retrievers share one query, so they run one after the other.
_ASKED_TOGETHER = 2
# Retrievers whose scores are the same full-text measure, so they share one scale.
_FULL_TEXT = ("direct_fts", "summaries", "temporal")


class Ranking(NamedTuple):
    """All candidates of a search, best first, and how they were found."""

    query: Query
    candidates: list[Candidate]
    reports: tuple[RetrieverReport, ...]
    # From plugins, best first; shown after our own.
    plugin_candidates: tuple[Candidate, ...] = ()
    # From team servers, best first; merged into our own.
    remote_candidates: tuple[Candidate, ...] = ()
    thresholds: AbstentionThresholds = DEFAULT_THRESHOLDS

    @property
    def relevant(self) -> list[Candidate]:
        """The candidates to show; none if the search abstains."""
        if self.abstains:
            return []
        if self.query.only_time:
            return _sessions_first([c for c in self.candidates if "temporal" in c.ranks])
        measured = [c for c in self.candidates if "relevance" in c.notes]
        shown = [c for c in measured if self._is_relevant(c)]
        # What has the words of the query comes before what only says them in others.
        return sorted(shown, key=lambda c: only_in_other_words(c, self.thresholds))

    @property
    def weak(self) -> list[Candidate]:
        """The candidates below the threshold that have anything of the query, best first; none of
        a query about a time, of which the words say nothing."""
        if self.query.only_time:
            return []
        relevant = {c.key for c in self.relevant}
        measured = [c for c in self.candidates if c.notes.get("relevance", 0.0) > 0]
        return [c for c in measured if c.key not in relevant]

    @property
    def abstains(self) -> bool:
        """Whether no candidate answers the query. A query about a time, or about recent work, is
        answered by whatever there is of it."""
        if self.query.only_time:
            return not any("temporal" in c.ranks for c in self.candidates)
        if self.query.asks_for_recent_work:
            return not any("recent" in c.ranks for c in self.candidates)
        if any(c.notes.get("recap") for c in self.candidates):
            return False
        return not any("needed" in c.notes and answers(c.notes) for c in self.candidates)

    def _is_relevant(self, candidate: Candidate) -> bool:
        if any(name in candidate.notes for name in ("link", "amendment")):
            return True
        if candidate.notes.get("recap"):
            return True
        by_time = self.query.asks_for_recent_work and "recent" in candidate.ranks
        return by_time or worth_showing(candidate.notes, self.thresholds)


def _sessions_first(candidates: Sequence[Candidate]) -> list[Candidate]:
    """What happened at a time: sessions as a whole before their parts, the latest first. The words
    of such a query say nothing, so its scores do not either."""
    latest = sorted(candidates, key=lambda c: c.passage.time, reverse=True)
    ordered = sorted(latest, key=lambda c: c.passage.kind != "digest")
    for rank, candidate in enumerate(ordered, start=1):
        candidate.score = 1 / rank
    return ordered


def recall(
    store: ReadStore,
    bank: str | None,
    text: str,
    plan: RecallPlan,
    now: Callable[[], str],
    semantic: SemanticSearch | None = None,
    external: Sequence[Retriever] = (),
) -> RecallResult:
    """Search a bank, or all banks if it is `None`. `external` retrievers (plugins, team servers)
    run with the others; hits from servers are merged into our own, those from plugins come last."""
    ranking = rank(store, bank, text, plan, now, semantic, external)
    relevant = ranking.relevant
    shown = hits.pack(relevant, plan.limits.tokens, plan.limit, plan.include_repeats)
    if ranking.query.only_time:
        for candidate in shown:
            candidate.notes["only_time"] = 1.0
    remote, plugins = ranking.remote_candidates, ranking.plugin_candidates
    ours = tuple(hits.make_hit(store, item, plan.as_of) for item in shown)
    strong = external_hits.merge_remote_hits(ours, remote, plan.limit)
    return RecallResult(
        query=text,
        bank=bank or "all",
        abstained=not (relevant or plugins or remote),
        hits=(
            *strong,
            *external_hits.make_plugin_hits(plugins, ours),
            *_weak_hits(store, ranking, plan, shown, plan.limit - len(strong)),
        ),
        strategies=ranking.reports,
    )


def _weak_hits(
    store: ReadStore, ranking: Ranking, plan: RecallPlan, shown: Sequence[Candidate], limit: int
) -> list[Hit]:
    """So many hits below the threshold, if the plan wants them and the budget of tokens is not
    spent on what is `shown`."""
    if not plan.weak or limit < 1:
        return []
    both = [*shown, *ranking.weak]
    packed = hits.pack(both, plan.limits.tokens, len(shown) + limit, plan.include_repeats)
    known = {candidate.key for candidate in shown}
    return [
        replace(hits.make_hit(store, item, plan.as_of), weak=True)
        for item in packed
        if item.key not in known
    ]


def rank(
    store: ReadStore,
    bank: str | None,
    text: str,
    plan: RecallPlan,
    now: Callable[[], str],
    semantic: SemanticSearch | None = None,
    external: Sequence[Retriever] = (),
) -> Ranking:
    """Read the query, run the retrievers, fuse and rerank their results, and order them."""
    query = read_query(store, bank, text, (lambda: plan.as_of) if plan.as_of else now)
    thresholds = plan.thresholds
    if len(query.terms.words) > 1 and not query.terms.phrases:
        # A single word or an exact name is looked for as it is; others may be said in other words.
        plan = plan._replace(thresholds=plan.thresholds.for_bank(query.passages))
    semantic = semantic if plan.wants_meaning else None
    own = _retrievers(bank, query, plan, semantic)
    inline = len(own) if plan.one_reader else _ASKED_TOGETHER
    runs = run_retrievers(store, [*own, *external], plan.timeout_s or RETRIEVER_TIMEOUT_S, inline)
    own_runs, external_runs = runs[: len(own)], runs[len(own) :]
    # The semantic retriever, if there is one, is the last of our own.
    semantic_run = own_runs[-1] if own_runs else None
    if semantic_run is None or semantic_run.failed:
        # A model that failed once would fail again; the words are left.
        semantic = None
    reports = [run.report for run in runs]
    pool = _pool_results(store, bank, own_runs, plan, query)
    apply_status(store, pool, plan.as_of, now)
    if semantic is None or semantic_run is None:
        weights = words_only(plan.weights)
        _score(pool, plan, weights)
        if plan.limits.soft_match_depth:
            _add_neighbours(store, pool, plan, now)
            _score(pool, plan, weights)
    else:
        covered = _best_coverage(query, own_runs[0].result)
        weights = weights_for_coverage(covered, plan.weights)
        _fill_in_cosines(store, query, pool, semantic, semantic_run)
        _score(pool, plan, weights)
        _add_neighbours(store, pool, plan, now)
        _fill_in_cosines(store, query, pool, semantic, semantic_run)
        _score(pool, plan, weights)
        reports.append(_match_softly(query, pool, plan, semantic))
        _score(pool, plan, weights)
    recent = query.asks_for_recent_work
    for candidate in pool:
        boosts.apply_factors(candidate, query.text, query.time_range, recent, plan.weights)
    if semantic is not None and semantic.reranks(query.text, plan.budget is Budget.HIGH):
        reports.append(_cross_encode(query, pool, plan, semantic))
    check_branch(store, bank, plan.branch)
    demote_unmerged(store, list(pool), plan.branch, plan.weights)
    best = heapq.nlargest(max(_MAX_READ_FOR_ENDINGS, plan.limit), pool, key=lambda c: c.score)
    demote_ended(store, best, plan.as_of, plan.weights)
    candidates = _final_order(store, pool, query, plan, semantic)
    follows = plan.limits.graph_hops and not plan.strategies
    direction = cause_direction(query.text) if follows else None
    if direction is not None:
        candidates, report = _add_causes(store, query, candidates, plan, direction)
        reports.append(report)
    if query.identifiers:
        # Once more, for the steps since then moved others before them.
        candidates = put_exact_names_first(candidates, query.identifiers, query.names_only)
    plugin_runs = [run for run in external_runs if not external_hits.is_remote(run)]
    remote_runs = [run for run in external_runs if external_hits.is_remote(run)]
    return Ranking(
        query,
        candidates,
        tuple(reports),
        external_hits.rank_plugin_texts(query, plugin_runs, thresholds),
        external_hits.rank_remote_texts(query, remote_runs, thresholds),
        plan.thresholds,
    )


def _begins_as_report(text: str) -> bool:
    """Whether a query begins with what somebody sees, and not with what they ask."""
    first = next(iter(sentences(text)), "")
    return not is_question(first, by_person=True)


def _put_recaps_first(
    store: ReadStore,
    query: Query,
    candidates: list[Candidate],
    plan: RecallPlan,
    semantic: SemanticSearch | None,
) -> list[Candidate]:
    """Put recaps of conversations before their fragments. What happened at a time, and what was
    known then, is not what it came to; in a report, "on Monday" is no such time."""
    is_report = len(query.terms.words) >= _MIN_WORDS_OF_REPORT and _begins_as_report(query.text)
    by_time = query.only_time or (query.time_range is not None and not is_report)
    if by_time or query.asks_for_recent_work or plan.as_of:
        return candidates
    compared = max(_MAX_MEASURED, plan.limit)
    wanted = query.wanted(plan.thresholds, Expansion(plan.expansion))

    def measure(candidate: Candidate) -> None:
        measure_relevance(candidate, wanted)

    for bank in sorted({c.passage.bank for c in candidates[:compared]}):
        search = RecapSearch(store, bank)
        if not search.all:
            continue
        from holdfast.recall.ranking.recaps_first import (
            put_found_recaps_first,
            put_recaps_before_fragments,
        )

        candidates = put_recaps_before_fragments(
            candidates, search.all, measure, compared, plan.weights
        )
        if semantic is None or not is_report:
            continue
        found = search.find(
            query.text,
            lambda text: (coverage(query.stem_weights, text), 0),
            [c.passage for c in candidates[:compared]],
            semantic,
        )
        accepts = _PlanFilter(store, plan, query).accepts
        candidates = put_found_recaps_first(store, candidates, found, accepts)
        for candidate in candidates[: len(found)]:
            measure(candidate)
    return candidates


def _add_causes(
    store: ReadStore,
    query: Query,
    candidates: list[Candidate],
    plan: RecallPlan,
    direction: CauseDirection,
) -> tuple[list[Candidate], RetrieverReport]:
    """Add the records along causal links, each ranked just below the one that led to it, and below
    the records that answer the query at least as well as the start of the chain."""
    from holdfast.recall.ranking.causes import follow_causes

    started = monotonic()
    hops = plan.limits.graph_hops + 1
    start, steps = follow_causes(store, candidates, query.text, direction, hops)
    by_key = {candidate.key: candidate for candidate in candidates}
    found, filter = 0, _PlanFilter(store, plan, query)
    least = _least_answering(candidates, start, {passage_key(step.passage) for step in steps})
    for step in steps:
        if start is None or not filter.accepts(step.passage):
            continue
        candidate = by_key.setdefault(passage_key(step.passage), Candidate(step.passage))
        candidate.notes[direction.value] = step.hop
        candidate.notes["link"] = round(step.weight, 4)
        highest = start.score if not step.hop else min(start.score, least)
        below_start = highest * plan.weights.causal_step**step.hop
        candidate.score = max(candidate.score, below_start)
        time_stems = query.time_stems_at(candidate.passage.time)
        measure_relevance(
            candidate, query.wanted(plan.thresholds, Expansion(plan.expansion)), time_stems
        )
        found += bool(step.hop)
    ranked = sorted(by_key.values(), key=lambda c: -c.score)
    ms = round((monotonic() - started) * 1000, 2)
    return ranked, RetrieverReport("causal", ms, found)


def _least_answering(
    candidates: Sequence[Candidate], start: Candidate | None, chain: Collection[PassageKey]
) -> float:
    """The least score of the records beside a chain that answer the query as well as its start."""
    if start is None or "relevance" not in start.notes:
        return math.inf
    return min(
        (
            c.score
            for c in candidates
            if c is not start and c.key not in chain and "relevance" in c.notes
            if answers(c.notes) and c.notes["relevance"] >= start.notes["relevance"]
        ),
        default=math.inf,
    )


def _best_coverage(query: Query, result: RetrieverResult) -> float:
    """How much of the query the best full-text results cover."""
    best = [found.passage for found in result.passages[:_COVERAGE_AMONG]]
    weights = query.stem_weights
    return max((coverage(weights, f"{p.body} {p.context}") for p in best), default=0.0)


def _pool_results(
    store: ReadStore,
    bank: str | None,
    runs: Sequence[RetrieverRun],
    plan: RecallPlan,
    query: Query,
) -> Pool:
    """The retrievers' results in one pool, their scores on one scale, and with them records that
    hold the query's identifiers."""
    pool, filter = Pool(), _PlanFilter(store, plan, query)
    first = runs[0].result.passages if runs else ()
    best_by_words = max((found.score for found in first), default=0.0)
    for run in runs:
        name, result = run.report.name, run.result
        highest = best_by_words if name in _FULL_TEXT else 0.0
        accepted = [found for found in result.passages if filter.accepts(found.passage)]
        add_results(pool, name, accepted, result.lowest_score, highest)
    find_names(store, bank, pool, query.identifiers, filter.accepts)
    return pool


def _final_order(
    store: ReadStore,
    pool: Pool,
    query: Query,
    plan: RecallPlan,
    semantic: SemanticSearch | None,
) -> list[Candidate]:
    """The final ranking without duplicates; scores from 0 to 1, the relevance of the best known."""
    add_session_support(pool, plan.weights)
    candidates = boosts.break_ties(boosts.drop_duplicates(pool.ranked()), plan.weights)
    wanted = query.wanted(plan.thresholds, Expansion(plan.expansion))
    mark_names(candidates, query.identifiers)

    def measure(candidate: Candidate) -> None:
        measure_relevance(candidate, wanted, query.time_stems_at(candidate.passage.time))

    # What happened at a time is asked of those who were there.
    if query.time_range is None and not query.asks_for_recent_work:
        # A reason is not outdated by what is said later about the same.
        if cause_direction(query.text) is None:
            candidates = put_newer_statements_first(
                store, candidates, query.terms.words, measure, plan.weights
            )
        candidates = put_authorities_first(candidates, measure, plan.weights)
    if query.identifiers:
        candidates = put_exact_names_first(candidates, query.identifiers, query.names_only)
    compared = max(_MAX_MEASURED, plan.limit)
    candidates = put_what_holds_first(candidates, compared)
    accepts = _PlanFilter(store, plan, query).accepts
    candidates = put_later_statements_first(store, candidates, accepts, plan.as_of, compared)
    for candidate in candidates:
        candidate.score = min(1.0, candidate.score / plan.weights.highest)
    for candidate in candidates[:compared]:
        measure(candidate)
    return _put_recaps_first(store, query, candidates, plan, semantic)


class _PlanFilter:
    """Which passages a plan wants for a query. Each session is looked up once."""

    def __init__(self, store: ReadStore, plan: RecallPlan, query: Query) -> None:
        self._store = store
        self._plan = plan
        literal = plan.expansion == Expansion.NONE and not query.only_time
        self._given = given_words(query.text) if literal else frozenset[str]()
        self._agents: dict[tuple[str, str], str] = {}

    def accepts(self, passage: Passage) -> bool:
        plan = self._plan
        if plan.layers and LAYER_BY_KIND[passage.kind] not in plan.layers:
            return False
        if plan.as_of and passage.time > plan.as_of:
            return False
        if plan.kinds and passage.kind not in plan.kinds:
            return False
        if plan.agent and self._agent(passage.bank, passage.session) != plan.agent:
            return False
        if plan.knowledge and hits.knowledge_of(self._store, passage) not in plan.knowledge:
            return False
        if self._given and not has_given_word(self._given, f"{passage.body} {passage.context}"):
            return False
        return not plan.networks or self._is_of_network(passage)

    def _agent(self, bank: str, session: str) -> str:
        """The agent of a session; "" if there is no session."""
        known = self._agents.get((bank, session))
        if known is None:
            found = self._store.sessions.get(bank, session) if session else None
            known = self._agents[bank, session] = found.agent if found is not None else ""
        return known

    def _is_of_network(self, passage: Passage) -> bool:
        if passage.kind != "memory":
            return False
        found = self._store.records.find(passage.bank, "memory", passage.id, 1)
        return any(isinstance(m, Memory) and m.network in self._plan.networks for m in found)


def _retrievers(
    bank: str | None, query: Query, plan: RecallPlan, semantic: SemanticSearch | None
) -> list[Retriever]:
    """The retrievers for a query: the two of `direct_and_summaries` first, the semantic one
    last."""
    layers, pool_size = plan.layers, plan.limits.pool_size
    until = f"{plan.as_of}~" if plan.as_of else ""
    if plan.networks:
        layers = (LAYER_BY_KIND["memory"],)
    elif plan.knowledge:
        layers = hits.KNOWLEDGE_LAYERS
    literal = plan.expansion == Expansion.NONE
    if plan.networks or plan.kinds or plan.agent or plan.knowledge or literal:
        pool_size = _FILTERED_POOL
    chosen = [*retrievers.direct_and_summaries(bank, query.terms, layers, pool_size, until)]
    more = expand(query.spoken, Expansion(plan.expansion))
    if more:
        chosen.append(retrievers.expanded(bank, query.terms, more, layers, pool_size, until))
    if query.time_range is not None:
        chosen.append(retrievers.temporal(bank, query.terms, query.time_range, layers, pool_size))
    if query.asks_for_recent_work:
        chosen.append(retrievers.recent(bank, until))
    hops = plan.limits.graph_hops
    if hops:
        from holdfast.recall.retrievers.graph import graph_retriever

        memories = bool(plan.networks or plan.knowledge)
        chosen.append(graph_retriever(bank, query.text, layers, hops, pool_size, memories))
    if semantic is not None and plan.limits.soft_match_depth:
        chosen.append(retrievers.semantic(bank, semantic, query.text, layers, pool_size))
    return [one for one in chosen if not plan.strategies or one.name in plan.strategies]


def _score(pool: Pool, plan: RecallPlan, weights: RankingWeights) -> None:
    if plan.fusion is Fusion.RRF:
        fuse_by_ranks(list(pool), weights)
    else:
        fuse_by_scores(pool, weights)
    add_neighbour_scores(pool, weights)


def _fill_in_cosines(
    store: ReadStore, query: Query, pool: Pool, semantic: SemanticSearch, run: RetrieverRun
) -> None:
    """Set the cosines of all candidates, also of those that only other retrievers found. Does
    nothing if the semantic retriever failed or was too slow. In a language that the model does not
    understand, cosines rank, but do not tell whether anything answers: words decide that."""
    if run.failed:
        return
    nearest, tells = run.result, semantic.understands(query.text)
    for found in nearest.passages:
        known = pool.get(passage_key(found.passage))
        if known is not None and tells:
            known.cosine = found.score
    lacking = [c.passage for c in pool if "semantic" not in c.scores and c.passage.hash]
    highest = max((found.score for found in nearest.passages), default=0.0)
    span = highest - nearest.lowest_score
    for key, cosine in semantic.similarities(store, query.text, lacking).items():
        known = pool.get(key)
        if known is not None and span > 0:
            known.cosine = cosine if tells else 0.0
            scaled = (cosine - nearest.lowest_score) / span
            known.scores["semantic"] = min(1.0, max(0.0, scaled))


def _add_neighbours(store: ReadStore, pool: Pool, plan: RecallPlan, now: Callable[[], str]) -> None:
    """Add the turns beside the best turns as candidates, though they may share no word."""
    no_others = plan.networks or plan.knowledge or plan.expansion == Expansion.NONE
    if no_others or (plan.layers and Layer.TRANSCRIPTS not in plan.layers):
        return
    wanted: dict[str, list[tuple[str, int]]] = {}
    for candidate in pool.ranked()[:_NEIGHBOURS_OF_BEST]:
        p = candidate.passage
        if p.kind == "turn":
            beside = ((p.session, p.seq - 1), (p.session, p.seq + 1))
            wanted.setdefault(p.bank, []).extend(beside)
    known = len(pool)
    for bank, places in wanted.items():
        for passage in store.passages.of_turns(bank, places):
            if passage.role != "tool":
                pool.add(passage)
    apply_status(store, pool, plan.as_of, now, known)


def _match_softly(
    query: Query, pool: Pool, plan: RecallPlan, semantic: SemanticSearch
) -> RetrieverReport:
    """Match the best candidates word by word: one more kind of evidence."""
    from holdfast.recall.ranking.rerank import SoftMatcher, add_as_evidence, rerank

    limits, matcher = plan.limits, SoftMatcher(semantic, plan.rerank)
    depth, seconds = limits.soft_match_depth, limits.rerank_s
    return rerank(matcher, query, pool, depth, seconds, add_as_evidence, plan.rerank)


def _cross_encode(
    query: Query, pool: Pool, plan: RecallPlan, semantic: SemanticSearch
) -> RetrieverReport:
    """Let the configured cross-encoder reorder the best candidates."""
    from holdfast.recall.ranking.rerank import CrossEncoder, blend_into_scores, rerank

    limits, encoder = plan.limits, CrossEncoder(semantic, plan.rerank)
    depth, seconds = limits.rerank_depth, limits.rerank_s
    return rerank(encoder, query, pool, depth, seconds, blend_into_scores, plan.rerank)
