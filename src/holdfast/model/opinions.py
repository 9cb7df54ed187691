"""What is kept of a mind: what was met in sessions, what people think of things, what is believed.

A *sighting* is a memory as one session has it; sightings with the same key are one memory. A
*stance* is one judgement that somebody stated. An *opinion* is what stances come to; a *belief*
is how firm it was at one moment.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.knowledge import Network
from holdfast.model.trust import Status, Trust


class MemoryOccurrence(NamedTuple):
    """A memory as a session has it. It is shown once `needs` sessions have it; `context` helps to
    find it, `evidence` are the URIs that it rests on."""

    key: str
    seq: int
    time: str
    network: Network
    what: str
    trust: Trust
    where: str = ""
    who: str = ""
    why: str = ""
    context: str = ""
    evidence: tuple[str, ...] = ()
    needs: int = 1
    confidence: float | None = None


class SessionOccurrence(NamedTuple):
    """A sighting and the session it is of."""

    session: str
    sighting: MemoryOccurrence


class Stance(NamedTuple):
    """A judgement about a target in one respect (`aspect`), in the words `text`. `word` is what the
    target was called, `weight` how much it counts, `uri` the record it stands in."""

    uri: str
    session: str
    seq: int
    time: str
    target: str
    aspect: str
    name: str
    word: str
    positive: bool
    weight: float
    who: str
    trust: Trust
    text: str


class Trend(StrEnum):
    """Where an opinion is going."""

    NEW = "new"
    STRENGTHENING = "strengthening"
    STABLE = "stable"
    WEAKENING = "weakening"
    STALE = "stale"


class OpinionRevision(NamedTuple):
    """How firm an opinion was at a moment, by how many for and against, and what happened."""

    time: str
    confidence: float
    favour: int
    against: int
    note: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What is believed of a target, how firmly, and on what. In `tension` since a contradiction
    that no reflection has weighed yet; contradictions up to `settled` have been. An `author` is
    the model that formed it; "" where rules did."""

    bank: str
    id: str
    target: str
    aspect: str
    positive: bool
    what: str
    why: str
    confidence: float
    trend: Trend
    status: Status
    trust: Trust
    formed: str
    updated: str
    latest: str
    sessions: int
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()
    tension: str = ""
    settled: str = ""
    author: str = ""


class ReflectionCitation(NamedTuple):
    """A record that a reflection rests on; `number` is how its answer refers to it."""

    number: int
    uri: str
    excerpt: str
    time: str
    session: str
    trust: Trust


class ReflectionClaim(NamedTuple):
    """A sentence that records say, with how firmly it is believed and by how many sessions;
    `against` are the numbers of what contradicts it."""

    sentence: str
    confidence: float
    believed: bool
    sources: int
    cited: tuple[int, ...]
    against: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a bank makes of a question. `author` is the model that reasoned; "" where rules only
    put together what is recorded. `voices` are motives and feelings that people stated."""

    query: str
    bank: str
    answer: str
    confidence: float
    abstained: bool
    author: str = ""
    claims: tuple[ReflectionClaim, ...] = ()
    voices: tuple[ReflectionClaim, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    citations: tuple[ReflectionCitation, ...] = ()
    caveats: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
