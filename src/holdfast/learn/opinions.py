"""Opinions: what people and agents state with a confidence, and what a model's reflection believes.

An opinion that somebody retained has their words and their confidence; who states it again with
another confidence has changed their mind, and the history has both. One that a model formed has the
confidence that its evidence allows: reflecting again raises or lowers it, and it is removed with
the first record of its evidence. Nothing is read out of the words of sessions. An opinion that
nobody has stated for long fades; below the threshold it is kept with its history and shown to
nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from holdfast.language import STOPWORDS, stem, words
from holdfast.model.bank import Bank
from holdfast.model.corrections import corrected_passage_memory
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import (
    Opinion,
    OpinionRevision,
    Reflection,
    ReflectionCitation,
    ReflectionClaim,
    Trend,
)
from holdfast.model.query import Passage
from holdfast.model.trust import Status, Trust, least_trusted
from holdfast.model.uris import uri
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.passages import date_words, memory_passage, split_identifiers
from holdfast.store.protocol import Writer

NAME, VERSION = "reflect", 5
# An opinion below this confidence has faded.
FADED_BELOW = 0.4
# An opinion that nobody stated for so long is stale, and from then on loses half of its confidence
# in each half-life.
_STALE_DAYS, _HALF_LIFE_DAYS = 120, 180.0
# A smaller change of confidence is no news.
_MIN_CHANGE = 0.02
# The prior against any claim of a reflection: at skepticism 1, and more for each further step; and
# what a single source loses for each step.
_PRIOR, _PRIOR_PER_SKEPTICISM, _SINGLE_SOURCE_LOSS = 0.4, 0.5, 0.05
# Opinions stored for one reflection, so that a question does not flood the bank, and the sources
# that each needs.
_MAX_STORED, _MIN_SOURCES = 2, 2
# Stems that identify what a claim is about. Fewer would join different claims into one.
_TARGET_STEMS = 8
# Records that are no evidence: derived ones are replaced when they are derived again, and shared or
# imported ones are the words of others.
_NO_EVIDENCE = ("memory", "fact", "concept", "shared", "imported")
# Opinions are known by what they are about and by how they came about.
_HELD, _FINDING = "held", "finding"
# Effectively all of the memories that somebody asked to retain.
_NO_LIMIT = 1_000_000


def sources_needed(skepticism: int) -> int:
    """How many sessions must say something before a bank believes it: 1, 2 or 3."""
    return 1 + (skepticism > 2) + (skepticism > 4)


def confidence_of(support: float, opposition: float, sources: int, skepticism: int) -> float:
    """The confidence in the stronger side, from 0 to 1, by the records for and against."""
    prior = _PRIOR + _PRIOR_PER_SKEPTICISM * (skepticism - 1)
    confidence = (max(support, opposition) + prior / 2) / (support + opposition + prior)
    if sources < 2:
        confidence *= 1 - _SINGLE_SOURCE_LOSS * (skepticism - 1)
    return round(confidence, 3)


def update_all_banks(writer: Writer, tick: Callable[[], None], now: str) -> int:
    """Update the opinions of every bank that changed; returns how many opinions changed."""
    changed = 0
    for bank in writer.progress.banks_behind(NAME, VERSION):
        tick()
        with writer.transaction():
            changes = writer.progress.unseen_changes(bank, NAME, VERSION, _NO_LIMIT)
            changed += update_opinions(writer, bank, now)
            if changes:
                writer.progress.mark_seen(bank, NAME, VERSION, changes[-1].number)
    return changed


def update_opinions(writer: Writer, bank: str, now: str) -> int:
    """Update the opinions of a bank: those that somebody retained, the age of all, and whether the
    evidence of the others still exists. Returns how many changed. The caller opens the
    transaction."""
    known = {o.id: o for o in writer.opinions.all_uncurated(bank)}
    stated: dict[str, list[Memory]] = {}
    for memory in sorted(writer.memories.remembered(bank, _NO_LIMIT), key=lambda m: m.when):
        if memory.network is Network.OPINION:
            id = content_id("opinion", memory.what.rstrip("."), _HELD)
            stated.setdefault(id, []).append(memory)
    changed = 0
    for id in sorted(known.keys() | stated):
        before = known.get(id)
        if id in stated:
            changed += _put(writer, _stated_opinion(id, before, stated[id], now), before, now)
        elif before is not None and before.author and _has_evidence(writer, before):
            history = writer.opinions.history(bank, id)
            base = history[-1].confidence if history else before.confidence
            faded = fade(before, base, now)
            if faded != before:
                writer.opinions.put(faded, None, opinion_passage(writer, faded))
                changed += 1
        else:
            writer.opinions.drop(bank, id)
            changed += 1
    return changed


def _stated_opinion(id: str, known: Opinion | None, stated: Sequence[Memory], now: str) -> Opinion:
    """The opinion that these memories state, oldest first: in the words and with the confidence of
    the last one."""
    last = stated[-1]
    opinion = Opinion(
        last.bank,
        id,
        last.what,
        last.why or f"stated by {last.who or 'a person'}, {last.when[:10]}",
        last.confidence or 0.0,
        Trend.NEW,
        Status.OBSERVED,
        least_trusted(m.trust for m in stated),
        known.formed if known else now,
        now,
        last.when,
        len(stated),
        tuple(uri("memory", m.id) for m in reversed(stated)),
    )
    return fade(opinion, opinion.confidence, now)


def _has_evidence(writer: Writer, opinion: Opinion) -> bool:
    names = opinion.evidence_for + opinion.evidence_against
    return bool(names) and all(find_by_uri(writer, opinion.bank, name) for name in names)


def _put(writer: Writer, opinion: Opinion, known: Opinion | None, now: str) -> bool:
    """Store an opinion, with a revision in its history if its confidence changed by more than its
    age; returns whether anything changed."""
    history = writer.opinions.history(opinion.bank, opinion.id)
    note = "formed"
    if known is not None:
        change = opinion.confidence - known.confidence
        is_restated = opinion.evidence_for != known.evidence_for or opinion.author
        note = "strengthened" if change > 0 else "weakened"
        note = note if is_restated and abs(change) >= _MIN_CHANGE else ""
        if not note and replace(opinion, updated=known.updated, trend=known.trend) == known:
            return False
    counts = len(opinion.evidence_for), len(opinion.evidence_against)
    revision = OpinionRevision(now, opinion.confidence, *counts, note) if note else None
    history += [revision] if revision else []
    opinion = replace(opinion, trend=trend_of(history, opinion.latest, now))
    writer.opinions.put(opinion, revision, opinion_passage(writer, opinion))
    return True


def fade(opinion: Opinion, base: float, now: str) -> Opinion:
    """The opinion with what is left of its confidence `base` if nobody has stated it for too long.
    One that was formed from old evidence counts from when it was formed."""
    overdue = _days(max(opinion.latest, opinion.formed), now) - _STALE_DAYS
    if overdue <= 0:
        return opinion
    confidence = round(base * 0.5 ** (overdue / _HALF_LIFE_DAYS), 3)
    status = Status.RETRACTED if confidence < FADED_BELOW else opinion.status
    return replace(opinion, confidence=confidence, trend=Trend.STALE, status=status)


def _days(earlier: str, later: str) -> float:
    if not earlier or not later:
        return 0.0
    span = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return span.total_seconds() / 86400


def trend_of(history: Sequence[OpinionRevision], latest: str, now: str) -> Trend:
    """The trend of an opinion, by its last two revisions and the age of its latest evidence."""
    if _days(latest, now) > _STALE_DAYS:
        return Trend.STALE
    if len(history) < 2:
        return Trend.NEW
    change = history[-1].confidence - history[-2].confidence
    if abs(change) < _MIN_CHANGE:
        return Trend.STABLE
    return Trend.STRENGTHENING if change > 0 else Trend.WEAKENING


def opinion_passage(writer: Writer, opinion: Opinion) -> Passage | None:
    """The passage by which an opinion of a reflection is found; None if it has faded or was
    forgotten, or if somebody retained it: that memory is found."""
    known = writer.curation.state(opinion.bank, "memory", opinion.id)
    is_hidden = known is not None and known.is_hidden
    if opinion.status is Status.RETRACTED or is_hidden or not opinion.author:
        return None
    o = opinion
    memory = Memory(
        o.bank, o.id, Network.OPINION, o.what, o.trust, when=o.latest or o.updated,
        why=o.why, confidence=o.confidence, status=o.status, evidence_for=o.evidence_for,
        evidence_against=o.evidence_against, seen=o.sessions,
    )  # fmt: skip
    if known is not None and known.text:
        memory = corrected_passage_memory(memory, known)
    context = f"{date_words(opinion.latest)} opinion {opinion.why} {split_identifiers(memory.what)}"
    return memory_passage(memory, context=context)


def keep_beliefs(writer: Writer, bank: Bank, reflection: Reflection, now: str) -> list[str]:
    """Store what a model's reflection believes as opinions, with their evidence; returns their
    ids. Only claims of several sessions, and none that rests on text from outside the project."""
    known = {o.id: o for o in writer.opinions.all_uncurated(bank.id)}
    kept: list[str] = []
    for claim in reflection.claims if reflection.author else ():
        opinion = _reflected_opinion(bank.id, claim, reflection, now)
        if opinion is not None and len(kept) < _MAX_STORED:
            before = known.get(opinion.id)
            formed = before.formed if before else now
            _put(writer, replace(opinion, formed=formed), before, now)
            kept.append(opinion.id)
    return kept


def _reflected_opinion(
    bank: str, claim: ReflectionClaim, reflection: Reflection, now: str
) -> Opinion | None:
    """The opinion of a claim; None if the claim is not good enough for one."""
    cited = {one.number: one for one in reflection.citations}
    sources = _usable(cited[n] for n in claim.cited)
    if not claim.believed or min(claim.sources, len(sources)) < _MIN_SOURCES:
        return None
    if claim.confidence < FADED_BELOW or any(one.trust is Trust.EXTERNAL for one in sources):
        return None
    return Opinion(
        bank,
        content_id("opinion", _target(claim.sentence), _FINDING),
        claim.sentence,
        f"said in {claim.sources} sessions",
        claim.confidence,
        Trend.NEW,
        Status.OBSERVED,
        least_trusted(one.trust for one in sources),
        now,
        now,
        max(one.time for one in sources),
        claim.sources,
        tuple(one.uri for one in sources),
        tuple(cited[n].uri for n in claim.against),
        reflection.author,
    )


def _usable(cited: Iterable[ReflectionCitation]) -> list[ReflectionCitation]:
    """The citations that may be evidence."""
    return [one for one in cited if not any(f"/{word}/" in one.uri for word in _NO_EVIDENCE)]


def _target(sentence: str) -> str:
    """What a claim is about: its longest stems, in alphabetical order."""
    stems = {stem(word) for word in words(sentence) if word not in STOPWORDS and len(word) > 2}
    return " ".join(sorted(sorted(stems, key=lambda s: (-len(s), s))[:_TARGET_STEMS]))
