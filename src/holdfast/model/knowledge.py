"""What is known for longer than a session: memory, concept, fact, rule, pattern."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

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


@dataclass(frozen=True, slots=True)
class Concept:
    """L3: a named group of exchanges and memories about one feature or topic."""

    bank: str
    id: str
    name: str
    summary: str
    updated: str
    trust: Trust
    members: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()


class FactKind(StrEnum):
    """What a permanent fact is."""

    RULE = "rule"
    SOLUTION = "solution"
    CORE_LOGIC = "core_logic"


@dataclass(frozen=True, slots=True)
class Fact:
    """L4: permanent knowledge. A solution names its problem and the attempts it took."""

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


@dataclass(frozen=True, slots=True)
class Rule:
    """A section of a file that people review: `.claude/rules/*.md`, `CLAUDE.md`, `memory.md`."""

    bank: str
    id: str
    path: str
    heading: str
    text: str
    domain: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A candidate for promotion to a rule."""

    bank: str
    id: str
    content: str
    domain: str
    confidence: float
    occurrences: int
    trust: Trust
    sources: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
