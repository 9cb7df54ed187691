"""Checks of derived rows. Damage of the storage itself is looked for by each engine."""

from __future__ import annotations

from holdfast.store.sql.runner import StatementRunner

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
    """Looks for derived rows that do not match what they were made of."""

    def _derived_faults(self) -> list[str]:
        found: list[str] = []
        for what, question in _DERIVED:
            row = self._one(question)
            if row and row[0]:
                found.append(f"{row[0]:,} {what}")
        return found + self._index_faults()

    def _index_faults(self) -> list[str]:
        """What is wrong with the index of words."""
        raise NotImplementedError
