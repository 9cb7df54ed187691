"""The injection ledger: which context was injected into which session, and what happened to it."""

from __future__ import annotations

from typing import Protocol

from holdfast.model.ledgers.injections import Injection


class InjectionLedger(Protocol):
    """Records injections and their outcomes."""

    def add_injection(self, injection: Injection) -> None:
        """Record an injection; a known id stays as it is."""
        ...

    def record_injection_outcome(self, injection: Injection) -> None:
        """Record whether an injection arrived and how it was used."""
        ...

    def injections(
        self, bank: str | None, session: str = "", unsettled: bool = False, limit: int = 100
    ) -> list[Injection]:
        """Injections, the latest first; only those of one session, or of unknown use, if asked
        for."""
        ...
