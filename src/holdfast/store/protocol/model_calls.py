"""What a store keeps of model services: the cost ledger, which of them rest, and what they made."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from holdfast.model.model_calls import ModelCall, ModelSummary, ServicePause, Spending


class DailySpending(NamedTuple):
    """What one operation took of one model on one day."""

    day: str
    operation: str
    service: str
    model: str
    spent: Spending


class UnsummarisedSession(NamedTuple):
    """A session with something that no model has looked at."""

    bank: str
    session: str


class ModelCallLedger(Protocol):
    """The cost ledger, and services that are left alone for a while."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing; no other process reserves anything meanwhile."""
        ...

    def reserve_call(self, call: ModelCall) -> None:
        """Reserve what a call may take, before it is made."""
        ...

    def record_call_result(self, call: ModelCall) -> None:
        """Note what a call took, in place of what was reserved."""
        ...

    def total_spent(self, since: str = "", bank: str = "", session: str = "") -> Spending:
        """What calls took from a time on, open ones at what they may take; of one session, if
        one is named."""
        ...

    def spending_by_day(self, since: str = "") -> list[DailySpending]:
        """The same by day, operation and model, the latest day first."""
        ...

    def failed_calls(self, limit: int = 5) -> list[ModelCall]:
        """The latest calls that did not end well, the last first."""
        ...

    def paused_services(self) -> list[ServicePause]:
        """Services that are left alone, by name."""
        ...

    def pause_service(self, pause: ServicePause) -> None:
        """Leave a service alone, in place of what was noted of it."""
        ...

    def resume_service(self, service: str) -> None:
        """The service answers again."""
        ...


class ModelSummaries(Protocol):
    """What models made of records."""

    def put_summary(self, summary: ModelSummary, session: str, first: int) -> None:
        """Keep what was made; the session becomes stale from `first` on. One of the same hash
        and version stays as it is."""
        ...

    def summary(self, bank: str, hash: str) -> ModelSummary | None:
        """What the latest version made of what has this hash; None if nothing came of it."""
        ...

    def summary_attempted(self, bank: str, hash: str, version: int) -> bool:
        """Whether this version has been paid for, whatever came of it."""
        ...

    def has_summaries(self, bank: str) -> bool:
        """Whether there is anything to look for in a bank."""
        ...

    def unsummarised_sessions(
        self, since: str, version: int, limit: int = 50
    ) -> list[UnsummarisedSession]:
        """Sessions, not of subagents, that went on after a time and have an exchange or a digest
        by rules alone that was not tried and that nobody said anew; the latest first."""
        ...


class ModelAccounts(ModelCallLedger, ModelSummaries, Protocol):
    """Both."""
