"""Records on their way to remotes."""

from __future__ import annotations

from typing import Any

from holdfast.store.protocol.outbox import OutboxItem, OutboxState
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import placeholders

OUTBOX_ITEM = (
    "bank, remote, id, origin, line, mark, gone, state, queued, attempts, not_before, problem, "
    "there"
)


def _outbox_item_of(row: tuple[Any, ...]) -> OutboxItem:
    """`OUTBOX_ITEM`."""
    item = OutboxItem(*row)
    return item._replace(gone=bool(item.gone), state=OutboxState(item.state))


class OutboxReader(StatementRunner):
    """Reads them."""

    def outbox(self, remote: str = "") -> list[OutboxItem]:
        where, values = ("remote = ?", (remote,)) if remote else ("true", ())
        found = self._all(
            f"SELECT {OUTBOX_ITEM} FROM outbox_item WHERE {where} ORDER BY queued, remote, id",
            *values,
        )
        return [_outbox_item_of(row) for row in found]


class OutboxWriter(OutboxReader):
    """Writes them."""

    def put_outbox_item(self, item: OutboxItem) -> None:
        self.drop_outbox_item(item)
        row = item._replace(gone=int(item.gone))._asdict() | {"state": item.state.value}
        self._run(
            f"INSERT INTO outbox_item ({OUTBOX_ITEM}) VALUES ({placeholders(OUTBOX_ITEM)})",
            *row.values(),
        )

    def drop_outbox_item(self, item: OutboxItem) -> None:
        self._run(
            "DELETE FROM outbox_item WHERE bank = ? AND remote = ? AND id = ?",
            *(item.bank, item.remote, item.id),
        )
