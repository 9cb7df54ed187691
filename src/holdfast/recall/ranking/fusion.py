"""Many rankings become one: by scores on a common scale, or by places (RRF).

Every arm's scores are brought to a scale from 0 to 1, on which 0 is "says nothing of it". An arm
that did not find a passage gives it nothing. Then a turn takes a little from its neighbours,
because an answer often stands beside the words that were asked for.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from holdfast.model.trust import Status
from holdfast.recall.core.candidates import Candidate, PassageKey, Pool, ScoredPassage, passage_key

# What each kind of evidence counts: words, what words mean one by one, and what the whole means.
# Where a passage holds nearly every word of the question, words are to be trusted more: names of
# code are exact. No set of questions is served best by these, and every set is served well.
LOOSE: Mapping[str, float] = {"words": 0.25, "soft": 0.30, "meaning": 0.45}
EXACT: Mapping[str, float] = {"words": 0.40, "soft": 0.30, "meaning": 0.30}
_KINDS = ("words", "meaning", "soft")
# Words alone, where no model looks.
WORDS_ONLY: Mapping[str, float] = {"words": 1.0}
# On top of these, that a record mentions what the question names: it decides between near ties.
GRAPH = 0.03
RRF_K = 60
NEIGHBOUR = 0.15
SUPPORT = 0.3
SUPPORTERS = 5
# What a candidate can come to: all the evidence, two good neighbours and a session full of it.
HIGHEST = 1 + 2 * NEIGHBOUR + SUPPORT
_EXPANDED = 0.8
_PAST = (Status.SUPERSEDED, Status.RETRACTED)


def weights_for(covered: float) -> Mapping[str, float]:
    """The weights for a question of which the best find by words covers so much."""
    exact = min(1.0, max(0.0, (covered - 0.8) / 0.2))
    return {kind: LOOSE[kind] + exact * (EXACT[kind] - LOOSE[kind]) for kind in LOOSE}


def add_results(
    pool: Pool, arm: str, finds: Sequence[ScoredPassage], lowest: float = 0.0, highest: float = 0.0
) -> None:
    """Take an arm's finds into the pool, its scores brought to the scale; `lowest` is what the
    arm would give to something that has nothing to do with the question, and `highest` a
    score that another arm has given by the same measure. Places follow from the scores, so
    that equal finds stand in the same order however they were stored."""
    highest = max(highest, max((find.score for find in finds), default=0.0))
    span = highest - lowest
    for place, find in enumerate(sorted(finds, key=_place), start=1):
        candidate = pool.add(find.passage)
        scaled = (find.score - lowest) / span if span > 0 else 1.0
        known = candidate.scores.get(arm)
        candidate.scores[arm] = max(0.0, scaled) if known is None else max(known, scaled)
        candidate.ranks.setdefault(arm, place)


def _place(find: ScoredPassage) -> tuple[float, PassageKey]:
    return -find.score, passage_key(find.passage)


def fuse_by_scores(candidates: Iterable[Candidate], weights: Mapping[str, float]) -> None:
    """The weighted sum of the evidence: an arm's score counts once for the kind that it is."""
    by_words, by_meaning, by_pieces = (weights.get(kind, 0.0) for kind in _KINDS)
    for candidate in candidates:
        of = candidate.scores.get
        words = max(
            of("direct_fts", 0.0),
            _EXPANDED * of("expanded_fts", 0.0),
            of("summaries", 0.0),
            of("temporal", 0.0),
        )
        told = by_words * words + by_meaning * of("semantic", 0.0) + by_pieces * of("soft", 0.0)
        candidate.score = GRAPH * of("graph", 0.0) + told


def fuse_by_ranks(candidates: Sequence[Candidate]) -> None:
    """Reciprocal rank fusion, scaled so that first place in every arm is 1."""
    arms = {arm for candidate in candidates for arm in candidate.ranks}
    best = len(arms) / (RRF_K + 1) or 1.0
    for candidate in candidates:
        # Not `sum`: what it rounds depends on which arm came first, and equal places must tie.
        shares = [1 / (RRF_K + place) for place in candidate.ranks.values()]
        candidate.score = math.fsum(shares) / best


def add_neighbour_scores(pool: Pool, share: float = NEIGHBOUR) -> None:
    """Add a share of the score of the turns just before and after in the session. What does not
    hold any more speaks for nothing beside it."""
    own = {
        (c.passage.bank, c.passage.session, c.passage.seq): c.score
        for c in pool
        if c.passage.kind == "turn" and c.passage.status not in _PAST
    }
    for candidate in pool:
        p = candidate.passage
        if p.kind != "turn":
            continue
        beside = [own.get((p.bank, p.session, p.seq + step), 0.0) for step in (-1, 1)]
        if any(beside):
            gained = share * sum(beside)
            candidate.notes["neighbours"] = round(gained, 4)
            candidate.score += gained


def add_session_support(pool: Pool, share: float = SUPPORT) -> None:
    """Add a share of what else of the session speaks of it: a session with several good finds
    is more likely about the matter than one with a single chance match."""
    sessions: dict[tuple[str, str], list[Candidate]] = {}
    for candidate in pool:
        # What is retained of a session only repeats it.
        if candidate.passage.session and candidate.passage.kind != "memory":
            home = (candidate.passage.bank, candidate.passage.session)
            sessions.setdefault(home, []).append(candidate)
    for members in sessions.values():
        best = sorted((c.score for c in members), reverse=True)[1:SUPPORTERS]
        gained = share * sum(score * 0.5 ** (n + 1) for n, score in enumerate(best))
        for candidate in members:
            candidate.notes["session"] = round(gained, 4)
            candidate.score += gained
