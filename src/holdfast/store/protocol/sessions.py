"""Sessions as people look through them: filtered, page by page, and one of them piece by piece."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from holdfast.model.records import Session


class SessionFilter(NamedTuple):
    """Which sessions are wanted; "" asks for nothing. They began on the day `since` or later, and
    on the day `until` or earlier."""

    bank: str | None = None
    agent: str = ""
    branch: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""


class SessionListing(NamedTuple):
    """A session in a list: what was asked and what came of it, as its digest says; how many turns
    and how many subagents it had."""

    session: Session
    request: str
    outcome: str
    exchanges: int
    turns: int
    subagents: int


class SessionFacets(NamedTuple):
    """What sessions can be told apart by: the names of agents and branches, by name."""

    agents: tuple[str, ...]
    branches: tuple[str, ...]


class SessionExtent(NamedTuple):
    """How many turns of a session are shown, and the places of the first and the last."""

    turns: int
    first: int
    last: int


class SessionReader(Protocol):
    """What can be asked. What is forgotten is in no answer, nor counted."""

    def list_sessions(
        self, sieve: SessionFilter, limit: int, offset: int = 0
    ) -> list[SessionListing]:
        """Sessions of people, not of subagents, the latest first."""
        ...

    def facets(self, bank: str | None) -> SessionFacets:
        """What there is to filter by."""
        ...

    def sessions_named(self, name: str) -> list[Session]:
        """The session of an id, else those of the host's own id that are no subagent's."""
        ...

    def subagents(self, bank: str, session: str) -> list[Session]:
        """The sessions of subagents that a session had, by time."""
        ...

    def extent(self, bank: str, session: str) -> SessionExtent:
        """How long a session is."""
        ...

    def turn_window(self, bank: str, session: str, first: int, most: int) -> tuple[int, int] | None:
        """The places of the first and the last of so many turns from a place on; None if there is
        none."""
        ...

    def turn_window_before(self, bank: str, session: str, first: int, most: int) -> int | None:
        """Where so many turns begin that end before a place; None if nothing is before it."""
        ...

    def redaction_counts(self, source: int) -> dict[str, int]:
        """How many secrets of each kind were taken out of a file."""
        ...
