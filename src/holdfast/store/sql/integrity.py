"""Checks of derived rows. Damage of the storage itself is looked for by each engine."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.store.sql.database import Database

# Each counts rows that have no right to be there, or that are missing. Calls of tools are not
# looked for: those that ask this memory are left out of the index on purpose (`sources.own_calls`).
_DERIVED = (
    (
        "turns that cannot be found",
        "SELECT count(*) FROM visible_turn AS turn WHERE NOT EXISTS (SELECT 1 FROM passage WHERE "
        "passage.bank = turn.bank AND kind = 'turn' AND passage.id = turn.id) "
        "AND turn.role NOT IN ('summary', 'tool') AND NOT EXISTS "
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


class IntegrityReport(NamedTuple):
    """What is wrong with a store, as sentences. `damaged` may have lost something that cannot be
    derived again; what is wrong with `derived` rows is repaired by a rebuild."""

    damaged: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()


def derived_faults(db: Database) -> list[str]:
    """Derived rows that do not match what they were made of, counted."""
    counted = [(what, db.one(question)) for what, question in _DERIVED]
    return [f"{row[0]:,} {what}" for what, row in counted if row and row[0]]
