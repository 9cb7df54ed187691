"""Records on their way to remotes."""

from __future__ import annotations

from enum import StrEnum

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import Table


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


OUTBOX_ITEM = Table("outbox_item", OutboxItem, "bank, remote, id")


class Outbox(Subject):
    """Reads the outbox."""

    def items(self, remote: str = "") -> list[OutboxItem]:
        """The items for a server, or for all of them, in the order they were queued."""
        where, values = ("AND remote = ? ", (remote,)) if remote else ("", ())
        return OUTBOX_ITEM.find(self._db, None, f"{where}ORDER BY queued, remote, id", values)

    def put(self, item: OutboxItem) -> None:
        """Store an item in its present state."""
        self.drop(item)
        OUTBOX_ITEM.add(self._db, [item])

    def drop(self, item: OutboxItem) -> None:
        """Remove an item."""
        self._db.run(
            "DELETE FROM outbox_item WHERE bank = ? AND remote = ? AND id = ?",
            (item.bank, item.remote, item.id),
        )
