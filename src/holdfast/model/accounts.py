"""The other accounts: every call of a model service, every injection, and work that failed."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from holdfast.frozen import dataclass


class CallOutcome(StrEnum):
    """How a call ended. What is `open` is under way, or its process died: what it may have cost
    stays counted."""

    OPEN = "open"
    DONE = "done"
    BUSY = "busy"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model service, for the cost ledger. While it is open, tokens and money are
    the most that it may take. `usd` is None where nobody knows the price; `attempt` tells a
    repetition from a first call."""

    bank: str
    id: str
    time: str
    session: str
    operation: str
    service: str
    model: str
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    usd: float | None = None
    ms: int = 0
    attempt: int = 1
    outcome: CallOutcome = CallOutcome.OPEN
    problem: str = ""


class Spent(NamedTuple):
    """What calls took together; `unpriced` of them have no known price and add no money."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    usd: float = 0.0
    unpriced: int = 0
    failed: int = 0

    @property
    def tokens(self) -> int:
        """All that a cap counts."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class Pause:
    """A model service that is left alone until a time, because of a `problem` met so often."""

    service: str
    until: str
    attempts: int
    problem: str
    since: str


@dataclass(frozen=True, slots=True)
class Summary:
    """What a model made of a record: paid for once, kept for good, found again by the `hash` of
    what it was made of. `content` is JSON that was checked; a `problem` says why there is none.
    `last_seq` is how far the record reached."""

    bank: str
    hash: str
    version: int
    kind: str
    record: str
    last_seq: int
    model: str
    time: str
    content: str = ""
    problem: str = ""


class InjectionKind(StrEnum):
    """On what occasion something was put into a session."""

    START = "start"
    GOAL = "goal"
    FILE = "file"
    ERROR = "error"


class Use(StrEnum):
    """What became of it: nobody knows yet, or what the rest of the session shows."""

    UNKNOWN = "unknown"
    CITED = "cited"
    FILE = "file"
    WORDING = "wording"
    CONTRADICTED = "contradicted"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class Injection:
    """One text that was put into a session, from these `records`. `session` is the host's own
    id; `arrived` tells whether the transcript shows it, None while nobody has looked. `because`
    is the piece of the session that its `use` was told from."""

    id: str
    bank: str
    session: str
    time: str
    kind: InjectionKind
    characters: int
    records: tuple[str, ...] = ()
    arrived: bool | None = None
    use: Use = Use.UNKNOWN
    because: str = ""


class Used(NamedTuple):
    """A fact, a memory or the turn that states one, by URI, that a session was told and made use
    of: the turn that shows it, and when. Where a person said that an answer was of use, there is
    no turn, and the session is that of the question."""

    record: str
    session: str
    turn: str
    time: str


@dataclass(frozen=True, slots=True)
class Chore:
    """A piece of background work that failed, so often, last at `failed_at`, and that is tried
    again from `not_before` on."""

    name: str
    attempts: int
    problem: str
    failed_at: str
    not_before: str
