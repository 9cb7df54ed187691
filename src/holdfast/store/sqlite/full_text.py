"""Search by words in a memory in a file, over SQLite's index FTS5."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import StoreCorruptError, StoreError
from holdfast.model.query import Passage
from holdfast.store.index.passages import Match, time_condition
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert

# Weights of the columns scope, body and context: a term in the passage itself counts fully, one in
# the turn before it less, and the words of the scope not at all.
_RANK = "bm25(0.0, 1.0, 0.4)"


class SqliteFullText:
    """The table `passage_fts`, which triggers keep in step with `passage`."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str],
        limit: int,
        since: str,
        until: str,
    ) -> list[Match]:
        match = _expression(bank, terms, layers)
        if not match:
            return []
        columns = ", ".join(f"passage.{name}" for name in rows.PASSAGE.split(", "))
        span, times = time_condition(since, until)
        # The plus keeps SQLite from asking the index anew for every row of that time.
        within = f"AND +rowid IN (SELECT number FROM passage WHERE {span}) " if times else ""
        found = self._db.all(
            f"SELECT {columns}, ranked.rank FROM "
            "(SELECT rowid, rank FROM passage_fts WHERE passage_fts MATCH ? AND rank MATCH ? "
            f"{within}ORDER BY rank LIMIT ?) AS ranked "
            "JOIN passage ON passage.number = ranked.rowid ORDER BY ranked.rank, passage.number",
            (match, _RANK, *times, limit),
        )
        return [Match(rows.passage_of(row[:-1]), -row[-1]) for row in found]

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        counted: list[int] = []
        for term in terms:
            match = _expression(bank, [term], ())
            row = match and self._db.one(
                "SELECT count(*) FROM (SELECT 1 FROM passage_fts WHERE passage_fts MATCH ? "
                "LIMIT ?)",
                (match, most),
            )
            counted.append(row[0] if row else 0)
        return counted

    def add(self, passages: Sequence[Passage]) -> None:
        self._db.run_many(
            insert("passage", f"{rows.PASSAGE}, scope"),
            [rows.passage_row(passage) for passage in passages],
        )

    def rebuild(self) -> None:
        self._db.run("INSERT INTO passage_fts (passage_fts) VALUES ('rebuild')")

    def faults(self) -> list[str]:
        """The index compares itself with what it indexes, which takes the right to write."""
        try:
            self._db.run(
                "INSERT INTO passage_fts (passage_fts, rank) VALUES ('integrity-check', 1)"
            )
        except StoreCorruptError:
            return ["the index of words does not match the passages"]
        except StoreError:
            return []
        return []


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
