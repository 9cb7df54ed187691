"""Reading a memory in a file: search by the full-text index, and what SQLite tells of itself."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import StoreError
from holdfast.store.protocol import Match
from holdfast.store.protocol.overview import TableSize
from holdfast.store.sql.reader import SqlReader, time_condition
from holdfast.store.sql.rows import records as rows
from holdfast.store.sqlite.connection import SqliteConnection

# Weights of the columns scope, body and context: a term in the passage itself counts fully, one in
# the turn before it less, and the words of the scope not at all.
_RANK = "bm25(0.0, 1.0, 0.4)"


class SqliteReader(SqlReader):
    """Reads a memory over a connection that it does not own. It has no method that writes."""

    def __init__(self, connection: SqliteConnection) -> None:
        super().__init__(connection)
        self._raw = connection.raw

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str] = (),
        limit: int = 50,
        since: str = "",
        until: str = "",
    ) -> list[Match]:
        match = _expression(bank, terms, layers)
        if not match:
            return []
        columns = ", ".join(f"passage.{name}" for name in rows.PASSAGE.split(", "))
        span, times = time_condition(since, until)
        # The plus keeps SQLite from asking the index anew for every row of that time.
        within = f"AND +rowid IN (SELECT number FROM passage WHERE {span}) " if times else ""
        found = self._all(
            f"SELECT {columns}, ranked.rank FROM "
            "(SELECT rowid, rank FROM passage_fts WHERE passage_fts MATCH ? AND rank MATCH ? "
            f"{within}ORDER BY rank LIMIT ?) AS ranked "
            "JOIN passage ON passage.number = ranked.rowid ORDER BY ranked.rank, passage.number",
            match,
            _RANK,
            *times,
            limit,
        )
        return [Match(rows.passage_of(row[:-1]), -row[-1]) for row in found]

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        counted: list[int] = []
        for term in terms:
            match = _expression(bank, [term], ())
            row = match and self._one(
                "SELECT count(*) FROM (SELECT 1 FROM passage_fts WHERE passage_fts MATCH ? LIMIT "
                "?)",
                match,
                most,
            )
            counted.append(row[0] if row else 0)
        return counted

    def generation(self) -> str:
        row = self._one("PRAGMA data_version")
        return f"{row[0] if row else 0}.{self._raw.total_changes}"

    def table_sizes(self) -> list[TableSize]:
        try:
            found = self._all(
                "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC, 1"
            )
        except StoreError:  # a build of SQLite without this table
            return []
        return [TableSize(*row) for row in found]


def _expression(bank: str | None, terms: Sequence[str], layers: Sequence[str]) -> str:
    """The full-text expression: any of the terms, within the bank and the layers."""
    clean = [rows.text(term).replace("\x00", " ") for term in terms]
    quoted = [
        '"' + term.replace('"', '""') + '"' for term in clean if any(c.isalnum() for c in term)
    ]
    if not quoted:
        return ""
    parts: list[str] = []
    if bank is not None:
        parts.append(f"scope : {rows.bank_word(bank)}")
    if layers:
        parts.append(f"scope : ({' OR '.join(rows.layer_word(layer) for layer in layers)})")
    parts.append(f"{{body context}} : ({' OR '.join(quoted)})")
    return " AND ".join(parts)
