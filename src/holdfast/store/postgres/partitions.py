"""Tables split by bank into partitions.

Nearly every primary key starts with the bank, and every query names one, so the rows of a bank can
be kept together anywhere. Only the tables that grow with the transcripts are split. Their numbers
are then unique by the sequence that they come from, not by an index.
"""

from __future__ import annotations

import re

# What grows with the transcripts. `half_vector` is not made by a migration (`vectors.py`).
PARTITIONED_TABLES = (
    "turn", "exchange", "claim", "graph_node", "record_labels", "memory_occurrence", "statement",
    "passage", "vector", "half_vector",
)  # fmt: skip
_TABLE = re.compile(rf"CREATE TABLE ({'|'.join(PARTITIONED_TABLES)}) \(.*?\n\)(?=;)", re.DOTALL)
_UNIQUE = re.compile(rf"UNIQUE (INDEX \w+ ON (?:{'|'.join(PARTITIONED_TABLES)}) \((?!bank\b))")


def partitioned(script: str, count: int) -> str:
    """The same migration, with each large table split into `count` partitions by a hash of the
    bank."""
    if not count:
        return script
    script = _UNIQUE.sub(r"\1", script)
    return _TABLE.sub(lambda table: _partition(table, count), script)


def _partition(table: re.Match[str], count: int) -> str:
    parts = "".join(
        f";\nCREATE TABLE {table[1]}_p{n} PARTITION OF {table[1]} "
        f"FOR VALUES WITH (MODULUS {count}, REMAINDER {n})"
        for n in range(count)
    )
    return f"{table[0]} PARTITION BY HASH (bank){parts}"
