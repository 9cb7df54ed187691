"""Sessions for browsing: filtered, page by page, and one of them window by window."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from holdfast.model.records import Session


class SessionFilter(NamedTuple):
    """Which sessions; "" sets no condition. They began on the day `since` or later, and on the day
    `until` or earlier."""

    bank: str | None = None
    agent: str = ""
    branch: str = ""
    outcome: str = ""
    since: str = ""
    until: str = ""


class SessionListing(NamedTuple):
    """A session in a list: its request and outcome from the digest, and how many exchanges, turns
    and subagents it has."""

    session: Session
    request: str
    outcome: str
    exchanges: int
    turns: int
    subagents: int


class SessionFacets(NamedTuple):
    """The values that sessions can be filtered by: agents and branches, by name."""

    agents: tuple[str, ...]
    branches: tuple[str, ...]


class SessionExtent(NamedTuple):
    """How many turns of a session are shown, and the places of the first and the last."""

    turns: int
    first: int
    last: int


class SessionReader(Protocol):
    """Reads sessions for browsing. Hidden records are neither returned nor counted."""

    def list_sessions(
        self, filter: SessionFilter, limit: int, offset: int = 0
    ) -> list[SessionListing]:
        """Sessions of people, not of subagents, the latest first."""
        ...

    def facets(self, bank: str | None) -> SessionFacets:
        """The agents and branches of the sessions."""
        ...

    def sessions_named(self, name: str) -> list[Session]:
        """The session with an id, else those with this id of the agent that are no subagent's."""
        ...

    def subagents(self, bank: str, session: str) -> list[Session]:
        """The subagent sessions of a session, by time."""
        ...

    def extent(self, bank: str, session: str) -> SessionExtent:
        """How long a session is."""
        ...

    def turn_window(self, bank: str, session: str, first: int, most: int) -> tuple[int, int] | None:
        """The places of the first and the last of up to `most` turns from a place on; None if there
        are none."""
        ...

    def turn_window_before(self, bank: str, session: str, first: int, most: int) -> int | None:
        """The place where a window of up to `most` turns before a place begins; None if nothing is
        before it."""
        ...

    def redaction_counts(self, source: int) -> dict[str, int]:
        """How many secrets of each kind were redacted in a source."""
        ...
