"""Tables split by bank into partitions.

Nearly every primary key starts with the bank, and every query names one, so the rows of a bank can
be kept together anywhere. Only the tables that grow with the transcripts are split. Their numbers
are then unique by the sequence that they come from, not by an index.
"""

from __future__ import annotations

import re

# What grows with the transcripts. `half_vector` is not made by a migration (`nearest.py`).
PARTITIONED_TABLES = (
    "turn", "exchange", "claim", "graph_node", "record_labels", "memory_occurrence", "statement",
    "passage", "vector", "half_vector",
)  # fmt: skip
_TABLE = re.compile(r'CREATE TABLE "?(\w+)"? \(.*?\n\);', re.DOTALL)
_UNIQUE = re.compile(r"CREATE UNIQUE INDEX (\w+) ON (\w+) \((?!bank\b)")


def partitioned(script: str, count: int) -> str:
    """The same migration, with each large table split into `count` partitions by a hash of the
    bank."""
    if not count:
        return script
    script = _TABLE.sub(lambda table: _partition(table, count), script)
    return _UNIQUE.sub(_not_unique, script)


def _partition(table: re.Match[str], count: int) -> str:
    name = table[1]
    if name not in PARTITIONED_TABLES:
        return table[0]
    parts = "\n".join(
        f"CREATE TABLE {name}_p{n} PARTITION OF {name} "
        f"FOR VALUES WITH (MODULUS {count}, REMAINDER {n});"
        for n in range(count)
    )
    return f"{table[0].removesuffix(';')} PARTITION BY HASH (bank);\n{parts}"


def _not_unique(index: re.Match[str]) -> str:
    if index[2] not in PARTITIONED_TABLES:
        return index[0]
    return index[0].replace("CREATE UNIQUE INDEX", "CREATE INDEX")
