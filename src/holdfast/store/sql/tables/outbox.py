"""What is on its way to servers, in SQLite."""

from __future__ import annotations

from typing import Any

from holdfast.store.protocol.outbox import OutboxItem, OutboxState
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import placeholders

PARCEL = (
    "bank, remote, id, origin, line, mark, gone, state, queued, attempts, not_before, problem, "
    "there"
)


def _parcel_of(row: tuple[Any, ...]) -> OutboxItem:
    """`PARCEL`."""
    told = OutboxItem(*row)
    return told._replace(gone=bool(told.gone), state=OutboxState(told.state))


class OutboxReader(StatementRunner):
    """What can be asked."""

    def outbox(self, remote: str = "") -> list[OutboxItem]:
        where, values = ("remote = ?", (remote,)) if remote else ("true", ())
        found = self._all(
            f"SELECT {PARCEL} FROM outbox_item WHERE {where} ORDER BY queued, remote, id", *values
        )
        return [_parcel_of(row) for row in found]


class OutboxWriter(OutboxReader):
    """The ways in."""

    def put_outbox_item(self, item: OutboxItem) -> None:
        self.drop_outbox_item(item)
        row = item._replace(gone=int(item.gone))._asdict() | {"state": item.state.value}
        self._run(
            f"INSERT INTO outbox_item ({PARCEL}) VALUES ({placeholders(PARCEL)})", *row.values()
        )

    def drop_outbox_item(self, item: OutboxItem) -> None:
        self._run(
            "DELETE FROM outbox_item WHERE bank = ? AND remote = ? AND id = ?",
            *(item.bank, item.remote, item.id),
        )
