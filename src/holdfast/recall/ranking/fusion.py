"""Fusion: the results of several retrievers become one score per candidate.

Every retriever's scores are scaled to 0..1, where 0 means "has nothing to do with the query"; a
retriever that did not find a passage gives it 0. The scores are combined by weight, or by rank
(RRF). Then a candidate gains from its neighbours and its session. The weights are in `core.tuning`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from holdfast.model.trust import Status
from holdfast.recall.core.candidates import Candidate, PassageKey, Pool, ScoredPassage, passage_key
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights

_PAST = (Status.SUPERSEDED, Status.RETRACTED)


def weights_for_coverage(
    coverage: float, weights: RankingWeights = DEFAULT_WEIGHTS
) -> RankingWeights:
    """The weights for a query of which the best full-text result covers this share: the more, the
    more the words are trusted."""
    exact = min(1.0, max(0.0, (coverage - weights.exact_from) / weights.exact_span))
    return weights._replace(
        words=weights.words + exact * (weights.exact_words - weights.words),
        soft=weights.soft + exact * (weights.exact_soft - weights.soft),
        meaning=weights.meaning + exact * (weights.exact_meaning - weights.meaning),
    )


def words_only(weights: RankingWeights = DEFAULT_WEIGHTS) -> RankingWeights:
    """The weights for a search without a model."""
    return weights._replace(words=1.0, soft=0.0, meaning=0.0)


def add_results(
    pool: Pool,
    retriever: str,
    passages: Sequence[ScoredPassage],
    lowest: float = 0.0,
    highest: float = 0.0,
) -> None:
    """Add a retriever's results to the pool, with scores scaled to 0..1. `lowest` is what it gives
    to an unrelated passage; `highest` is a score that another retriever gave by the same measure.
    Ranks follow from the scores, so they do not depend on the order of rows in the store."""
    highest = max(highest, max((found.score for found in passages), default=0.0))
    span = highest - lowest
    for rank, found in enumerate(sorted(passages, key=_by_score), start=1):
        candidate = pool.add(found.passage)
        scaled = (found.score - lowest) / span if span > 0 else 1.0
        known = candidate.scores.get(retriever)
        candidate.scores[retriever] = max(0.0, scaled) if known is None else max(known, scaled)
        candidate.ranks.setdefault(retriever, rank)


def _by_score(found: ScoredPassage) -> tuple[float, PassageKey]:
    return -found.score, passage_key(found.passage)


def fuse_by_scores(
    candidates: Iterable[Candidate], weights: RankingWeights = DEFAULT_WEIGHTS
) -> None:
    """Set each score to the weighted sum of the evidence. Of the full-text retrievers only the best
    score counts, because they measure the same."""
    for candidate in candidates:
        of = candidate.scores.get
        words = max(
            of("direct_fts", 0.0),
            weights.expanded * of("expanded_fts", 0.0),
            of("summaries", 0.0),
            of("temporal", 0.0),
        )
        evidence = (
            weights.words * words
            + weights.meaning * of("semantic", 0.0)
            + weights.soft * of("soft", 0.0)
        )
        candidate.score = weights.graph * of("graph", 0.0) + evidence


def fuse_by_ranks(
    candidates: Sequence[Candidate], weights: RankingWeights = DEFAULT_WEIGHTS
) -> None:
    """Reciprocal rank fusion, scaled so that the first rank in every retriever gives 1."""
    retrievers = {name for candidate in candidates for name in candidate.ranks}
    best = len(retrievers) / (weights.rrf_k + 1) or 1.0
    for candidate in candidates:
        # Not `sum`: its rounding depends on the order of the retrievers, and equal ranks must tie.
        shares = [1 / (weights.rrf_k + rank) for rank in candidate.ranks.values()]
        candidate.score = math.fsum(shares) / best


def add_neighbour_scores(pool: Pool, weights: RankingWeights = DEFAULT_WEIGHTS) -> None:
    """Add to each turn a share of the scores of the turns just before and after it. Superseded and
    retracted turns add nothing to others."""
    turns = [(c, c.passage) for c in pool if c.passage.kind == "turn"]
    scores = {(p.bank, p.session, p.seq): c.score for c, p in turns if p.status not in _PAST}
    score_at = scores.get
    for candidate, p in turns:
        before = score_at((p.bank, p.session, p.seq - 1), 0.0)
        beside = before + score_at((p.bank, p.session, p.seq + 1), 0.0)
        if beside:
            gained = weights.neighbour * beside
            candidate.notes["neighbours"] = round(gained, 4)
            candidate.score += gained


def add_session_support(pool: Pool, weights: RankingWeights = DEFAULT_WEIGHTS) -> None:
    """Add to each candidate a share of the other good candidates of its session: a session with
    several good matches is more likely about the subject than one with a single match."""
    sessions: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in pool:
        # A memory only repeats its session.
        if candidate.passage.session and candidate.passage.kind != "memory":
            session = (candidate.passage.bank, candidate.passage.session)
            sessions.setdefault(session, []).append(candidate)
    for members in sessions.values():
        best = sorted((c.score for c in members), reverse=True)[1 : weights.session_supporters]
        halved = sum(score * 0.5 ** (n + 1) for n, score in enumerate(best))
        gained = weights.session_support * halved
        for candidate in members:
            candidate.notes["session"] = round(gained, 4)
            candidate.score += gained
