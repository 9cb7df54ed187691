"""Tables split by bank: into partitions on one server, or over the servers of a Citus cluster.

Nearly every primary key starts with the bank, and every query names one, so the rows of a bank can
be kept together anywhere. Only the tables that grow with the transcripts are split. Their numbers
are then unique by the sequence that they come from, not by an index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

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


def distributed(scripts: Sequence[str], schema: str = "holdfast") -> list[str]:
    """The statements that distribute the large tables of a new memory over the servers of a Citus
    cluster, with the rows of a bank together. The small tables stay with the coordinator."""
    found = [index for script in scripts for index in _UNIQUE.finditer(script)]
    statements = [
        "SET citus.enable_unsafe_triggers = on;",
        f"SET search_path = {schema};",
        "ALTER TABLE turn DROP CONSTRAINT turn_bank_session_fkey;",
    ]
    for index in found:
        if index[2] in PARTITIONED_TABLES:
            column = _column_of(scripts, index)
            statements.append(f"DROP INDEX {index[1]};")
            statements.append(f"CREATE INDEX {index[1]} ON {index[2]} ({column});")
    first, *others = PARTITIONED_TABLES
    statements.append(f"SELECT create_distributed_table('{first}', 'bank');")
    statements += [
        f"SELECT create_distributed_table('{name}', 'bank', colocate_with => '{first}');"
        for name in others
    ]
    return statements


def _column_of(scripts: Sequence[str], index: re.Match[str]) -> str:
    text = next(script for script in scripts if index[0] in script)
    start = text.index(index[0]) + len(index[0])
    return text[start : text.index(")", start)]
