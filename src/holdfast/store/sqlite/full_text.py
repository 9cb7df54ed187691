"""Search by words and by parts of words in a memory in a file, over SQLite's index FTS5."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import StoreCorruptError, StoreError
from holdfast.model.query import Passage
from holdfast.store.index.passages import Match, NumberedPassage, time_condition
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert
from holdfast.word_forms import index_parts, is_piece, is_start, phrase_parts

_WORDS, _PARTS = "passage_fts", "passage_fts_parts"
# Weights of the columns scope, body and context: a term in the passage itself counts fully, one in
# the turn before it less, and the words of the scope not at all.
_RANK = "bm25(0.0, 1.0, 0.4)"
# What a word that is only a part of a name counts ("gradient" in `GradientLast`).
_PART_SHARE = 0.5


class SqliteFullText:
    """The table `passage_fts`, which triggers keep in step with `passage`, and `passage_fts_parts`
    with the parts of words."""

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
        span, times = time_condition(since, until)
        # The plus keeps SQLite from asking the index anew for every row of that time.
        within = f"AND +rowid IN (SELECT number FROM passage WHERE {span}) " if times else ""
        columns = ", ".join(f"passage.{name}" for name in rows.PASSAGE.split(", "))
        found: dict[int, Match] = {}
        for table, share, match in _expressions(bank, terms, layers):
            ranked = self._db.all(
                f"SELECT passage.number, -ranked.rank, {columns} FROM "
                f"(SELECT rowid, rank FROM {table} WHERE {table} MATCH ? AND rank MATCH ? "
                f"{within}ORDER BY rank LIMIT ?) AS ranked "
                "JOIN passage ON passage.number = ranked.rowid",
                (match, _RANK, *times, limit),
            )
            for row in ranked:
                number, score = row[:2]
                known = found.get(number)
                if known is None:
                    found[number] = Match(rows.passage_of(row[2:]), share * score)
                elif share == 1.0:
                    found[number] = known._replace(score=known.score + score)
        best = sorted(found, key=lambda number: (-found[number].score, number))[:limit]
        return [found[number] for number in best]

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        counted: list[int] = []
        for term in terms:
            counts = [
                self._db.one(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ? LIMIT ?)",
                    (match, most),
                )
                for table, _, match in _expressions(bank, [term], ())
            ]
            counted.append(max((row[0] for row in counts if row), default=0))
        return counted

    def add(self, passages: Sequence[Passage]) -> None:
        self._db.run_many(
            insert("passage", f"{rows.PASSAGE}, scope"),
            [rows.passage_row(passage) for passage in passages],
        )
        parts = [(index_parts(p.body), index_parts(p.context), p) for p in passages]
        self._db.run_many(
            f"INSERT INTO {_PARTS} (rowid, scope, body, context) "
            "SELECT number, scope, ?, ? FROM passage WHERE bank = ? AND kind = ? AND id = ?",
            [
                (body, context, p.bank, p.kind, p.id)
                for body, context, p in parts
                if body or context
            ],
        )

    def add_parts(self, passages: Sequence[NumberedPassage]) -> None:
        parts = [(p.number, p.scope, index_parts(p.body), index_parts(p.context)) for p in passages]
        self._db.run_many(
            f"INSERT OR REPLACE INTO {_PARTS} (rowid, scope, body, context) VALUES (?, ?, ?, ?)",
            [row for row in parts if any(row[2:])],
        )

    def rebuild(self) -> None:
        for table in (_WORDS, _PARTS):
            self._db.run(f"INSERT INTO {table} ({table}) VALUES ('rebuild')")

    def faults(self) -> list[str]:
        """The index compares itself with what it indexes, which takes the right to write."""
        try:
            for table in (_WORDS, _PARTS):
                self._db.run(f"INSERT INTO {table} ({table}, rank) VALUES ('integrity-check', 1)")
        except StoreCorruptError:
            return ["the index of words does not match the passages"]
        except StoreError:
            return []
        return []


def _expressions(
    bank: str | None, terms: Sequence[str], layers: Sequence[str]
) -> list[tuple[str, float, str]]:
    """The full-text expressions: any of the terms, within the bank and the layers, in the index of
    words and in that of their parts; and what a match counts. Below 1 it counts only where nothing
    else matches: a passage with the word itself is no better for a name that has it as a part."""
    clean = [rows.text(term).replace("\x00", " ") for term in terms]
    clean = [term for term in clean if any(c.isalnum() for c in term)]
    scope: list[str] = []
    if bank is not None:
        scope.append(f"scope : {rows.bank_word(bank)}")
    if layers:
        scope.append(f"scope : ({' OR '.join(rows.layer_word(layer) for layer in layers)})")
    whole = [_quoted(term) for term in clean if not is_piece(term)]
    pieces = [_quoted(phrase_parts(term)) for term in clean if is_piece(term)]
    return [
        (table, share, " AND ".join([*scope, f"{{body context}} : ({' OR '.join(quoted)})"]))
        for table, share, quoted in (
            (_WORDS, 1.0, whole), (_PARTS, 1.0, pieces), (_PARTS, _PART_SHARE, whole),
        )
        if quoted
    ]  # fmt: skip


def _quoted(term: str) -> str:
    if is_start(term):
        return f'"{term[:-1]}" *'
    return '"' + term.replace('"', '""') + '"'
