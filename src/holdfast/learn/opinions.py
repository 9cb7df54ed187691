"""What stances come to: opinions with a confidence, which strengthen, weaken, turn and fade.

Confidence says how much the evidence for outweighs that against, and how much there is of it; the
prior that evidence must overcome grows with the bank's skepticism, and a single source counts for
less. Evidence loses half its weight in half a year. A contradiction first only makes *tension*;
the next reflection weighs it: what was said before counts for less than what was said since. What
falls below the floor has faded: it is kept with its history and told to nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from holdfast.language import cut
from holdfast.model.bank import Disposition
from holdfast.model.corrections import corrected_memory
from holdfast.model.ids import content_id
from holdfast.model.knowledge import Memory, Network
from holdfast.model.opinions import Opinion, OpinionRevision, Stance, Trend
from holdfast.model.query import Passage
from holdfast.model.trust import Status, least_trusted
from holdfast.model.uris import parse_uri
from holdfast.refine.core.passages import date_words, memory_passage, split_identifiers
from holdfast.refine.memories.stances import PREFERENCE, group_by_target
from holdfast.store.protocol import Writer

MAX_OPINIONS = 500
FADED_BELOW = 0.4
STALE_DAYS = 120
_HALF_LIFE_DAYS = 180.0
# What was said before a change of mind counts for this much after it has been weighed.
_REVISED = 0.4
_MOVED = 0.02
_EVIDENCE = 20
_QUOTE = 180


class WeighedStances(NamedTuple):
    """What a group of stances comes to."""

    positive: bool
    confidence: float
    believed: bool
    turned: str
    sources: int


class OpinionCounts(NamedTuple):
    """What a reflection on a bank's opinions did."""

    formed: int = 0
    changed: int = 0
    faded: int = 0
    removed: int = 0

    @property
    def any(self) -> bool:
        """Whether anything did."""
        return any(self)


def sources_needed(skepticism: int) -> int:
    """How many sessions must say a thing before a bank believes it."""
    return 1 + (skepticism > 2) + (skepticism > 4)


def confidence_of(support: float, opposition: float, sources: int, skepticism: int) -> float:
    """How firmly weights for and against let one believe, from 0 to 1."""
    prior = 0.4 + 0.5 * (skepticism - 1)
    leading = (max(support, opposition) + prior / 2) / (support + opposition + prior)
    if sources < 2:
        leading *= 1 - 0.05 * (skepticism - 1)
    # What little is left of old words carries less and less.
    leading *= min(1.0, 0.5 + support + opposition)
    return round(leading, 3)


def weigh_stances(
    stances: Sequence[Stance], disposition: Disposition, now: str, settled: str
) -> WeighedStances:
    """Weigh the stances on one matter, oldest first; what lies before `settled` was overruled."""
    weights = {True: 0.0, False: 0.0}
    sources: dict[bool, set[str]] = {True: set(), False: set()}
    turned_at, was_positive = "", stances[0].positive
    for stance in stances:
        age = max(0.0, _days(stance.time, now))
        weight = stance.weight * 0.5 ** (age / _HALF_LIFE_DAYS)
        weights[stance.positive] += weight * (_REVISED if stance.time < settled else 1.0)
        sources[stance.positive].add(stance.session or stance.uri)
        if stance.positive is not was_positive:
            turned_at, was_positive = stance.time, stance.positive
    # Of equal sides the later holds.
    last = stances[-1].positive
    positive = last if weights[last] >= weights[not last] else not last
    source_count = len(sources[positive])
    confidence = confidence_of(weights[True], weights[False], source_count, disposition.skepticism)
    is_enough = source_count >= sources_needed(disposition.skepticism)
    return WeighedStances(positive, confidence, is_enough, turned_at, source_count)


def _days(earlier: str, later: str) -> float:
    if not earlier or not later:
        return 0.0
    span = datetime.fromisoformat(later) - datetime.fromisoformat(earlier)
    return span.total_seconds() / 86400


def update_opinions(writer: Writer, bank: str, now: str) -> OpinionCounts:
    """Reflect on what everybody said: form opinions, change them, and let go of what nothing
    speaks for any more. In one transaction of the caller's."""
    stored_bank = writer.bank(bank)
    disposition = stored_bank.disposition if stored_bank else Disposition()
    groups = group_by_target(writer.stances(bank))
    latest = sorted(groups, key=lambda key: groups[key][-1].time, reverse=True)[:MAX_OPINIONS]
    known = {o.id: o for o in writer.all_opinions(bank)}
    counts = OpinionCounts()
    for key in sorted(latest):
        id = opinion_id(*key)
        counts = _count(
            counts, _update(writer, bank, known.pop(id, None), groups[key], disposition, now)
        )
    for opinion in known.values():
        left = _without_stances(writer, opinion, now)
        counts = counts._replace(removed=counts.removed + left)
    return counts


def _count(counts: OpinionCounts, outcome: str) -> OpinionCounts:
    return counts._replace(**{outcome: getattr(counts, outcome) + 1}) if outcome else counts


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
    """Bring one opinion up to date; returns what became of it, "" if nothing did."""
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
        # Nobody changes their mind before having thought about it.
        weighed = weighed._replace(
            positive=known.positive, confidence=round(1 - weighed.confidence, 3), believed=False
        )
    opinion = _opinion(bank, known, stances, weighed, now)
    opinion = replace(opinion, tension=tension, settled=settled)
    note = _note(known, opinion, resolved)
    if known is not None and not note and _same(known, opinion):
        return ""
    belief = OpinionRevision(now, opinion.confidence, *_counts(opinion), note) if note else None
    opinion = replace(opinion, trend=_trend(writer, opinion, belief, now))
    writer.put_opinion(opinion, belief, opinion_passage(writer, opinion))
    return {"formed": "formed", "faded": "faded"}.get(note, "changed" if note else "")


def _counts(opinion: Opinion) -> tuple[int, int]:
    return len(opinion.evidence_for), len(opinion.evidence_against)


def _same(one: Opinion, other: Opinion) -> bool:
    return replace(one, updated="", trend=Trend.NEW) == replace(other, updated="", trend=Trend.NEW)


def _opinion(
    bank: str, known: Opinion | None, stances: Sequence[Stance], weighed: WeighedStances, now: str
) -> Opinion:
    supporting = [s for s in stances if s.positive is weighed.positive]
    opposing = [s for s in stances if s.positive is not weighed.positive]
    last = supporting[-1]
    status = Status.OBSERVED if weighed.believed else Status.HYPOTHESIS
    if weighed.confidence < FADED_BELOW:
        status = Status.RETRACTED
    day = f", {last.time[:10]}" if last.time else ""
    return Opinion(
        bank,
        opinion_id(last.target, last.aspect),
        last.target,
        last.aspect,
        weighed.positive,
        statement(last),
        f"“{cut(last.text, _QUOTE)}” ({last.who}{day})",
        weighed.confidence,
        Trend.NEW,
        status,
        least_trusted(s.trust for s in supporting),
        known.formed if known else now,
        now,
        stances[-1].time,
        len({s.session or s.uri for s in stances}),
        tuple(dict.fromkeys(s.uri for s in reversed(supporting)))[:_EVIDENCE],
        tuple(dict.fromkeys(s.uri for s in reversed(opposing)))[:_EVIDENCE],
    )


def statement(stance: Stance) -> str:
    """What a stance says, in a few words."""
    name = stance.name
    verb = "are" if name.endswith("s") and not name.endswith("ss") else "is"
    if stance.aspect == PREFERENCE:
        return f"{name} {verb} {'preferred' if stance.positive else 'not wanted'}"
    if stance.word.split()[0] in ("works", "work", "keeps", "keep", "kept", "is", "are"):
        return f"{name} {stance.word}"
    return f"{name} {verb} {stance.word}"


def _note(known: Opinion | None, opinion: Opinion, resolved: bool) -> str:
    """What happened to an opinion, "" if nothing to speak of."""
    if known is None:
        return "formed"
    moved = opinion.confidence - known.confidence
    if opinion.status is Status.RETRACTED and known.status is not Status.RETRACTED:
        return "faded"
    if opinion.positive is not known.positive:
        return "revised"
    if resolved:
        return "resolved"
    if opinion.tension and opinion.tension != known.tension:
        return "in tension"
    if abs(moved) < _MOVED:
        return ""
    return "strengthened" if moved > 0 else "weakened"


def _trend(writer: Writer, opinion: Opinion, belief: OpinionRevision | None, now: str) -> Trend:
    beliefs = writer.opinion_history(opinion.bank, opinion.id)
    beliefs += [belief] if belief else []
    return trend_of(beliefs, opinion.latest, now)


def trend_of(beliefs: Sequence[OpinionRevision], latest: str, now: str) -> Trend:
    """Where an opinion is going, by its last two steps and the age of its latest evidence."""
    if latest and _days(latest, now) > STALE_DAYS:
        return Trend.STALE
    if len(beliefs) < 2:
        return Trend.NEW
    if beliefs[-1].note == "revised":
        return Trend.NEW
    moved = beliefs[-1].confidence - beliefs[-2].confidence
    if abs(moved) < _MOVED:
        return Trend.STABLE
    return Trend.STRENGTHENING if moved > 0 else Trend.WEAKENING


def _without_stances(writer: Writer, opinion: Opinion, now: str) -> bool:
    """An opinion that no stance speaks for: one that a model formed holds while all it rests on
    is there; any other goes. Returns whether it went."""
    if opinion.author:
        parsed = [parse_uri(name) for name in opinion.evidence_for + opinion.evidence_against]
        existing = [name for name in parsed if name and writer.find(opinion.bank, name.kind, name.id, 1)]
        if parsed and len(existing) == len(parsed):
            faded = fade(opinion, now)
            if faded != opinion:
                writer.put_opinion(faded, None, opinion_passage(writer, faded))
            return False
    writer.drop_opinion(opinion.bank, opinion.id)
    return True


def fade(opinion: Opinion, now: str) -> Opinion:
    """An opinion as it is when nothing new speaks for it: past its prime it loses what it has. One
    that was formed from old words counts from when it was formed."""
    since = max(opinion.latest, opinion.formed) if opinion.latest else ""
    overdue = max(0.0, _days(since, now) - STALE_DAYS)
    if not overdue:
        return opinion
    confidence = round(opinion.confidence * 0.5 ** (overdue / _HALF_LIFE_DAYS), 3)
    status = Status.RETRACTED if confidence < FADED_BELOW else opinion.status
    return replace(opinion, confidence=confidence, trend=Trend.STALE, status=status, latest=now)


def opinion_passage(writer: Writer, opinion: Opinion) -> Passage | None:
    """How an opinion is found; one that has faded, or that somebody put away, is not."""
    known = writer.curation_state(opinion.bank, "memory", opinion.id)
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
