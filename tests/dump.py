"""A memory as comparable rows: everything that must not depend on how it got there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_QUERIES = {
    # A bank that nothing is in any more may stay.
    "bank": "SELECT id, name FROM bank WHERE id IN (SELECT bank FROM source)",
    "alias": "SELECT alias, bank FROM alias WHERE bank IN (SELECT bank FROM source)",
    "source": "SELECT path, agent, bank, offset, lines, prefix, l1_bytes, state FROM source",
    "ledger": "SELECT path, fate, reason, ledger.lines FROM ledger JOIN source ON id = source",
    "failure": "SELECT path, line, failure.offset, reason, excerpt FROM failure "
    "JOIN source ON id = source",
    "redaction": "SELECT path, kind, count FROM redaction JOIN source ON id = source",
    "session": "SELECT * FROM session",
    "turn": "SELECT turn.*, path FROM turn JOIN source ON source.id = turn.source",
    "exchange": "SELECT * FROM exchange",
    "digest": "SELECT * FROM digest",
    "passage": "SELECT bank, kind, id, session, time, scope, body, context FROM passage",
    "labelled": "SELECT bank, sort, text, name, kind, labelled.id, time FROM labelled "
    "JOIN label ON label.id = labelled.label",
    "bearer": "SELECT bank, kind, id, time, json_array_length(labels) FROM bearer",
    "claim": "SELECT * FROM claim",
    "fact": "SELECT * FROM fact",
    "life": "SELECT * FROM life",
    "bearing": "SELECT * FROM bearing",
    "review": "SELECT * FROM review",
    "dropped": "SELECT * FROM dropped",
    "retained": "SELECT * FROM retained",
    "node": "SELECT bank, kind, id, session, time, hash FROM node",
    "entity": "SELECT bank, id, kind, name, aliases, mentions FROM entity",
    "label": "SELECT bank, sort, text FROM label",
    "concept": "SELECT * FROM concept",
    "concept_member": "SELECT * FROM concept_member",
    "stale": "SELECT * FROM stale",
}


def dump(database: Path) -> dict[str, list[str]]:
    """Every table as a sorted list of rows; numbers of sources are told by their paths."""
    with closing(sqlite3.connect(database)) as connection:
        found: dict[str, list[str]] = {}
        for table, query in _QUERIES.items():
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description]
            found[table] = sorted(
                repr([(n, v) for n, v in zip(names, row, strict=True) if n != "source"])
                for row in cursor
            )
        return found
