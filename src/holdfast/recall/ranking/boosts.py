"""Adjustments to single candidates after fusion: who said it, when, whether it repeats, supersedes
or contradicts another. Each is noted, so that a ranking can be explained. The factors are in
`core.tuning.RankingWeights`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import product

from holdfast.language import (
    STOPWORDS,
    content_stems,
    sentences,
    shared_fraction,
    states_decision,
    stem,
    words,
)
from holdfast.model.query import Passage
from holdfast.model.trust import Status
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.core.tuning import DEFAULT_WEIGHTS, RankingWeights
from holdfast.recall.query.time_ranges import TimeRange
from holdfast.regex import regex

_FIRST_PERSON = regex(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself)\b", re.IGNORECASE)
_SECOND_PERSON = regex(r"\b(?:you|your|yours)\b", re.IGNORECASE)
# Longer queries are pasted texts: who is asked about is said at the start.
_MAX_QUERY = 2000
# How much of a text is read: to compare subjects, and to look for a sentence that decides. Bounds
# the time for very long passages.
_MAX_COMPARED = 2000
_MAX_SEARCHED = 4000
_DUPLICATE_START = 500
# A line of memory.md is on the subject of a text with this many, and this share, of its words.
_SAME_LINE_WORDS = 2
_SAME_LINE_SHARE = 0.5


def apply_factors(
    candidate: Candidate,
    query: str,
    time_range: TimeRange | None,
    recent_work: bool,
    weights: RankingWeights = DEFAULT_WEIGHTS,
) -> None:
    """Multiply a candidate's score by the factors for who said it, its status and its time."""
    p = candidate.passage
    factors: dict[str, float] = {}
    if p.role == "tool":
        factors["tool"] = weights.tool_call
    elif p.role and _is_other_role(p.role, query):
        factors["speaker"] = weights.other_role
    if p.status in (Status.SUPERSEDED, Status.RETRACTED):
        factors["superseded"] = weights.superseded
    elif p.status is Status.HYPOTHESIS:
        factors["hypothesis"] = weights.hypothesis
    if time_range is not None and not time_range.contains(p.time):
        factors["time"] = weights.out_of_time_range
    if recent_work and "recent" in candidate.ranks:
        least = weights.recent_work / candidate.ranks["recent"] ** 0.5
        candidate.score = max(candidate.score, least)
    if time_range is not None and time_range.only_time and "temporal" in candidate.ranks:
        candidate.score = max(candidate.score, 1.0 / candidate.ranks["temporal"] ** 0.5)
    for value in factors.values():
        candidate.factor *= value
    candidate.score *= candidate.factor
    candidate.notes.update(factors)


@lru_cache(16)
def _is_other_role(role: str, query: str) -> bool:
    """Whether a role is not the one asked about: "I" asks for the user's words, "you" for the
    assistant's."""
    asked = query[:_MAX_QUERY]
    if _FIRST_PERSON.search(asked):
        return role == "assistant"
    return role == "user" and bool(_SECOND_PERSON.search(asked))


def drop_duplicates(ranked: Sequence[Candidate]) -> list[Candidate]:
    """The ranking without candidates that start with the same words as a better one."""
    seen: set[str] = set()
    kept: list[Candidate] = []
    for candidate in ranked:
        start = candidate.passage.body[:_DUPLICATE_START]
        if start not in seen:
            seen.add(start)
            kept.append(candidate)
    return kept


def break_ties(
    ranked: list[Candidate], weights: RankingWeights = DEFAULT_WEIGHTS
) -> list[Candidate]:
    """Reorder near ties: by authority, then the later of two decisions on one subject, then
    memory.md before everything else on its subject."""
    for candidate in ranked:
        authority = _authority(candidate, weights)
        if authority:
            candidate.notes["authority"] = authority
            candidate.score *= 1 + authority
    ranked = sorted(ranked, key=lambda c: (-c.score, c.passage.time, c.key))
    return _memory_file_first(_later_first(ranked, weights), weights)


def _authority(candidate: Candidate, weights: RankingWeights) -> float:
    if candidate.passage.kind == "rule":
        return 2 * weights.authority
    permanent = candidate.passage.kind == "fact" or candidate.passage.status is Status.VERIFIED
    return weights.authority if permanent else 0.0


def _later_first(ranked: list[Candidate], weights: RankingWeights) -> list[Candidate]:
    """Where two records decide the same subject, move the later one above the earlier."""
    head = ranked[: weights.compared_for_ties]
    subject_of, decides = cache(_subject), cache(_states_decision)
    for later, earlier in product([*head], repeat=2):
        close = weights.near_tie * earlier.score <= later.score < earlier.score
        after = later.passage.time > earlier.passage.time > ""
        if close and after and later.passage.session != earlier.passage.session:
            own, other = subject_of(later.passage), subject_of(earlier.passage)
            needed = weights.same_subject * min(len(own), len(other))
            is_same = own and other and len(own & other) >= needed
            # To read the sentences of a text takes four times as long as to read its words.
            if is_same and decides(later.passage) and decides(earlier.passage):
                later.notes["amends"] = round(earlier.score - later.score, 4)
                later.score = earlier.score
                head.remove(later)
                head.insert(head.index(earlier), later)
    return head + ranked[weights.compared_for_ties :]


def _memory_file_first(ranked: list[Candidate], weights: RankingWeights) -> list[Candidate]:
    """Move sections of memory.md above other records on the same subject."""
    head = ranked[: weights.compared_for_ties]
    for section in [c for c in head if is_memory_file(c.passage)]:
        lines = [content_stems(line) for line in section.passage.body[:_MAX_SEARCHED].split("\n")]
        for place, other in enumerate(head):
            if other is section:
                break
            close = section.score >= weights.memory_file_tie * other.score
            if other.passage.kind != "rule" and close and _is_on_a_line(other, lines):
                section.notes["ground"] = round(other.score - section.score, 4)
                section.score = other.score
                head.remove(section)
                head.insert(place, section)
                break
    return head + ranked[weights.compared_for_ties :]


def is_memory_file(passage: Passage) -> bool:
    """Whether a passage is a section of `memory.md`, which wins conflicts."""
    return passage.kind == "rule" and passage.status is Status.VERIFIED


def _is_on_a_line(candidate: Candidate, lines: Sequence[frozenset[str]]) -> bool:
    said = content_stems(candidate.passage.body[:_MAX_COMPARED])
    return any(
        len(line & said) >= _SAME_LINE_WORDS and shared_fraction(line, said) >= _SAME_LINE_SHARE
        for line in lines
    )


def _states_decision(passage: Passage) -> bool:
    """Whether a passage decides something."""
    return any(map(states_decision, sentences(passage.body[:_MAX_SEARCHED])))


def _subject(passage: Passage) -> frozenset[str]:
    """The stems of a passage."""
    said = words(passage.body[:_MAX_COMPARED])
    return frozenset(stem(word) for word in said if word not in STOPWORDS)
