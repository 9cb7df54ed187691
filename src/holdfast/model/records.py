"""What was said and done, and what was made of it: turn, exchange, digest, memory, concept,
fact, rule, pattern.

Every record belongs to a bank and has a stable `id`. Times are ISO 8601 in UTC with a `Z`,
so that they sort as text; "" means that the source gave none.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from holdfast.model.trust import Status, Trust, Validity


class Role(StrEnum):
    """Who a turn belongs to."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Origin:
    """The raw line under a turn: a file known to the ledger, a line (from 1), a byte offset
    and the id that the host gave the line."""

    source: int = 0
    line: int = 0
    offset: int = 0
    ref: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """What a tool was asked and what came of it. `ok` is None while no result is known."""

    name: str
    target: str = ""
    lines: str = ""
    action: str = ""
    result: str = ""
    ok: bool | None = None
    duration_ms: int | None = None
    call: str = ""


@dataclass(frozen=True, slots=True)
class Turn:
    """L1: one refined line. A tool's turn has a `tool` and no text."""

    bank: str
    id: str
    session: str
    seq: int
    time: str
    role: Role
    trust: Trust
    text: str = ""
    speaker: str = ""
    branch: str = ""
    tool: ToolCall | None = None
    origin: Origin = field(default_factory=Origin)


@dataclass(frozen=True, slots=True)
class Session:
    """One run of one agent. `host` is the id the agent itself uses; a subagent's session has
    a `parent` and shares its parent's `host`."""

    bank: str
    id: str
    host: str
    agent: str
    parent: str = ""
    subagent: str = ""
    title: str = ""
    cwd: str = ""
    branch: str = ""
    version: str = ""
    started: str = ""
    ended: str = ""


class ExchangeType(StrEnum):
    """What an exchange was about."""

    DECISION = "decision"
    BUGFIX = "bugfix"
    FEATURE = "feature"
    REFACTOR = "refactor"
    DISCOVERY = "discovery"
    CHANGE = "change"


class Outcome(StrEnum):
    """How an exchange or a session ended, as far as the turns prove it."""

    DONE = "done"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    ANSWERED = "answered"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Exchange:
    """L2: one request and its resolution, over the turns `first_seq` to `last_seq`."""

    bank: str
    id: str
    session: str
    first_seq: int
    last_seq: int
    started: str
    ended: str
    type: ExchangeType
    title: str
    summary: str
    details: str
    outcome: Outcome
    trust: Trust
    facts: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    files_read: tuple[str, ...] = ()
    files_modified: tuple[str, ...] = ()
    branch: str = ""
    status: Status = Status.OBSERVED


@dataclass(frozen=True, slots=True)
class Digest:
    """The summary of one session."""

    bank: str
    id: str
    session: str
    started: str
    ended: str
    request: str
    outcome: Outcome
    trust: Trust
    investigated: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()
    completed: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    exchanges: int = 0


class Network(StrEnum):
    """The four kinds of memory."""

    WORLD = "world"
    EXPERIENCE = "experience"
    OPINION = "opinion"
    OBSERVATION = "observation"


@dataclass(frozen=True, slots=True)
class Memory:
    """One retained unit in a network, in five dimensions. Opinions have a confidence."""

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
