"""Calls of model services: what each cost, which services are paused, and what models wrote."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple


class CallOutcome(StrEnum):
    """How a call ended. One that is `open` is under way, or its process died; then the most that
    it may have cost stays counted."""

    OPEN = "open"
    DONE = "done"
    BUSY = "busy"
    REFUSED = "refused"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call of a model service, for the cost ledger. While it is open, tokens and money are
    the most that it may take. `usd` is None where the price is not known; `attempt` is 1 for a
    first call and higher for a repetition."""

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


class Spending(NamedTuple):
    """The sum of some calls; `unpriced` of them have no known price and add no money."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    usd: float = 0.0
    unpriced: int = 0
    failed: int = 0

    @property
    def tokens(self) -> int:
        """The tokens that count towards a cap."""
        return self.tokens_in + self.tokens_out


@dataclass(frozen=True, slots=True)
class ServicePause:
    """A model service that is not called until a time, after `attempts` failures."""

    service: str
    until: str
    attempts: int
    problem: str
    since: str


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """What a model wrote about a record. It is paid for once and kept, and found again by the
    `hash` of its input. `content` is JSON that was checked; `problem` is why there is none.
    `last_seq` is the last turn of the input."""

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
