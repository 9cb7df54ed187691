"""The ledger of input lines: what was captured, what was skipped and why, what failed.

A line is counted once, under one outcome and one reason, in the same transaction that stores
its turns. So the balance is exact at every moment, however a run ended.
"""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_dataclass import dataclass
from holdfast.lazy_named_tuple import NamedTuple


class LineOutcome(StrEnum):
    """The outcome of one line."""

    CAPTURED = "captured"
    SKIPPED = "skipped"
    FAILED = "failed"


class SkipReason(StrEnum):
    """Why a readable line was not captured."""

    HOUSEKEEPING = "housekeeping"
    THINKING = "thinking"
    INJECTED = "injected"
    MACHINE = "machine"
    COMPACTION = "compaction"
    DUPLICATE = "duplicate"
    ORPHAN_RESULT = "orphan-result"
    EMPTY = "empty"
    BLANK = "blank"
    PRIVATE = "private"
    EXCLUDED = "excluded"
    UNKNOWN_TYPE = "unknown-type"
    ERASED = "erased"


class FailureReason(StrEnum):
    """Why a line could not be read; it stays in the ledger and is tried again."""

    NOT_JSON = "not-json"
    NOT_AN_OBJECT = "not-an-object"
    WRONG_SHAPE = "wrong-shape"
    TOO_DEEP = "too-deep"
    TOO_LARGE = "too-large"


class SourceState(StrEnum):
    """Whether the file of a source can still be read."""

    LIVE = "live"
    GONE = "gone"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Source:
    """One input file and how far it has been read: up to `offset`, whose preceding bytes hash
    to `prefix`. `stamp` is the file's size and times when it was last read to its end;
    `rewrites` counts how often it was found changed below the offset."""

    id: int
    path: str
    agent: str
    bank: str
    offset: int = 0
    lines: int = 0
    prefix: str = ""
    stamp: str = ""
    l1_bytes: int = 0
    rewrites: int = 0
    state: SourceState = SourceState.LIVE
    problem: str = ""
    read_at: str = ""


class FailedLine(NamedTuple):
    """A line that could not be read: where it is, why, and a redacted piece of it."""

    source: int
    line: int
    offset: int
    reason: str
    excerpt: str
    reader: int


@dataclass(frozen=True, slots=True)
class Balance:
    """The ledger added up. `pending` lines are on disk and not yet read."""

    files: int = 0
    lines: int = 0
    captured: int = 0
    skipped: dict[str, int] | None = None
    failed: int = 0
    pending: int = 0
    redacted: dict[str, int] | None = None
    problems: tuple[str, ...] = ()

    @property
    def accounted(self) -> int:
        """Lines with a known outcome; equal to `lines - pending`, or something is broken."""
        return self.captured + sum((self.skipped or {}).values()) + self.failed
