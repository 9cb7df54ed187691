"""Looking for damage: pages that do not hold together, and derived rows that do not match."""

from __future__ import annotations

import sqlite3

from holdfast.errors import StoreCorruptError
from holdfast.store.protocol.maintenance import IntegrityReport
from holdfast.store.sql.runner import StatementRunner

_SHOWN = 5
# Each counts rows that have no right to be there, or that are missing.
_DERIVED = (
    (
        "turns that cannot be found",
        "SELECT count(*) FROM visible_turn AS turn WHERE NOT EXISTS (SELECT 1 FROM passage WHERE "
        "passage.bank = turn.bank AND kind = 'turn' AND passage.id = turn.id) AND NOT EXISTS "
        "(SELECT 1 FROM stale_session WHERE stale_session.bank = turn.bank AND "
        "stale_session.session = turn.session)",
    ),
    (
        "passages of turns that are not there",
        "SELECT count(*) FROM passage WHERE kind = 'turn' AND NOT EXISTS "
        "(SELECT 1 FROM visible_turn AS turn WHERE turn.bank = passage.bank "
        "AND turn.id = passage.id)",
    ),
    (
        "exchanges of sessions that are not there",
        "SELECT count(*) FROM exchange WHERE NOT EXISTS "
        "(SELECT 1 FROM session WHERE session.bank = exchange.bank AND id = exchange.session)",
    ),
    (
        "banks whose vectors are not counted",
        "SELECT count(*) FROM (SELECT bank, model, count(*) FROM vector GROUP BY bank, model "
        "EXCEPT SELECT bank, model, total FROM vector_count) AS uncounted",
    ),
)


class IntegrityCheck(StatementRunner):
    """The questions about the store itself."""

    def check_integrity(self) -> IntegrityReport:
        try:
            told = [str(row[0]) for row in self._all(f"PRAGMA quick_check({_SHOWN})")]
            damaged = [line for line in told if line != "ok"]
            damaged += [f"a row of {row[0]} refers to nothing" for row in self._strays()]
            return IntegrityReport(tuple(damaged), () if damaged else tuple(self._derived_faults()))
        except StoreCorruptError as error:
            return IntegrityReport((error.message,))

    def _strays(self) -> list[tuple[object, ...]]:
        return self._all("PRAGMA foreign_key_check")[:_SHOWN]

    def _derived_faults(self) -> list[str]:
        found: list[str] = []
        for what, question in _DERIVED:
            row = self._one(question)
            if row and row[0]:
                found.append(f"{row[0]:,} {what}")
        return found + self._index_faults()

    def _index_faults(self) -> list[str]:
        """The index compares itself with what it indexes; to ask, one must be able to write."""
        try:
            self._connection.execute(
                "INSERT INTO passage_fts (passage_fts, rank) VALUES ('integrity-check', 1)"
            )
        except sqlite3.OperationalError:
            return []
        except sqlite3.DatabaseError:
            return ["the index of words does not match the passages"]
        return []
