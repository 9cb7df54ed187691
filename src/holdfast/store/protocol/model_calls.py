"""What a store keeps about model services: the cost ledger, paused services, and what models
wrote."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

from holdfast.model.ledgers.model_calls import ModelCall, ModelSummary, ServicePause, Spending


class DailySpending(NamedTuple):
    """What one operation spent on one model on one day."""

    day: str
    operation: str
    service: str
    model: str
    spent: Spending


class UnsummarisedSession(NamedTuple):
    """A session with exchanges or a digest that no model has summarised."""

    bank: str
    session: str


class ModelCallLedger(Protocol):
    """The cost ledger, and the services that are paused."""

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing; no other process reserves a call meanwhile."""
        ...

    def reserve_call(self, call: ModelCall) -> None:
        """Record a call before it is made, with the most that it may take."""
        ...

    def record_call_result(self, call: ModelCall) -> None:
        """Replace a reserved call by what it actually took."""
        ...

    def total_spent(self, since: str = "", bank: str = "", session: str = "") -> Spending:
        """The sum of all calls from a time on, open ones at their maximum; only those of one bank
        or session where one is named."""
        ...

    def spending_by_day(self, since: str = "") -> list[DailySpending]:
        """The same by day, operation and model, the latest day first."""
        ...

    def failed_calls(self, limit: int = 5) -> list[ModelCall]:
        """The latest calls that failed, were refused or were turned away, the last first."""
        ...

    def paused_services(self) -> list[ServicePause]:
        """The paused services, by name."""
        ...

    def pause_service(self, pause: ServicePause) -> None:
        """Pause a service, in place of an earlier pause."""
        ...

    def resume_service(self, service: str) -> None:
        """End the pause of a service."""
        ...


class ModelSummaries(Protocol):
    """What models wrote about records."""

    def put_summary(self, summary: ModelSummary, session: str, first: int) -> None:
        """Keep a summary; the session becomes stale from place `first` on. A summary of the same
        hash and version stays as it is."""
        ...

    def summary(self, bank: str, hash: str) -> ModelSummary | None:
        """The summary of the latest version for this hash; None if no version produced one."""
        ...

    def summary_attempted(self, bank: str, hash: str, version: int) -> bool:
        """Whether a model was already asked by this version, whatever the result."""
        ...

    def has_summaries(self, bank: str) -> bool:
        """Whether a bank has any summary."""
        ...

    def unsummarised_sessions(
        self, since: str, version: int, limit: int = 50
    ) -> list[UnsummarisedSession]:
        """Sessions of people that went on after `since` and have an exchange or a digest made by
        rules alone, for which no model was asked and which nobody corrected; the latest first."""
        ...


class ModelAccounts(ModelCallLedger, ModelSummaries, Protocol):
    """The cost ledger and the summaries."""
