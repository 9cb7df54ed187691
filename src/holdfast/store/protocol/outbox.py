"""What is on its way to a server: chosen records, each as the line that is sent, until it is there.

A parcel that waits has the line; one that is there has no words any more, only what it was made of
and how it is called over there.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol


class OutboxState(StrEnum):
    """How far a parcel is."""

    WAITING = "waiting"
    SENT = "sent"
    REFUSED = "refused"


class OutboxItem(NamedTuple):
    """One line for one server. `id` is the hash of all that the line says, `mark` that of its words
    alone; one that is `gone` takes back what was sent of its origin. `there` is the name that the
    server gave it."""

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
    """What can be asked."""

    def outbox(self, remote: str = "") -> list[OutboxItem]:
        """Those for a server, or for all of them, in the order they were queued."""
        ...


class OutboxWriter(Protocol):
    """The ways in."""

    def put_outbox_item(self, parcel: OutboxItem) -> None:
        """Keep a parcel as it is now."""
        ...

    def drop_outbox_item(self, parcel: OutboxItem) -> None:
        """Forget a parcel."""
        ...
