"""What the engines say differently. Everything else in a statement is understood by both."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple


class Dialect(NamedTuple):
    """The idioms of one engine, put into a statement where it is defined.

    Three of them keep SQLite's planner from a plan that was measured to be slow; PostgreSQL has
    statistics and needs no hint."""

    # A table-valued function: the items of a JSON array as rows with a column `value`.
    json_items: str
    # A function of two texts: the position of the second in the first, 0 where it is not there.
    position: str
    # An inner join that reads the tables in the order in which they are named.
    ordered_join: str
    # Before a column: do not look for it in an index.
    no_index: str
    # At the end of a subquery: do not merge it with the query around it.
    no_merge: str
    # A query for the names of a table's columns, in their order.
    table_columns: str


SQLITE = Dialect(
    json_items="json_each",
    position="instr",
    ordered_join="CROSS JOIN",
    no_index="+",
    no_merge=" LIMIT -1",
    table_columns="SELECT name FROM pragma_table_info(?) ORDER BY cid",
)
POSTGRES = Dialect(
    json_items="json_items",
    position="strpos",
    ordered_join="JOIN",
    no_index="",
    no_merge="",
    table_columns="SELECT attname FROM pg_attribute WHERE attrelid = to_regclass(quote_ident(?)) "
    "AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
)
