"""The statements of the SQLite store in PostgreSQL's words.

Both engines are asked the same questions; only how some of them are put differs, and that is
all that is here. A statement is put into other words once and remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple


class Shape(NamedTuple):
    """A table: by what a row of it is known, and what else it has."""

    key: Sequence[str]
    rest: Sequence[str]


Shapes = Callable[[], Mapping[str, Shape]]

_WORDS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r"%", "%%"),
        # What was only said to keep SQLite's planner from doing otherwise.
        (r"\bCROSS JOIN (?!json_each)", "JOIN "),
        (r"\b(AND|WHERE) \+(?=\w)", r"\1 "),
        (r"\b(AND|WHERE) 1(?=\s|\)|$)", r"\1 true"),
        (r"\bLIMIT -1\b", "LIMIT ALL"),
        (r"\S+ NOT IN \(\)", "true"),
        (r"\S+ IN \(\)", "false"),
        # SQLite's LIKE does not tell large letters from small ones.
        (r"\bLIKE\b", "ILIKE"),
        (r"\binstr\(", "strpos("),
        (r"\bmax\(([\w.]+, [\w.]+)\)", r"greatest(\1)"),
        (r"\bmin\(([\w.]+, [\w.]+)\)", r"least(\1)"),
        (r"\bAS INTEGER\)", "AS bigint)"),
        (r"\bjson_each\(", "json_items("),
        (r'(?<!")\boffset\b(?!")', '"offset"'),
        (r"\bSELECT \? UNION\b", 'SELECT %s::text COLLATE "C" UNION'),
        (r"\?", "%s"),
    )
)
_TABLE_INFO = re.compile(r'PRAGMA table_info\("(\w+)"\)')
_INSERT = re.compile(r'INSERT OR (IGNORE|REPLACE) INTO "?(\w+)"?')
# Where a row has no number of its own, the place it lies at stands for one, with the table: of
# one that is cut into partitions, each counts its own places.
_ROWID = re.compile(r"\browid\b")
_ROWID_IS = re.compile(r"\bWHERE rowid = \?")
_PLACE = "(tableoid::text || '.' || ctid::text)"
_AT_PLACE = (
    "WHERE (tableoid, ctid) = (SELECT split_part(place, '.', 1)::oid, "
    "split_part(place, '.', 2)::tid FROM (SELECT ?::text AS place) AS named)"
)
_NUMBERED = re.compile(r'\b(?:FROM|JOIN|INTO|UPDATE) "?(?:passage|vector)\b')


def translated(sql: str, shapes: Shapes) -> str:
    """One statement in PostgreSQL's words; `shapes` is asked only where it must be known by what
    a row is replaced."""
    if info := _TABLE_INFO.fullmatch(sql):
        return (
            "SELECT 0, column_name FROM information_schema.columns "
            f"WHERE table_schema = current_schema() AND table_name = '{info[1]}'"
        )
    if not _NUMBERED.search(sql) or "FROM rule WHERE rowid" in sql:
        sql = _ROWID.sub(_PLACE, _ROWID_IS.sub(_AT_PLACE, sql))
    for pattern, words in _WORDS:
        sql = pattern.sub(words, sql)
    insert = _INSERT.match(sql)
    if insert is None:
        return sql
    sql = sql.replace(f"INSERT OR {insert[1]}", "INSERT", 1)
    if insert[1] == "IGNORE":
        return f"{sql} ON CONFLICT DO NOTHING"
    return f"{sql} {_replacing(shapes()[insert[2]])}"


def _replacing(shape: Shape) -> str:
    key = ", ".join(f'"{name}"' for name in shape.key)
    if not shape.rest:
        return f"ON CONFLICT ({key}) DO NOTHING"
    # What is not said falls back to what it is by default, as if the old row had gone first.
    rest = ", ".join(f'"{name}" = excluded."{name}"' for name in shape.rest)
    return f"ON CONFLICT ({key}) DO UPDATE SET {rest}"
