"""Search by words and by parts of words in a memory in a file, over SQLite's index FTS5."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from holdfast.errors import StoreCorruptError, StoreError
from holdfast.model.query import Passage
from holdfast.store.index.passages import LayerLimit, Match, NumberedPassage, time_condition
from holdfast.store.sql import rows
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert
from holdfast.store.sql.table import PASSAGE
from holdfast.word_forms import index_parts, is_piece, is_start, phrase_parts

_WORDS, _PARTS = "passage_fts", "passage_fts_parts"
# Weights of the columns scope, body and context: a term in the passage itself counts fully, one in
# the turn before it less, and the words of the scope not at all.
_RANK = "bm25(0.0, 1.0, 0.4)"
# What a word that is only a part of a name counts ("gradient" in `GradientLast`).
_PART_SHARE = 0.5
_NO_OTHER_BANK = (
    "NOT (EXISTS (SELECT 1 FROM passage WHERE bank < ?) "
    "OR EXISTS (SELECT 1 FROM passage WHERE bank > ?))"
)


class SqliteFullText:
    """The table `passage_fts`, which triggers keep in step with `passage`, and `passage_fts_parts`
    with the parts of words."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str,
        until: str,
    ) -> list[list[Match]]:
        found = [dict[int, Match]() for _ in wanted]
        scope = None if self._is_only_bank(bank) else bank
        expressions = [_expressions(scope, terms, one.layers) for one in wanted]
        for same in zip(*expressions, strict=True):
            table, share, _ = same[0]
            matches, limits = [match for _, _, match in same], [one.limit for one in wanted]
            for row in self._ranked(bank, table, matches, limits, since, until):
                place: int = row[0]
                number, score = row[1:3]
                among = found[place]
                known = among.get(number)
                if known is None:
                    among[number] = Match(PASSAGE.record(row[3:]), share * score)
                elif share == 1.0:
                    among[number] = known._replace(score=known.score + score)
        return [_best(some, one.limit) for some, one in zip(found, wanted, strict=True)]

    def _is_only_bank(self, bank: str | None) -> bool:
        """Whether no other bank has passages. To compare what matches with the list of all passages
        of the bank then takes most of the time of a search (at 100,000 passages 21 of 42 ms, and 9
        of 10 ms to count the words of a query)."""
        if bank is None or self._db.within is not None:
            return False
        row = self._db.one(f"SELECT {_NO_OTHER_BANK}", (bank, bank))
        return row is not None and bool(row[0])

    def _ranked(
        self,
        bank: str | None,
        table: str,
        matches: Sequence[str],
        limits: Sequence[int],
        since: str,
        until: str,
    ) -> list[rows.Row]:
        """The best passages for each expression: its place among them, the passage's number, its
        score and its columns. All that match the first are ranked, once."""
        span, times = time_condition(since, until)
        # The plus keeps SQLite from asking the index anew for every row of that time.
        within = f" AND +rowid IN (SELECT number FROM passage WHERE {span})" if times else ""
        first, *others = matches
        values = [first, _RANK, *times, limits[0]]
        chosen = [
            "SELECT * FROM (SELECT 0 AS place, number, rank FROM ranked ORDER BY rank LIMIT ?)"
        ]
        for place, (match, limit) in enumerate(zip(others, limits[1:], strict=True), start=1):
            chosen.append(
                f"SELECT * FROM (SELECT {place}, number, rank FROM ranked WHERE number IN "
                f"(SELECT rowid FROM {table} WHERE {table} MATCH ?) ORDER BY rank LIMIT ?)"
            )
            values += [match, limit]
        columns = PASSAGE.of("passage")
        # A bank can get its first passages after `_is_only_bank` looked.
        of_bank = " AND passage.bank = ?" if bank is not None else ""
        # Where only one result is wanted, SQLite ranks inside the index and keeps no table.
        kept = "MATERIALIZED" if others else "NOT MATERIALIZED"
        return self._db.all(
            f"WITH ranked (number, rank) AS {kept} (SELECT rowid, rank FROM {table} "
            f"WHERE {table} MATCH ? AND rank MATCH ?{within}) "
            f"SELECT chosen.place, chosen.number, -chosen.rank, {columns} "
            f"FROM ({' UNION ALL '.join(chosen)}) AS chosen "
            f"JOIN passage ON passage.number = chosen.number{of_bank}",
            [*values, bank] if of_bank else values,
        )

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        counted: list[int] = []
        scope, alone, banks = bank, "", tuple[str | None, ...]()
        if self._is_only_bank(bank):
            # A bank can get its first passages after `_is_only_bank` looked.
            scope, alone, banks = None, f" AND {_NO_OTHER_BANK}", (bank, bank)
        for term in terms:
            counts = [
                self._db.one(
                    f"SELECT count(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ?{alone} "
                    "LIMIT ?)",
                    (match, *banks, most),
                )
                for table, _, match in _expressions(scope, [term], ())
            ]
            counted.append(max((row[0] for row in counts if row), default=0))
        return counted

    def add(self, passages: Sequence[Passage]) -> None:
        self._db.run_many(
            insert("passage", f"{PASSAGE.columns}, scope"),
            [(*PASSAGE.row(passage), rows.index_scope(passage)) for passage in passages],
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

    def add_parts(self, bank: str, passages: Sequence[NumberedPassage]) -> None:
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


def _best(found: Mapping[int, Match], limit: int) -> list[Match]:
    best = sorted(found, key=lambda number: (-found[number].score, number))[:limit]
    return [found[number] for number in best]


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
