"""A memory as comparable rows: everything that must not depend on how it got there."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

_QUERIES = {
    # A bank that nothing is in any more may stay.
    "bank": "SELECT id, name FROM bank WHERE id IN (SELECT bank FROM source)",
    "bank_alias": "SELECT alias, bank FROM bank_alias WHERE bank IN (SELECT bank FROM source)",
    "source": "SELECT path, agent, bank, offset, lines, prefix, l1_bytes, state FROM source",
    "ledger": "SELECT path, fate, reason, ledger.lines FROM ledger JOIN source ON id = source",
    "failed_line": "SELECT path, line, failed_line.offset, reason, excerpt FROM failed_line "
    "JOIN source ON id = source",
    "redaction": "SELECT path, kind, count FROM redaction JOIN source ON id = source",
    "session": "SELECT * FROM session",
    "turn": "SELECT turn.*, path FROM turn JOIN source ON source.id = turn.source",
    "exchange": "SELECT * FROM exchange",
    "digest": "SELECT * FROM digest",
    "passage": "SELECT bank, kind, id, session, time, scope, body, context FROM passage",
    "labelled_record": "SELECT bank, l.kind, text, file_name, r.kind, r.id, time "
    "FROM labelled_record AS r "
    "JOIN label AS l ON l.id = r.label",
    "record_labels": "SELECT bank, kind, id, time, json_array_length(labels) FROM record_labels",
    "claim": "SELECT * FROM claim",
    "fact": "SELECT * FROM fact",
    "status_period": "SELECT * FROM status_period",
    "fact_evidence": "SELECT * FROM fact_evidence",
    "review": "SELECT * FROM review",
    "dropped_claim_count": "SELECT * FROM dropped_claim_count",
    "retained_memory": "SELECT * FROM retained_memory",
    "graph_node": "SELECT bank, kind, id, session, time, hash FROM graph_node",
    "entity": "SELECT bank, id, kind, name, aliases, mentions FROM entity",
    "label": "SELECT bank, kind, text FROM label",
    "concept": "SELECT * FROM concept",
    "concept_member": "SELECT * FROM concept_member",
    "stale_session": "SELECT * FROM stale_session",
}


def dump(database: Path) -> dict[str, list[str]]:
    """Every table as a sorted list of rows; numbers of sources are told by their paths. A memory
    without any row is refused, because two of them are the same whatever happened."""
    with closing(sqlite3.connect(database)) as connection:
        found: dict[str, list[str]] = {}
        for table, query in _QUERIES.items():
            cursor = connection.execute(query)
            names = [column[0] for column in cursor.description]
            found[table] = sorted(
                repr([(n, v) for n, v in zip(names, row, strict=True) if n != "source"])
                for row in cursor
            )
    assert any(found.values()), f"{database} is empty: a comparison would prove nothing"
    return found
