"""The other two accounts: every call of a model service, and every injection."""

from __future__ import annotations

from dataclasses import dataclass


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


@dataclass(frozen=True, slots=True)
class Injection:
    """One brief that was put into a session."""

    id: str
    bank: str
    session: str
    time: str
    characters: int
    records: tuple[str, ...] = ()
