"""What moves a candidate besides the arms: whose words it is, when it was said, what it repeats,
what it amends. Each is noted, so that a ranking can be explained."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from itertools import product

from holdfast.language import STOPWORDS, decides, sentences, shared, stem, telling, words
from holdfast.model.query import Passage
from holdfast.model.trust import Status
from holdfast.recall.core.candidates import Candidate
from holdfast.recall.query.time_phrases import TimeRange
from holdfast.regex import regex

_OF_ME = regex(r"\b(?:i|i'm|i've|i'd|my|me|mine|myself)\b", re.IGNORECASE)
_OF_YOU = regex(r"\b(?:you|your|yours)\b", re.IGNORECASE)
_NOT_THE_SPEAKER = 0.7
_NOT_THE_NAMED = 0.9
_NAME = regex(r"\b[A-Z][\w'-]+")
_SPEAKER = regex(r"([A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,2}): ")
_SPEAKS = 3
# A tool call names its words without saying anything about them.
_TOOL = 0.85
_OUT_OF_TIME = 0.5
_SUPERSEDED = 0.5
_HYPOTHESIS = 0.9
_IN_RECENT = 1.5
_AUTHORITY = 0.03
_CLOSE = 0.85
_SAME_MATTER = 0.3
_GROUND = 0.5
_LOOKED_AT = 20
_QUESTION = 2000


def named_speakers(candidates: Iterable[Candidate], question: str) -> frozenset[str]:
    """The people of a conversation whom the question names. Whoever speaks at all speaks more than
    once; a word before a colon that does not is no name."""
    asked = set(_NAME.findall(question[:_QUESTION]))
    if not asked:
        return frozenset()
    said = Counter(_speaker(candidate) for candidate in candidates)
    return frozenset(who for who, n in said.items() if n >= _SPEAKS and asked & {*who.split()})


def _speaker(candidate: Candidate) -> str:
    if candidate.passage.role != "user":
        return ""
    found = _SPEAKER.match(candidate.passage.body)
    return found.group(1) if found else ""


def apply_factors(
    candidate: Candidate,
    question: str,
    when: TimeRange | None,
    recent: bool,
    named: Collection[str] = (),
) -> None:
    """Apply the factors that a candidate earns by itself. A question that names somebody is mostly
    answered by what that one said."""
    p = candidate.passage
    factors: dict[str, float] = {}
    who = _speaker(candidate) if named else ""
    if p.role == "tool":
        factors["tool"] = _TOOL
    elif who and who not in named:
        factors["speaker"] = _NOT_THE_NAMED
    elif p.role and not who and _speaks_for_another(p.role, question):
        factors["speaker"] = _NOT_THE_SPEAKER
    if p.status in (Status.SUPERSEDED, Status.RETRACTED):
        factors["superseded"] = _SUPERSEDED
    elif p.status is Status.HYPOTHESIS:
        factors["hypothesis"] = _HYPOTHESIS
    if when is not None and not when.contains(p.time):
        factors["time"] = _OUT_OF_TIME
    if recent and "recent" in candidate.ranks:
        candidate.score = max(candidate.score, _IN_RECENT / candidate.ranks["recent"] ** 0.5)
    if when is not None and when.only_time and "temporal" in candidate.ranks:
        candidate.score = max(candidate.score, 1.0 / candidate.ranks["temporal"] ** 0.5)
    for value in factors.values():
        candidate.factor *= value
    candidate.score *= candidate.factor
    candidate.notes.update(factors)


@lru_cache(16)
def _speaks_for_another(role: str, question: str) -> bool:
    """A question about what I did is answered in my words, one about your advice in yours."""
    asked = question[:_QUESTION]
    if _OF_ME.search(asked):
        return role == "assistant"
    return role == "user" and bool(_OF_YOU.search(asked))


def drop_duplicates(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Without what says the same as one above it, word for word."""
    seen: set[str] = set()
    kept: list[Candidate] = []
    for candidate in ranked:
        said = candidate.passage.body[:500]
        if said not in seen:
            seen.add(said)
            kept.append(candidate)
    return kept


def break_ties(ranked: list[Candidate]) -> list[Candidate]:
    """Break near ties: by authority first, then the later of two decisions on one matter."""
    for candidate in ranked:
        authority = _authority(candidate)
        if authority:
            candidate.notes["authority"] = authority
            candidate.score *= 1 + authority
    ranked = sorted(ranked, key=lambda c: (-c.score, c.passage.time, c.key))
    return _memory_file_first(_later_first(ranked))


def _authority(candidate: Candidate) -> float:
    """Rules before permanent facts before the rest; too little to bury a much better match."""
    if candidate.passage.kind == "rule":
        return 2 * _AUTHORITY
    permanent = candidate.passage.kind == "fact" or candidate.passage.status is Status.VERIFIED
    return _AUTHORITY if permanent else 0.0


def _later_first(ranked: list[Candidate]) -> list[Candidate]:
    """Where two records decide the same matter, the later stands above the one it amends."""
    head = ranked[:_LOOKED_AT]
    decided = cache(_decided)
    for later, earlier in product([*head], repeat=2):
        close = _CLOSE * earlier.score <= later.score < earlier.score
        after = later.passage.time > earlier.passage.time > ""
        if close and after and later.passage.session != earlier.passage.session:
            its, other = decided(later.passage), decided(earlier.passage)
            if its and other and len(its & other) >= _SAME_MATTER * min(len(its), len(other)):
                later.notes["amends"] = round(earlier.score - later.score, 4)
                later.score = earlier.score
                head.remove(later)
                head.insert(head.index(earlier), later)
    return head + ranked[_LOOKED_AT:]


def _memory_file_first(ranked: list[Candidate]) -> list[Candidate]:
    """What people wrote down as the ground truth stands above whatever else speaks of the same
    matter, and that is told."""
    head = ranked[:_LOOKED_AT]
    for ground in [c for c in head if is_memory_file(c.passage)]:
        lines = [telling(line) for line in ground.passage.body[:4000].split("\n")]
        for place, other in enumerate(head):
            if other is ground:
                break
            fair = ground.score >= _GROUND * other.score
            if other.passage.kind != "rule" and fair and _on_a_line(other, lines):
                ground.notes["ground"] = round(other.score - ground.score, 4)
                ground.score = other.score
                head.remove(ground)
                head.insert(place, ground)
                break
    return head + ranked[_LOOKED_AT:]


def is_memory_file(passage: Passage) -> bool:
    """Whether a passage is of `memory.md`, which wins conflicts."""
    return passage.kind == "rule" and passage.status is Status.VERIFIED


def _on_a_line(candidate: Candidate, lines: Sequence[frozenset[str]]) -> bool:
    said = telling(candidate.passage.body[:2000])
    return any(len(line & said) >= 2 and shared(line, said) >= 0.5 for line in lines)


def _decided(passage: Passage) -> frozenset[str]:
    """The words of the matter that a passage decides; none if it decides nothing."""
    if not any(map(decides, sentences(passage.body[:4000]))):
        return frozenset()
    said = words(passage.body[:2000])
    return frozenset(stem(word) for word in said if word not in STOPWORDS)
