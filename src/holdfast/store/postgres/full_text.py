"""Search by words in a memory on a server, over a `tsvector` of each passage, ranked by BM25.

A word is a run of letters, marks and digits, folded and stemmed in English. The index has the words
of the body (A) and of the context (B), and the parts of these words (C, D). How often a passage has
a word is taken from `ts_rank` (migration 10). The weights of words are those of the searched banks
alone: the ranks of one reveal nothing about another.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from itertools import chain
from unicodedata import category, normalize

from Stemmer import Stemmer

from holdfast.model.query import LAYER_BY_KIND, Passage
from holdfast.store.index.passages import LayerLimit, Match, NumberedPassage
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.sql import rows
from holdfast.store.sql.statements import batches
from holdfast.store.sql.table import PASSAGE
from holdfast.word_forms import fold_marks, index_parts, is_piece, is_start, phrase_parts

# PostgreSQL takes words of up to 2,046 bytes, and a character has up to four; a tsvector of up to
# 1 MB; and positions up to this one.
_MAX_WORD_LENGTH = 500
_MAX_VECTOR_BYTES = 900_000
_MAX_POSITION = 16_383
# A longer phrase is searched by its beginning.
_MAX_PHRASE_WORDS = 50
# Words that every passage has besides its text, for the statistics: its bank and its layer.
_SCOPE_WORDS = 2
# Passages that are written in one statement.
_ADDED_ROWS = 200
# BM25 with the constants of SQLite's FTS5.
_SEARCH = f"""WITH hit AS MATERIALIZED (
    SELECT term, number, kind, time, length, often FROM word_hits(%s::tsquery[], %s, %s, NULL)
), total AS (
    SELECT greatest(coalesce(sum(passages), 0), 1)::float8 AS passages,
        greatest(coalesce(sum(words), 0), 1)::float8 AS words
    FROM passage_statistics WHERE %s::text IS NULL OR bank = %s
), weight AS (
    SELECT term, greatest(ln(greatest(min(passages) - count(*) + 0.5, 1e-9) / (count(*) + 0.5)),
        1e-6) AS rarity FROM hit CROSS JOIN total GROUP BY term
), scored AS MATERIALIZED (
    SELECT number, kind, sum(rarity * often * 2.2 / (often + 1.2 * (0.25
        + 0.75 * length * passages / words))) AS score
    FROM hit JOIN weight USING (term) CROSS JOIN total WHERE {{time}} GROUP BY number, kind
), best AS (
    SELECT place, number, score FROM unnest(%s::text[], %s::bigint[]) WITH ORDINALITY
        AS wanted (kinds, most, place) CROSS JOIN LATERAL (SELECT number, score FROM scored
        WHERE wanted.kinds = '' OR kind = ANY (string_to_array(wanted.kinds, ' '))
        ORDER BY score DESC, number LIMIT wanted.most) AS first
)
SELECT place, score, {PASSAGE.of("passage")} FROM best JOIN passage
    ON passage.number = best.number{{in_bank}} ORDER BY place, score DESC, best.number
"""
_COUNT = "SELECT term, count(*) FROM word_hits(%s::tsquery[], %s, %s, %s) GROUP BY term"
_COUNT_WORDS = "SELECT bank, count(*), sum(length) FROM passage GROUP BY bank"
_WRONG_STATISTICS = (
    f"SELECT count(*) FROM ({_COUNT_WORDS}) AS held (bank, passages, words) "
    "FULL JOIN passage_statistics AS s USING (bank) "
    "WHERE (held.passages, held.words) IS DISTINCT FROM (s.passages, s.words) "
    "AND coalesce(held.passages, s.passages) > 0"
)

_stemmer, _stemming = Stemmer("porter"), threading.Lock()


class _Separators(dict[int, int]):
    """Every character that is in no word becomes a space."""

    def __missing__(self, code: int) -> int:
        kept = chr(code).isalnum() or category(chr(code)).startswith("M")
        self[code] = code if kept else 32
        return self[code]


_separators = _Separators()


def words(text: str) -> list[str]:
    """The words of a text as the index has them, in their order."""
    if not text.isascii():
        text = normalize("NFKC", text)
    found = text.lower().translate(_separators).split()
    found = [word if word.isascii() or is_piece(word) else fold_marks(word) for word in found]
    with _stemming:
        return [word[:_MAX_WORD_LENGTH] for word in _stemmer.stemWords(found) if word]


def to_tsvector(bank: str, body: str, context: str) -> tuple[str, int]:
    """The words of a passage as a `tsvector`, and how many it has without parts. Words beyond the
    size that PostgreSQL takes are left out."""
    columns = [words(body), words(context), words(index_parts(body)), words(index_parts(context))]
    length = len(columns[0]) + len(columns[1]) + _SCOPE_WORDS
    parts, known, place, size = [rows.bank_word(bank)], set[str](), 0, 0
    for weight, column in zip("ABCD", columns, strict=True):
        for word in column:
            place += 1
            size += 4 if word in known else 12 + len(word.encode())
            if size > _MAX_VECTOR_BYTES:
                return " ".join(parts), length
            known.add(word)
            parts.append(f"{word}:{min(place, _MAX_POSITION)}{weight}")
        # A gap keeps phrases from matching across the end of a column.
        place += 2
    return " ".join(parts), length


def to_tsquery(term: str) -> str:
    """A term as a `tsquery`; "" for one without words."""
    term = rows.text(term)
    found = words(phrase_parts(term) if is_piece(term) else term)[:_MAX_PHRASE_WORDS]
    return f"{found[0]}:*" if found and is_start(term) else " <-> ".join(found)


class PostgresFullText:
    """The columns `words` and `length` of passages, and the counts of words a bank."""

    def __init__(self, server: PostgresConnection) -> None:
        self._server = server

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str,
        until: str,
    ) -> list[list[Match]]:
        matches: list[list[Match]] = [[] for _ in wanted]
        queries = list(dict.fromkeys(query for t in terms if (query := to_tsquery(t))))
        if not queries:
            return matches
        times = [("time >= %s", since)] * bool(since) + [("time < %s", until)] * bool(until)
        kinds = [
            " ".join(kind for kind, layer in LAYER_BY_KIND.items() if layer in one.layers) or "-"
            if one.layers
            else ""
            for one in wanted
        ]
        home = bank and rows.bank_word(bank)
        statement = _SEARCH.format(
            time=" AND ".join(["time <> ''", *(one for one, _ in times)]) if times else "true",
            # Names the bank once more, so that a table is read in one partition.
            in_bank="" if bank is None else " AND passage.bank = %s",
        )
        values: list[object] = [
            queries,
            bank,
            home,
            bank,
            bank,
            *(moment for _, moment in times),
            kinds,
        ]
        values += [[one.limit for one in wanted], *([] if bank is None else [bank])]
        for place, score, *row in self._server.query(statement, values):
            matches[int(place) - 1].append(Match(PASSAGE.record(row), score))
        return matches

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        queries = [to_tsquery(term) for term in terms]
        known = list(dict.fromkeys(query for query in queries if query))
        counts = dict(
            self._server.query(_COUNT, (known, bank, bank and rows.bank_word(bank), most))
        )
        return [counts.get(known.index(query) + 1, 0) if query else 0 for query in queries]

    def add(self, passages: Sequence[Passage]) -> None:
        columns = f"{PASSAGE.columns}, scope, words, length"
        row = f"({', '.join(['%s'] * (columns.count(',') + 1))})"
        # Many in one statement, because its triggers count them once.
        for some in batches(passages, _ADDED_ROWS):
            values = [
                (*PASSAGE.row(p), rows.index_scope(p), *_indexed(p.bank, p.body, p.context))
                for p in some
            ]
            self._server.query(
                f"INSERT INTO passage ({columns}) VALUES {', '.join([row] * len(some))}",
                [*chain.from_iterable(values)],
            )

    def add_parts(self, bank: str, passages: Sequence[NumberedPassage]) -> None:
        self._server.run_many(
            "UPDATE passage SET words = CAST(? AS tsvector) WHERE bank = ? AND number = ?",
            [(_indexed(bank, p.body, p.context)[0], bank, p.number) for p in passages],
        )

    def rebuild(self) -> None:
        """Count passages and words again. The server keeps its indexes itself."""
        self._server.run("DELETE FROM passage_statistics")
        self._server.run(f"INSERT INTO passage_statistics {_COUNT_WORDS}")

    def faults(self) -> list[str]:
        ((wrong,),) = self._server.query(_WRONG_STATISTICS)
        return ["the counts of words do not match the passages"] if wrong else []


def _indexed(bank: str, body: str, context: str) -> tuple[str, int]:
    return to_tsvector(bank, rows.text(body), rows.text(context))
