"""The outbox: records on their way to a team server, each as the line that is sent.

An item that waits has its line. Once it has been sent, its text is removed; what stays is what it
was made of and its name on the server.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class OutboxState(StrEnum):
    """How far an item is."""

    WAITING = "waiting"
    SENT = "sent"
    REFUSED = "refused"


class OutboxItem(NamedTuple):
    """One line for one server. `id` is the hash of the whole line, `mark` that of its text alone;
    one that is `gone` takes back what was sent of its origin. `there` is the name that the server
    gave it."""

    bank: str
    remote: str
    id: str
    origin: str
    line: str
    mark: str
    gone: bool
    state: OutboxState
    queued: str
    attempts: int = 0
    not_before: str = ""
    problem: str = ""
    there: str = ""


class OutboxReader(Protocol):
    """Reads the outbox."""

    def outbox(self, remote: str = "") -> list[OutboxItem]:
        """The items for a server, or for all of them, in the order they were queued."""
        ...


class OutboxWriter(Protocol):
    """Writes the outbox."""

    def put_outbox_item(self, item: OutboxItem) -> None:
        """Store an item in its present state."""
        ...

    def drop_outbox_item(self, item: OutboxItem) -> None:
        """Remove an item."""
        ...
