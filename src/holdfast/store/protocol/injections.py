"""What a store keeps besides memory itself: what was injected where, and work to try again; and
what it can tell of its own state.
"""

from __future__ import annotations

from typing import Protocol

from holdfast.model.injections import Injection


class InjectionLedger(Protocol):
    """The injection ledger, and background work that failed."""

    def add_injection(self, injection: Injection) -> None:
        """Note an injection; one of a known id stays as it is."""
        ...

    def record_injection_outcome(self, injection: Injection) -> None:
        """Note whether an injection arrived and what became of it."""
        ...

    def injections(
        self, bank: str | None, session: str = "", unsettled: bool = False, limit: int = 100
    ) -> list[Injection]:
        """Injections, the latest first: of one session, and only those of unknown use, if
        asked for."""
        ...
