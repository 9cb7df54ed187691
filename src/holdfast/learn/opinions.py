"""Opinions formed from stances, with a confidence that grows, shrinks, turns and fades.

Confidence says how much the evidence for outweighs that against, and how much there is of it; the
prior that evidence must overcome grows with the bank's skepticism, and a single source counts for
less. Evidence loses half its weight in half a year. A contradiction first only puts an opinion in
*tension*; the next update resolves it: what was said before the contradiction then counts for less
than what was said since. An opinion below the threshold has faded: it is kept with its history and
shown to nobody. Opinions that a reflection formed are in `reflection_opinions`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from holdfast.language import truncate
from holdfast.learn.persons_words import is_said_by_person
from holdfast.model.bank import Disposition
from holdfast.model.corrections import corrected_memory
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Opinion, OpinionRevision, Stance, Trend
from holdfast.model.query import Passage
from holdfast.model.trust import Status, least_trusted
from holdfast.recall.lookup.by_uri import find_by_uri
from holdfast.refine.core.passages import date_words, memory_passage, split_identifiers
from holdfast.refine.memories.stances import (
    HELD,
    PREFERENCE,
    group_by_target,
    stated_confidence,
)
from holdfast.store.protocol import Writer


class OpinionWeights(NamedTuple):
    """How stances become the confidence of an opinion."""

    # An opinion below this confidence has faded.
    faded_below: float = 0.4
    # Age at which evidence counts half. Shorter forgets sooner.
    half_life_days: float = 180.0
    # An opinion without new evidence for so long is stale, and begins to fade if a model formed it.
    stale_days: int = 120
    # What stances before a resolved contradiction count for.
    before_revision: float = 0.4
    # A smaller change of confidence is no news.
    min_change: float = 0.02
    # The prior against any opinion: its value at skepticism 1, and more for each further step.
    prior: float = 0.4
    prior_per_skepticism: float = 0.5
    # What a single source loses for each step of skepticism above 1.
    single_source_loss: float = 0.05


class OpinionLimits(NamedTuple):
    """How much is kept."""

    # Opinions of a bank: those with the latest stances.
    opinions: int = 500
    # URIs of evidence for an opinion, and against it.
    evidence: int = 20
    quote_chars: int = 180


WEIGHTS = OpinionWeights()
_LIMITS = OpinionLimits()


class WeighedStances(NamedTuple):
    """What stances on one subject amount to; `turned` is the time of the last contradiction."""

    positive: bool
    confidence: float
    believed: bool
    turned: str
    sources: int


class OpinionCounts(NamedTuple):
    """How many opinions of a bank an update formed, changed, let fade and removed."""

    formed: int = 0
    changed: int = 0
    faded: int = 0
    removed: int = 0


def sources_needed(skepticism: int) -> int:
    """How many sessions must say something before a bank believes it: 1, 2 or 3."""
    return 1 + (skepticism > 2) + (skepticism > 4)


def confidence_of(support: float, opposition: float, sources: int, skepticism: int) -> float:
    """The confidence in the stronger side, from 0 to 1, by the weights for and against."""
    prior = WEIGHTS.prior + WEIGHTS.prior_per_skepticism * (skepticism - 1)
    confidence = (max(support, opposition) + prior / 2) / (support + opposition + prior)
    if sources < 2:
        confidence *= 1 - WEIGHTS.single_source_loss * (skepticism - 1)
    # Old evidence, whose weights have shrunk on both sides, gives less confidence.
    confidence *= min(1.0, 0.5 + support + opposition)
    return round(confidence, 3)


def weigh_stances(
    stances: Sequence[Stance], disposition: Disposition, now: str, settled: str
) -> WeighedStances:
    """Weigh the stances on one subject, oldest first; `settled` is the time of the last resolved
    contradiction."""
    weights = {True: 0.0, False: 0.0}
    sources: dict[bool, set[str]] = {True: set(), False: set()}
    turned_at, was_positive = "", stances[0].positive
    for stance in stances:
        age = max(0.0, _days(stance.time, now))
        weight = stance.weight * 0.5 ** (age / WEIGHTS.half_life_days)
        weight *= WEIGHTS.before_revision if stance.time < settled else 1.0
        weights[stance.positive] += weight
        sources[stance.positive].add(stance.session or stance.uri)
        if stance.positive is not was_positive:
            turned_at, was_positive = stance.time, stance.positive
    # Of equal sides the later wins.
    last = stances[-1].positive
    positive = last if weights[last] >= weights[not last] else not last
    source_count = len(sources[positive])
    confidence = confidence_of(weights[True], weights[False], source_count, disposition.skepticism)
    is_enough = source_count >= sources_needed(disposition.skepticism)
    stated = [stated_confidence(stance) for stance in stances]
    if None not in stated and not weights[not positive]:
        # Nobody but who retained it has said anything: it is as sure as they are, and fades alike.
        age = max(0.0, _days(stances[-1].time, now))
        confidence = round((stated[-1] or 0.0) * 0.5 ** (age / WEIGHTS.half_life_days), 3)
        is_enough = True
    return WeighedStances(positive, confidence, is_enough, turned_at, source_count)


def _days(earlier: str, later: str) -> float:
    if not earlier or not later:
        return 0.0
    span = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return span.total_seconds() / 86400


def update_opinions(writer: Writer, bank: str, now: str) -> OpinionCounts:
    """Form and change the opinions of a bank by its stances, and remove those that no stance
    supports. The caller opens the transaction."""
    stored_bank = writer.banks.get(bank)
    disposition = stored_bank.disposition if stored_bank else Disposition()
    groups = group_by_target(writer.memories.stances(bank))
    latest = sorted(groups, key=lambda key: groups[key][-1].time, reverse=True)
    known = {o.id: o for o in writer.opinions.all_uncurated(bank)}
    outcomes: Counter[str] = Counter()
    for key in sorted(latest[: _LIMITS.opinions]):
        opinion = known.pop(opinion_id(*key), None)
        outcomes[_update(writer, bank, opinion, groups[key], disposition, now)] += 1
    for opinion in known.values():
        outcomes["removed"] += _update_without_stances(writer, opinion, now)
    return OpinionCounts(*(outcomes[name] for name in OpinionCounts._fields))


def opinion_id(target: str, aspect: str) -> str:
    """The id of the opinion on a target in one respect."""
    return content_id("opinion", target, aspect)


def _update(
    writer: Writer,
    bank: str,
    known: Opinion | None,
    stances: Sequence[Stance],
    disposition: Disposition,
    now: str,
) -> str:
    """Update one opinion; returns "formed", "changed" or "faded", "" if nothing happened."""
    settled = known.settled if known else ""
    weighed = weigh_stances(stances, disposition, now, settled)
    tension = ""
    resolved = False
    if weighed.turned > settled:
        if known is not None and known.tension == weighed.turned:
            resolved, settled = True, weighed.turned
            weighed = weigh_stances(stances, disposition, now, settled)
        else:
            tension = weighed.turned
    if tension and known is not None and known.positive is not weighed.positive:
        # The opinion turns only when the contradiction is resolved, in the next update.
        weighed = weighed._replace(
            positive=known.positive, confidence=round(1 - weighed.confidence, 3), believed=False
        )
    opinion = _opinion(bank, known, stances, weighed, now)
    opinion = replace(opinion, tension=tension, settled=settled)
    note = _note(known, opinion, resolved)
    if known is not None and not note and _same(known, opinion):
        return ""
    put_with_history(writer, opinion, note, now)
    return note if note in ("formed", "faded", "") else "changed"


def put_with_history(writer: Writer, opinion: Opinion, note: str, now: str) -> None:
    """Store an opinion with its trend; with a note also a revision in its history."""
    beliefs = writer.opinions.history(opinion.bank, opinion.id)
    counts = len(opinion.evidence_for), len(opinion.evidence_against)
    belief = OpinionRevision(now, opinion.confidence, *counts, note) if note else None
    beliefs += [belief] if belief else []
    opinion = replace(opinion, trend=trend_of(beliefs, opinion.latest, now))
    writer.opinions.put(opinion, belief, opinion_passage(writer, opinion))


def _same(one: Opinion, other: Opinion) -> bool:
    return replace(one, updated="", trend=Trend.NEW) == replace(other, updated="", trend=Trend.NEW)


def _opinion(
    bank: str, known: Opinion | None, stances: Sequence[Stance], weighed: WeighedStances, now: str
) -> Opinion:
    supporting = [s for s in stances if s.positive is weighed.positive]
    opposing = [s for s in stances if s.positive is not weighed.positive]
    last = supporting[-1]
    status = Status.OBSERVED if weighed.believed else Status.HYPOTHESIS
    if weighed.confidence < WEIGHTS.faded_below:
        status = Status.RETRACTED
    day = f", {last.time[:10]}" if last.time else ""
    return Opinion(
        bank,
        opinion_id(last.target, last.aspect),
        last.target,
        last.aspect,
        weighed.positive,
        statement(last),
        f"“{truncate(last.text, _LIMITS.quote_chars)}” ({last.who}{day})",
        weighed.confidence,
        Trend.NEW,
        status,
        least_trusted(s.trust for s in supporting),
        known.formed if known else now,
        now,
        stances[-1].time,
        len({s.session or s.uri for s in stances}),
        tuple(dict.fromkeys(s.uri for s in reversed(supporting)))[: _LIMITS.evidence],
        tuple(dict.fromkeys(s.uri for s in reversed(opposing)))[: _LIMITS.evidence],
    )


def statement(stance: Stance) -> str:
    """A stance in a few words, such as "Redis is not wanted"."""
    name = stance.name
    if stance.aspect == HELD:
        return name
    verb = "are" if name.endswith("s") and not name.endswith("ss") else "is"
    if stance.aspect == PREFERENCE:
        return f"{name} {verb} {'preferred' if stance.positive else 'not wanted'}"
    if stance.word.split()[0] in ("works", "work", "keeps", "keep", "kept", "is", "are"):
        return f"{name} {stance.word}"
    return f"{name} {verb} {stance.word}"


def _note(known: Opinion | None, opinion: Opinion, resolved: bool) -> str:
    """What happened to an opinion, for its history; "" if nothing worth a note."""
    if known is None:
        return "formed"
    if opinion.status is Status.RETRACTED and known.status is not Status.RETRACTED:
        return "faded"
    if opinion.positive is not known.positive:
        return "revised"
    if resolved:
        return "resolved"
    if opinion.tension and opinion.tension != known.tension:
        return "in tension"
    return confidence_note(opinion.confidence - known.confidence)


def confidence_note(change: float) -> str:
    """The note for a change of confidence; "" if it is too small for one."""
    if abs(change) < WEIGHTS.min_change:
        return ""
    return "strengthened" if change > 0 else "weakened"


def trend_of(beliefs: Sequence[OpinionRevision], latest: str, now: str) -> Trend:
    """The trend of an opinion, by its last two revisions and the age of its latest evidence."""
    if latest and _days(latest, now) > WEIGHTS.stale_days:
        return Trend.STALE
    if len(beliefs) < 2 or beliefs[-1].note == "revised":
        return Trend.NEW
    change = beliefs[-1].confidence - beliefs[-2].confidence
    if abs(change) < WEIGHTS.min_change:
        return Trend.STABLE
    return Trend.STRENGTHENING if change > 0 else Trend.WEAKENING


def _update_without_stances(writer: Writer, opinion: Opinion, now: str) -> bool:
    """Update an opinion that no stance supports. One that a reflection formed fades slowly while
    all of its evidence exists and a person said it; any other is removed. Returns whether it was
    removed."""
    if opinion.author:
        names = opinion.evidence_for + opinion.evidence_against
        all_exist = bool(names) and all(find_by_uri(writer, opinion.bank, name) for name in names)
        if all_exist and _is_said_by_person(writer, opinion):
            history = writer.opinions.history(opinion.bank, opinion.id)
            faded = fade(opinion, now, history)
            if faded != opinion:
                writer.opinions.put(faded, None, opinion_passage(writer, faded))
            return False
    writer.opinions.drop(opinion.bank, opinion.id)
    return True


def _is_said_by_person(writer: Writer, opinion: Opinion) -> bool:
    """Whether a person said what an opinion of a reflection states."""
    names = opinion.evidence_for
    return any(is_said_by_person(writer, opinion.bank, name, opinion.what) for name in names)


def fade(opinion: Opinion, now: str, history: Sequence[OpinionRevision] = ()) -> Opinion:
    """The opinion with less confidence if it has had no new evidence for too long. One that was
    formed from old evidence counts from when it was formed. Fading starts from the confidence that
    the evidence gave, the last of `history`, so that it does not matter how often it is applied."""
    since = max(opinion.latest, opinion.formed) if opinion.latest else ""
    overdue = max(0.0, _days(since, now) - WEIGHTS.stale_days)
    if not overdue:
        return opinion
    before = history[-1].confidence if history else opinion.confidence
    left = round(before * 0.5 ** (overdue / WEIGHTS.half_life_days), 3)
    confidence = min(opinion.confidence, left)
    status = Status.RETRACTED if confidence < WEIGHTS.faded_below else opinion.status
    return replace(opinion, confidence=confidence, trend=Trend.STALE, status=status)


def opinion_passage(writer: Writer, opinion: Opinion) -> Passage | None:
    """The passage by which an opinion is found; None if it has faded or was forgotten."""
    known = writer.curation.state(opinion.bank, "memory", opinion.id)
    if opinion.status is Status.RETRACTED or (known is not None and known.is_hidden):
        return None
    memory = opinion_memory(opinion)
    if known is not None and known.text:
        memory = replace(corrected_memory(memory, known.text), status=Status.VERIFIED)
    context = f"{date_words(opinion.latest)} opinion {opinion.why} {split_identifiers(memory.what)}"
    return memory_passage(memory, context=context)


def opinion_memory(opinion: Opinion) -> Memory:
    """An opinion as a memory."""
    o = opinion
    return Memory(
        o.bank, o.id, Network.OPINION, o.what, o.trust, when=o.latest or o.updated,
        why=o.why, confidence=o.confidence, status=o.status, evidence_for=o.evidence_for,
        evidence_against=o.evidence_against, seen=o.sessions,
    )  # fmt: skip
