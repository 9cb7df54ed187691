"""Store the claims that a reflection believes as opinions, with their evidence.

Only claims of several sessions, and none that rests on text from outside the project. Reflecting
again strengthens or weakens such an opinion; it is removed with the first record of its evidence.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from holdfast.language import STOPWORDS, stem, words
from holdfast.learn.opinions import WEIGHTS, confidence_note, opinion_id, put_with_history
from holdfast.model.bank import Bank
from holdfast.model.opinions import (
    Opinion,
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
# Opinions stored for one reflection, so that a question does not flood the bank.
_MAX_OPINIONS = 2
_MIN_SOURCES = 2
# Stems that identify what an opinion is about. Fewer would join different claims into one.
_TARGET_STEMS = 8
# Records that are no evidence: derived ones are replaced when they are derived again, and shared or
# imported ones are the words of others.
_NO_EVIDENCE = ("memory", "fact", "concept", "shared", "imported")


def keep_beliefs(writer: Writer, bank: Bank, reflection: Reflection, now: str) -> list[str]:
    """Store the believed claims of a reflection as opinions; returns their ids."""
    kept: list[str] = []
    for claim in reflection.claims:
        if len(kept) == _MAX_OPINIONS:
            break
        opinion = _opinion_of(bank.id, claim, reflection, now)
        if opinion is not None:
            _put(writer, opinion, now)
            kept.append(opinion.id)
    return kept


def _is_covered(claim: ReflectionClaim, reflection: Reflection) -> bool:
    """Whether an opinion that people stated covers the claim already."""
    stems = {stem(word) for word in words(claim.sentence)}
    return any(o.aspect != FINDING and set(o.target.split()) <= stems for o in reflection.opinions)


def _opinion_of(
    bank: str, claim: ReflectionClaim, reflection: Reflection, now: str
) -> Opinion | None:
    """The opinion of a claim; None if the claim is not good enough for one."""
    if not claim.believed or claim.sources < _MIN_SOURCES or _is_covered(claim, reflection):
        return None
    statement = claim.sentence.strip("“”")
    if not is_worth_retaining(statement):
        return None
    cited = {one.number: one for one in reflection.citations}
    sources = _usable(cited[n] for n in claim.cited)
    if len(sources) < _MIN_SOURCES or any(one.trust is Trust.EXTERNAL for one in sources):
        return None
    target = target_of(claim.sentence)
    return Opinion(
        bank,
        opinion_id(target, FINDING),
        target,
        FINDING,
        True,
        statement,
        f"said in {claim.sources} sessions",
        claim.confidence,
        Trend.NEW,
        Status.OBSERVED if claim.confidence >= WEIGHTS.faded_below else Status.RETRACTED,
        least_trusted(one.trust for one in sources),
        now,
        now,
        max(one.time for one in sources),
        claim.sources,
        tuple(one.uri for one in sources),
        tuple(cited[n].uri for n in claim.against),
        author=reflection.author or BY_RULES,
    )


def _usable(cited: Iterable[ReflectionCitation]) -> list[ReflectionCitation]:
    """The citations that may be evidence."""
    return [one for one in cited if not any(f"/{word}/" in one.uri for word in _NO_EVIDENCE)]


def target_of(sentence: str) -> str:
    """What a claim is about: its longest stems, in alphabetical order."""
    stems = {stem(word) for word in words(sentence) if word not in STOPWORDS and len(word) > 2}
    longest = sorted(stems, key=lambda s: (-len(s), s))[:_TARGET_STEMS]
    return " ".join(sorted(longest))


def _put(writer: Writer, opinion: Opinion, now: str) -> None:
    known = {o.id: o for o in writer.opinions.all_uncurated(opinion.bank)}.get(opinion.id)
    note = "formed"
    if known is not None:
        opinion = replace(opinion, formed=known.formed)
        note = confidence_note(opinion.confidence - known.confidence)
    put_with_history(writer, opinion, note, now)
