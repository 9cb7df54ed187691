"""Which of the records that a search found are evidence, and whether they answer the question.

Everything that answers (`ask`, `research`, `reflect`, every server and page through them) takes its
evidence from here. A question, a request or a search is found by the words of a question and says
nothing about it; what an agent repeats from memory is no second source of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.language import content_stems, shared_fraction
from holdfast.model.query import Hit, RecallResult
from holdfast.model.records import Exchange, Turn
from holdfast.model.trust import Trust
from holdfast.recall.core.relevance import coverage
from holdfast.recall.core.statements import statements
from holdfast.recall.query.terms import read_terms
from holdfast.refine.core.memory_calls import without_retold
from holdfast.store.protocol import Reader

# Of two records that share this much of the shorter one's words, one may repeat the other.
_SAME_WORDS = 0.6
# Sessions that are found by their time answer with what was asked in them.
_BY_TIME = {"recent", "recent_sessions", "temporal"}


def evidence_in(reader: Reader, found: RecallResult) -> RecallResult:
    """A result with the hits that are evidence. It abstains if none of them answers the query."""
    hits = _without_repeats(reader, [hit for hit in found.hits if _is_evidence(hit)])
    hits = [_measured(hit, found.query) for hit in hits]
    answered = any(_answers(hit, found.min_relevance) for hit in hits)
    if answered:
        return replace(found, hits=tuple(hits))
    return replace(found, abstained=True, hits=(), misses=found.misses or tuple(hits))


def _is_evidence(hit: Hit) -> bool:
    if hit.kind == "digest" and _BY_TIME & hit.why.keys():
        return True
    return bool(hit.provider) or bool(statements(hit))


def _answers(hit: Hit, min_relevance: float) -> bool:
    """Whether a hit is relevant enough by itself. One that was not measured was found by its time,
    by an exact name or by a server of others, which decided that."""
    return hit.why.get("relevance", min_relevance) >= min_relevance
