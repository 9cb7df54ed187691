"""Puts rule files and what people asked to remember above what was only said, where they speak of
the query as clearly.

A rule is written once, in its own words; what was said is found in many turns, exchanges and
digests, each of which may share more words with a query. So relevance is compared, not the score.
What ended, and what a later statement replaced, is put in its place afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from holdfast.model.trust import ENDED_STATUSES, Status
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.relevance import answers
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights


def is_authority(candidate: Candidate) -> bool:
    """Whether a candidate is a section of a rule file, or a text that a person asked to
    remember."""
    passage = candidate.passage
    if passage.status in ENDED_STATUSES:
        return False
    is_remembered = passage.kind == "memory" and not passage.session
    return passage.kind == "rule" or (is_remembered and passage.status is Status.VERIFIED)


def put_authorities_first(
    ranked: Sequence[Candidate],
    measure: Callable[[Candidate], None],
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> list[Candidate]:
    """The ranking with each authority that answers the query above the other records that answer it
    hardly better. `measure` notes the relevance of a candidate."""
    head = list(ranked[: weights.compared_for_ties])
    authorities = [candidate for candidate in head if is_authority(candidate)]
    if not authorities:
        return list(ranked)
    for candidate in head:
        measure(candidate)
    for authority in filter(lambda one: answers(one.notes), authorities):
        least = authority.notes["relevance"] / weights.authority_relevance
        for place, other in enumerate(head[: head.index(authority)]):
            if not is_authority(other) and other.notes["relevance"] <= least:
                authority.notes["stands"] = round(other.score - authority.score, 4)
                authority.score = max(authority.score, other.score)
                head.remove(authority)
                head.insert(place, authority)
                break
    return head + list(ranked[weights.compared_for_ties :])
