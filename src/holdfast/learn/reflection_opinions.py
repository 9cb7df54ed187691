"""What a reflection came to believe, kept as an opinion with what it rests on.

Only what several sessions bear out, in so many words, and nothing that rests on text from outside.
Reflecting again strengthens or weakens it; once a record that it rests on is gone, so is it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.language import STOPWORDS, stem, words
from holdfast.learn.opinions import FADED_BELOW, opinion_id, opinion_passage, trend_of
from holdfast.model.bank import Bank
from holdfast.model.opinions import (
    Opinion,
    OpinionRevision,
    Reflection,
    ReflectionCitation,
    ReflectionClaim,
    Trend,
)
from holdfast.model.trust import Status, Trust, least_trusted
from holdfast.refine.memories.salience import is_worth_retaining
from holdfast.store.protocol import Writer

FINDING = "finding"
BY_RULES = "rules"
_MOST = 2
_MOVED = 0.02
_TARGET_WORDS = 8
_MADE = ("memory", "fact", "concept")
# What others share is theirs: no opinion of ours is made of it.
_NOT_OURS = (*_MADE, "shared", "imported")


def keep_beliefs(writer: Writer, bank: Bank, reflection: Reflection, now: str) -> list[str]:
    """Store what is believed; returns the ids of the opinions."""
    kept: list[str] = []
    for claim in reflection.claims:
        is_candidate = claim.believed and claim.sources >= 2 and len(kept) < _MOST
        if is_candidate and not _held(claim, reflection) and is_worth_retaining(claim.sentence.strip("“”")):
            opinion = _finding(bank.id, claim, reflection, now)
            if opinion is not None:
                _put(writer, opinion, now)
                kept.append(opinion.id)
    return kept


def _held(claim: ReflectionClaim, reflection: Reflection) -> bool:
    """Whether an opinion that people stated says it already."""
    stems = {stem(word) for word in words(claim.sentence)}
    return any(o.aspect != FINDING and set(o.target.split()) <= stems for o in reflection.opinions)


def _finding(bank: str, claim: ReflectionClaim, reflection: Reflection, now: str) -> Opinion | None:
    cited = {one.number: one for one in reflection.citations}
    sources = _lasting(cited[n] for n in claim.cited)
    if len(sources) < 2 or any(one.trust is Trust.EXTERNAL for one in sources):
        return None
    target = target_of(claim.sentence)
    return Opinion(
        bank,
        opinion_id(target, FINDING),
        target,
        FINDING,
        True,
        claim.sentence.strip("“”"),
        f"said in {claim.sources} sessions",
        claim.confidence,
        Trend.NEW,
        Status.OBSERVED if claim.confidence >= FADED_BELOW else Status.RETRACTED,
        least_trusted(one.trust for one in sources),
        now,
        now,
        max(one.time for one in sources),
        claim.sources,
        tuple(one.uri for one in sources),
        tuple(cited[n].uri for n in claim.against),
        author=reflection.author or BY_RULES,
    )


def _lasting(cited: Iterable[ReflectionCitation]) -> list[ReflectionCitation]:
    """What a finding may rest on: what is made of other records is made anew with them."""
    return [one for one in cited if not any(f"/{word}/" in one.uri for word in _NOT_OURS)]


def target_of(sentence: str) -> str:
    """What a finding is about: the stems that weigh most, longest first, in a fixed order."""
    stems = {stem(word) for word in words(sentence) if word not in STOPWORDS and len(word) > 2}
    longest = sorted(stems, key=lambda s: (-len(s), s))[:_TARGET_WORDS]
    return " ".join(sorted(longest))


def _put(writer: Writer, opinion: Opinion, now: str) -> None:
    known = {o.id: o for o in writer.all_opinions(opinion.bank)}.get(opinion.id)
    note = "formed"
    if known is not None:
        opinion = replace(opinion, formed=known.formed)
        moved = opinion.confidence - known.confidence
        note = "" if abs(moved) < _MOVED else "strengthened" if moved > 0 else "weakened"
    counts = len(opinion.evidence_for), len(opinion.evidence_against)
    belief = OpinionRevision(now, opinion.confidence, *counts, note) if note else None
    beliefs = writer.opinion_history(opinion.bank, opinion.id) + ([belief] if belief else [])
    opinion = replace(opinion, trend=trend_of(beliefs, opinion.latest, now))
    writer.put_opinion(opinion, belief, opinion_passage(writer, opinion))
