"""Sessions and what is derived from each alone: session, turn, exchange, digest.

Every record belongs to a bank and has a stable `id`. Times are ISO 8601 in UTC with a `Z`,
so that they sort as text; "" means that the source gave none.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.trust import Status, Trust


class Role(StrEnum):
    """Who a turn belongs to. A summary is the agent's own of its session so far, written when its
    context was compacted: no part of the conversation, which it repeats."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"
    SUMMARY = "summary"


class Origin(NamedTuple):
    """The raw line of a turn: the source's number in the ledger, the line (from 1), its byte
    offset and the id that the agent gave the line."""

    source: int = 0
    line: int = 0
    offset: int = 0
    ref: str = ""


NO_ORIGIN = Origin()


class ToolCall(NamedTuple):
    """A tool call and its result. `ok` is None while no result is known."""

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
    origin: Origin = NO_ORIGIN


@dataclass(frozen=True, slots=True)
class Session:
    """One run of one agent. `host` is the id that the agent itself uses; a subagent's session
    has a `parent` and shares its parent's `host`. `source` is the file that it was first read
    from."""

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
    source: int = 0


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
    # The model that wrote the texts; "" where rules did.
    author: str = ""


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
    author: str = ""
