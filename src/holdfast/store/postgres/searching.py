"""Full-text search and the count of changes, as PostgreSQL does them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from holdfast.model.query import LAYER_OF, Passage
from holdfast.store.overview import Portion
from holdfast.store.postgres import words
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.protocol import Match
from holdfast.store.sqlite import rows
from holdfast.store.sqlite.reader import SqliteReader

# Every candidate with the words that were asked for: first all of it is counted, then ranked.
_CANDIDATES = (
    "SELECT m.rowid, m.length, {wanted}, u.lexeme, u.positions, u.weights "
    "FROM matching(%s::tsquery, %s) AS m CROSS JOIN LATERAL unnest(m.words) AS u "
    "WHERE u.lexeme = ANY (%s) ORDER BY m.rowid"
)
_COUNTED = "SELECT count(*) FROM (SELECT 1 FROM matching(%s::tsquery, %s) LIMIT %s) AS found"
_TALLY = (
    "SELECT coalesce(sum(passages), 0), coalesce(sum(words), 0) FROM tally "
    "WHERE %s::text IS NULL OR bank = %s"
)


class PostgresReader(SqliteReader):
    """The questions. Built on an open connection, which it does not own."""

    _server: PostgresConnection
    _tokens: words.Tokens

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str] = (),
        limit: int = 50,
        since: str = "",
        until: str = "",
    ) -> list[Match]:
        phrases = self._phrases(terms)
        if not phrases:
            return []
        wanted, values = _wanted(layers, since, until)
        found = self._server.said(
            _CANDIDATES.format(wanted=wanted),
            (*values, *self._asked(bank, phrases), sorted({t for p in phrases for t in p})),
        )
        ((passages, long),) = self._server.said(_TALLY, (bank, bank))
        best = words.ranked(list(_candidates(found)), phrases, passages, long)[:limit]
        told = self._numbered([number for number, _ in best])
        return [Match(told[number], score) for number, score in best if number in told]

    def frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        return [self._count(bank, self._phrases([term]), most) for term in terms]

    def _count(self, bank: str | None, phrases: Sequence[Sequence[str]], most: int) -> int:
        if not phrases:
            return 0
        ((count,),) = self._server.said(_COUNTED, (*self._asked(bank, phrases), most))
        return int(count)

    def generation(self) -> str:
        ((number,),) = self._server.said("SELECT number FROM generation")
        return f"{number}.{self._connection.total_changes}"

    def portions(self) -> list[Portion]:
        found = self._server.said(
            "SELECT relname, pg_relation_size(oid) FROM pg_class WHERE relkind IN ('r', 'i') "
            "AND relnamespace = current_schema()::regnamespace ORDER BY 2 DESC, 1"
        )
        return [Portion(*row) for row in found]

    def _phrases(self, terms: Sequence[str]) -> list[list[str]]:
        """What is looked for, each once: a term of several words is a phrase."""
        clean = [rows.text(term).replace("\x00", " ") for term in terms]
        cut = self._tokens.of([term for term in clean if any(c.isalnum() for c in term)])
        return [list(phrase) for phrase in dict.fromkeys(tuple(phrase) for phrase in cut if phrase)]

    def _asked(self, bank: str | None, phrases: Sequence[Sequence[str]]) -> tuple[str, str | None]:
        return words.query(phrases, rows.bank_word(bank) if bank is not None else ""), bank

    def _numbered(self, numbers: Sequence[int]) -> dict[int, Passage]:
        found = self._server.said(
            f"SELECT rowid, {rows.PASSAGE} FROM passage WHERE rowid = ANY (%s)", (list(numbers),)
        )
        return {row[0]: rows.passage_of(row[1:]) for row in found}


def _wanted(layers: Sequence[str], since: str, until: str) -> tuple[str, list[object]]:
    """Which candidates may be hits; the others only count."""
    parts, values = ["true"], list[object]()
    if layers:
        parts.append("m.kind = ANY (%s)")
        values.append([kind for kind, layer in LAYER_OF.items() if layer in layers])
    for condition, moment in (("m.time >= %s", since), ("m.time < %s", until)):
        if moment:
            parts.append(f"m.time <> '' AND {condition}")
            values.append(moment)
    return " AND ".join(parts), values


def _candidates(found: Sequence[Sequence[Any]]) -> Iterator[words.Candidate]:
    for number, own in groupby(found, key=itemgetter(0)):
        listed = list(own)
        hits = {
            lexeme: list(zip(positions, weights, strict=True))
            for _, _, _, lexeme, positions, weights in listed
            if positions
        }
        yield words.Candidate(number, listed[0][1], listed[0][2], hits)
