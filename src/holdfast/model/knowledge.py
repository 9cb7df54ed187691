"""What is known for longer than a session: memory, concept, fact, rule, pattern."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass
from holdfast.model.trust import Status, Trust


@dataclass(frozen=True, slots=True)
class Validity:
    """When a claim was true in the world, and when we learned it; ISO times, "" is open."""

    since: str = ""
    until: str = ""
    learned: str = ""


class Network(StrEnum):
    """The four kinds of memory."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


@dataclass(frozen=True, slots=True)
class Memory:
    """One retained unit in a network, in five dimensions. Opinions have a confidence; `seen` is
    the number of sessions that a memory was met in."""

    bank: str
    id: str
    network: Network
    what: str
    trust: Trust
    when: str = ""
    where: str = ""
    who: str = ""
    why: str = ""
    confidence: float | None = None
    status: Status = Status.OBSERVED
    validity: Validity = field(default_factory=Validity)
    evidence_for: tuple[str, ...] = ()
    evidence_against: tuple[str, ...] = ()
    superseded_by: str = ""
    seen: int = 1

    @property
    def by_agent(self) -> bool:
        """Whether these are an agent's own words rather than a person's."""
        return self.trust in (Trust.ASSISTANT, Trust.TOOL)


class ConceptEvent(NamedTuple):
    """One thing that happened to a concept: when, what, and why."""

    time: str
    what: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class Concept:
    """L3: a named group of exchanges and memories about one feature or topic. `members` are
    their URIs in the order of time; `history` is how it came to be what it is."""

    bank: str
    id: str
    name: str
    summary: str
    updated: str
    trust: Trust
    members: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    founded: str = ""
    history: tuple[ConceptEvent, ...] = ()


class ClaimKind(StrEnum):
    """What a sentence claims: a ruling binds from then on, a decision settles one thing; a
    hypothesis is a guess at a cause, a finding states one, a disproof takes one back and an
    agreement bears one out; a solution tells what ended a problem, an attempt that it was not
    ended; core logic how something works from now on."""

    RULING = "ruling"
    DECISION = "decision"
    HYPOTHESIS = "hypothesis"
    FINDING = "finding"
    DISPROOF = "disproof"
    AGREEMENT = "agreement"
    SOLUTION = "solution"
    ATTEMPT = "attempt"
    CORE_LOGIC = "core_logic"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence that somebody stated in a turn, and that may be true or false later. `share`
    is how much of its turn it is, and `told` how much of its exchange. Where the exchange itself
    showed what became of it, `changed` is when, and `because` names the turn that did. A solution
    or an attempt names its `problem`, by what it is known (`signature`), and the `attempts`."""

    bank: str
    id: str
    session: str
    exchange: str
    turn: str
    seq: int
    time: str
    kind: ClaimKind
    text: str
    trust: Trust
    by_person: bool = False
    status: Status = Status.OBSERVED
    changed: str = ""
    because: str = ""
    share: float = 1.0
    told: float = 0.0
    problem: str = ""
    signature: str = ""
    attempts: int = 0
    files: tuple[str, ...] = ()


class StatusChange(NamedTuple):
    """One change in the life of a record (a fact, a claim, or the turn or exchange that tells
    it): its status from a time on, and the URI of what made it so."""

    kind: str
    id: str
    time: str
    status: Status
    because: str = ""


class EvidenceKind(StrEnum):
    """In which way something bears on a fact."""

    STATED = "stated"
    REMEMBERED = "remembered"
    FOLLOWED = "followed"
    USED = "used"
    CONFIRMED = "confirmed"
    BREACHED = "breached"
    DISPUTED = "disputed"
    RECURRED = "recurred"


class FactEvidence(NamedTuple):
    """A piece of evidence on a fact, for it or against it."""

    fact: str
    time: str
    uri: str
    how: EvidenceKind

    @property
    def against(self) -> bool:
        """Whether it speaks against the fact."""
        return self.how in (EvidenceKind.BREACHED, EvidenceKind.DISPUTED, EvidenceKind.RECURRED)

    @property
    def testifies(self) -> bool:
        """Whether it speaks for the fact by itself; use only shows that it was of help."""
        return self.how in (EvidenceKind.STATED, EvidenceKind.REMEMBERED, EvidenceKind.FOLLOWED)


class FactKind(StrEnum):
    """What a permanent fact is."""

    RULE = "rule"
    SOLUTION = "solution"
    CORE_LOGIC = "core_logic"


@dataclass(frozen=True, slots=True)
class Fact:
    """L4: permanent knowledge. A solution names its problem and the attempts it took. `evidence`
    speaks for it and `against` against it, the oldest first; what it `supersedes` and what it is
    `superseded_by` are URIs of facts."""

    bank: str
    id: str
    kind: FactKind
    content: str
    confidence: float
    trust: Trust
    problem: str = ""
    attempts: int = 0
    contradictions: int = 0
    last_validated: str = ""
    status: Status = Status.OBSERVED
    validity: Validity = field(default_factory=Validity)
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    supersedes: tuple[str, ...] = ()
    superseded_by: str = ""
    files: tuple[str, ...] = ()


class ReviewState(StrEnum):
    """Whether a person has decided."""

    OPEN = "open"
    KEPT = "kept"
    RETIRED = "retired"


@dataclass(frozen=True, slots=True)
class Review:
    """Something that a person should decide: whether the record `target` still holds. `advice`
    is what a model says of it; nothing follows from that by itself."""

    bank: str
    id: str
    kind: str
    target: str
    reason: str
    opened: str
    evidence: tuple[str, ...] = ()
    state: ReviewState = ReviewState.OPEN
    decided: str = ""
    by: str = ""
    advice: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """A section of a file that people review: `.claude/rules/*.md`, `CLAUDE.md`, `memory.md`.
    `path` is how the file is called in its project, `file` where it lies and `line` where the
    section starts; `paths` are the files that it is for, if not for all. One that `is_ground` is
    of `memory.md`, which wins against whatever else is remembered."""

    bank: str
    id: str
    path: str
    heading: str
    text: str
    domain: str = ""
    paths: tuple[str, ...] = ()
    trust: Trust = Trust.TEAM
    file: str = ""
    line: int = 0
    updated: str = ""

    @property
    def is_ground(self) -> bool:
        """Whether it stands in `memory.md`."""
        return self.path.endswith("memory.md")


@dataclass(frozen=True, slots=True)
class Pattern:
    """A candidate for promotion to a rule: a convention that was stated `occurrences` times in
    different `sources` (sessions, commits) by `authors`; `evidence` are the records that state it
    and `against` those that say the opposite. `decides` tells that it settled one thing rather
    than how things are done; `files` are those that all of the evidence is about."""

    bank: str
    id: str
    content: str
    domain: str
    confidence: float
    occurrences: int
    trust: Trust
    sources: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    against: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    last: str = ""
    decides: bool = False


class ProposalKind(StrEnum):
    """What is proposed: to add a rule, or to look at one that may have had its day."""

    PROMOTE = "promote"
    DEMOTE = "demote"


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something that waits for a person: a pattern to be written into a file as `text`, or a rule
    to be taken out by hand. `base` tells the file as it was when this was proposed, "" if it was
    not there."""

    bank: str
    id: str
    kind: ProposalKind
    target: str
    text: str
    domain: str
    path: str
    reason: str
    made: str
    trust: Trust
    paths: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    base: str = ""


class Refusal(NamedTuple):
    """A proposal that a person turned down, by number of the decision: the same is not proposed
    again."""

    seq: int
    target: str
    text: str
    why: str
    time: str
    who: str
    evidence: tuple[str, ...] = ()
