"""The other accounts: every call of a model service, every injection, and work that failed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a model service, for the cost ledger."""

    id: str
    time: str
    operation: str
    model: str
    tokens_in: int
    tokens_out: int
    usd: float
    ms: int


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


@dataclass(frozen=True, slots=True)
class Chore:
    """A piece of background work that failed, so often, last at `failed_at`, and that is tried
    again from `not_before` on."""

    name: str
    attempts: int
    problem: str
    failed_at: str
    not_before: str
