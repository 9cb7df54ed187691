"""Records on their way to remotes."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import placeholders


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


OUTBOX_ITEM = (
    "bank, remote, id, origin, line, mark, gone, state, queued, attempts, not_before, problem, "
    "there"
)


def _outbox_item_of(row: tuple[Any, ...]) -> OutboxItem:
    """`OUTBOX_ITEM`."""
    item = OutboxItem(*row)
    return item._replace(gone=bool(item.gone), state=OutboxState(item.state))


class OutboxReader:
    """Reads the outbox."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def items(self, remote: str = "") -> list[OutboxItem]:
        """The items for a server, or for all of them, in the order they were queued."""
        where, values = ("remote = ?", (remote,)) if remote else ("true", ())
        found = self._db.all(
            f"SELECT {OUTBOX_ITEM} FROM outbox_item WHERE {where} ORDER BY queued, remote, id",
            values,
        )
        return [_outbox_item_of(row) for row in found]


class OutboxWriter(OutboxReader):
    """Writes the outbox."""

    def put(self, item: OutboxItem) -> None:
        """Store an item in its present state."""
        self.drop(item)
        row = item._replace(gone=int(item.gone))._asdict() | {"state": item.state.value}
        self._db.run(
            f"INSERT INTO outbox_item ({OUTBOX_ITEM}) VALUES ({placeholders(OUTBOX_ITEM)})",
            list(row.values()),
        )

    def drop(self, item: OutboxItem) -> None:
        """Remove an item."""
        self._db.run(
            "DELETE FROM outbox_item WHERE bank = ? AND remote = ? AND id = ?",
            (item.bank, item.remote, item.id),
        )
