"""Memories as they occur in sessions, opinions and reflections.

Occurrences with the same key are one memory. The revisions of an *opinion* record how firm it was
at each change.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.knowledge import Kind, Network
from holdfast.model.trust import Status, Trust


class MemoryOccurrence(NamedTuple):
    """A memory as it occurs in one session. It is shown once it occurs in `needs` sessions;
    `context` is further text to find it by, `evidence` are the URIs that it is based on, `worth` is
    the score by which it was chosen, where one was."""

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
    kind: Kind | None = None
    worth: float | None = None


class SessionOccurrence(NamedTuple):
    """An occurrence with its session."""

    session: str
    occurrence: MemoryOccurrence


class Trend(StrEnum):
    """How the confidence of an opinion develops."""

    NEW = "new"
    STRENGTHENING = "strengthening"
    STABLE = "stable"
    WEAKENING = "weakening"
    STALE = "stale"


class OpinionRevision(NamedTuple):
    """The confidence of an opinion at one time, the records for and against it, and the reason."""

    time: str
    confidence: float
    favour: int
    against: int
    note: str


class OpinionChange(NamedTuple):
    """A change of an opinion: its confidence before (None if it was formed then) and since, when,
    and how (`note`)."""

    uri: str
    what: str
    time: str
    before: float | None
    confidence: float
    note: str


@dataclass(frozen=True, slots=True)
class Opinion:
    """What is believed, how firmly, and on what evidence; `sessions` is how many sessions or people
    state it. `author` is the model that formed it; "" where somebody retained it."""

    bank: str
    id: str
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
    author: str = ""


class ReflectionCitation(NamedTuple):
    """A record that a reflection is based on; its answer refers to it by `number`."""

    number: int
    uri: str
    excerpt: str
    time: str
    session: str
    trust: Trust
    # How it ended, if it says what does not hold any more.
    ended: str = ""


class ReflectionClaim(NamedTuple):
    """A sentence that records state, its confidence, and the number of sessions that state it;
    `cited` and `against` are the numbers of the citations that support and contradict it.
    `is_guess`: only agents said it, so it is not believed."""

    sentence: str
    confidence: float
    believed: bool
    sources: int
    cited: tuple[int, ...]
    against: tuple[int, ...] = ()
    is_guess: bool = False


@dataclass(frozen=True, slots=True)
class Reflection:
    """What a bank concludes about a question. `author` is the model that reasoned; "" where nobody
    did, and the answer is what is recorded."""

    query: str
    bank: str
    answer: str
    confidence: float
    abstained: bool
    author: str = ""
    claims: tuple[ReflectionClaim, ...] = ()
    opinions: tuple[Opinion, ...] = ()
    citations: tuple[ReflectionCitation, ...] = ()
    caveats: tuple[str, ...] = ()
    stored: tuple[str, ...] = ()
