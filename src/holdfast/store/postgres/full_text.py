"""Search by words in a memory on a server, over PostgreSQL's text search, ranked as FTS5 does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from holdfast.model.query import LAYER_BY_KIND, Passage
from holdfast.store.index.passages import LayerLimit, Match, NumberedPassage
from holdfast.store.postgres import tokens
from holdfast.store.postgres.connection import PostgresConnection
from holdfast.store.sql import rows
from holdfast.store.sql.statements import insert
from holdfast.word_forms import is_piece, is_start, phrase_parts

_COLUMNS = ", ".join(f"passage.{name}" for name in rows.PASSAGE.split(", "))
# All passages that have any of the words count for the weights of terms; those that are wanted are
# ranked, by BM25 as FTS5 computes it. Phrases are counted before, under names that no word has.
_RANKED = f"""WITH candidate AS MATERIALIZED (
    SELECT m.number, m.length, {{wanted}} AS wanted, m.words
    FROM matching_passages(%s::tsquery, %s) AS m
), hit AS MATERIALIZED (
    SELECT c.number, u.lexeme AS term, cardinality(array_positions(u.weights, 'A'))
        + {tokens.BM25.context_weight} * cardinality(array_positions(u.weights, 'B')) AS often
    FROM candidate AS c CROSS JOIN LATERAL unnest(c.words) AS u WHERE u.lexeme = ANY (%s)
    UNION ALL SELECT * FROM unnest(%s::bigint[], %s::text[], %s::float8[])
), total AS (
    SELECT greatest(coalesce(sum(passages), 0), 1)::float8 AS passages,
        greatest(coalesce(sum(words), 0), 1)::float8 AS words
    FROM passage_statistics WHERE %s::text IS NULL OR bank = %s
), weight AS MATERIALIZED (
    SELECT term, greatest(ln(greatest(min(passages) - count(*) + 0.5, 1e-9) / (count(*) + 0.5)),
        {tokens.BM25.min_term_weight}) AS rarity
    FROM hit CROSS JOIN total GROUP BY term
), best AS (
    SELECT number, sum(rarity * often * ({tokens.BM25.k1} + 1)
        / (often + {tokens.BM25.k1} * (1 - {tokens.BM25.b}
        + {tokens.BM25.b} * length * passages / total.words))) AS score
    FROM hit JOIN weight USING (term) JOIN candidate USING (number) CROSS JOIN total
    WHERE wanted AND often > 0 GROUP BY number ORDER BY score DESC, number LIMIT %s
)
SELECT {_COLUMNS}, best.score FROM best JOIN passage ON passage.number = best.number{{in_bank}}
ORDER BY score DESC, best.number
"""
# Names the bank once more, so that a partitioned table is read in one partition.
_IN_BANK = " AND passage.bank = %s"
_PHRASE_TOKENS = (
    "SELECT m.number, u.lexeme, u.positions, u.weights FROM matching_passages(%s::tsquery, %s) "
    "AS m "
    "CROSS JOIN LATERAL unnest(m.words) AS u "
    "WHERE u.lexeme = ANY (%s::text[]) OR u.lexeme ^@ ANY (%s::text[]) ORDER BY m.number"
)
_COUNT = "SELECT count(*) FROM (SELECT 1 FROM matching_passages(%s::tsquery, %s) LIMIT %s) AS found"

_WRONG_STATISTICS = (
    "SELECT count(*) FROM (SELECT bank, count(*) AS passages, sum(length) AS words FROM passage "
    "GROUP BY bank) AS held FULL JOIN passage_statistics USING (bank) "
    "WHERE coalesce(held.passages, 0) <> passage_statistics.passages OR coalesce(held.words, 0) "
    "<> passage_statistics.words OR passage_statistics.bank IS NULL"
)


class PostgresFullText:
    """The columns `words` and `length` of passages, and the counts of words a bank."""

    def __init__(self, server: PostgresConnection, tokenizer: tokens.Tokenizer) -> None:
        self._server = server
        self._tokens = tokenizer

    def search(
        self,
        bank: str | None,
        terms: Sequence[str],
        wanted: Sequence[LayerLimit],
        since: str,
        until: str,
    ) -> list[list[Match]]:
        return [self._search(bank, terms, *one, since, until) for one in wanted]

    def _search(
        self,
        bank: str | None,
        terms: Sequence[str],
        layers: Sequence[str],
        limit: int,
        since: str,
        until: str,
    ) -> list[Match]:
        phrases = self._phrases(terms)
        if not phrases:
            return []
        wanted, values = _hit_condition(layers, since, until)
        single = [phrase.tokens[0] for phrase in phrases if phrase.is_word]
        found = self._server.query(
            _RANKED.format(wanted=wanted, in_bank="" if bank is None else _IN_BANK),
            (
                *(*values, *self._query_values(bank, phrases), single),
                *self._count_phrases(bank, [phrase for phrase in phrases if not phrase.is_word]),
                *(bank, bank, limit, *(() if bank is None else (bank,))),
            ),
        )
        return [Match(rows.passage_of(row[:-1]), row[-1]) for row in found]

    def _count_phrases(
        self, bank: str | None, phrases: Sequence[tokens.Phrase]
    ) -> tuple[list[int], list[str], list[float]]:
        """How often each passage has each phrase: numbers, phrases and weights."""
        if not phrases:
            return [], [], []
        by_first: dict[str, list[tokens.Phrase]] = {}
        for phrase in phrases:
            if not phrase.is_start:
                by_first.setdefault(phrase.tokens[0], []).append(phrase)
        starts = [phrase for phrase in phrases if phrase.is_start]
        words = sorted({one for same in by_first.values() for it in same for one in it.tokens})
        beginnings = sorted({phrase.tokens[0] for phrase in starts})
        # One query for all of them: a question has a dozen.
        values = (*self._query_values(bank, phrases), words, beginnings)
        counted: list[tuple[int, str, float]] = []
        for number, own in groupby(self._server.query(_PHRASE_TOKENS, values), key=itemgetter(0)):
            hits = {lexeme: list(zip(at, how, strict=True)) for _, lexeme, at, how in own}
            possible = [phrase for lexeme in hits for phrase in by_first.get(lexeme, ())]
            for phrase in (*possible, *starts):
                often = tokens.phrase_frequency(hits, phrase)
                if often:
                    counted.append((number, phrase.name, often))
        return (
            [number for number, _, _ in counted],
            [phrase for _, phrase, _ in counted],
            [often for _, _, often in counted],
        )

    def term_frequencies(self, bank: str | None, terms: Sequence[str], most: int) -> list[int]:
        return [self._count(bank, self._phrases([term]), most) for term in terms]

    def _count(self, bank: str | None, phrases: Sequence[tokens.Phrase], most: int) -> int:
        if not phrases:
            return 0
        ((count,),) = self._server.query(_COUNT, (*self._query_values(bank, phrases), most))
        return int(count)

    def add(self, passages: Sequence[Passage]) -> None:
        texts = [(rows.text(p.body), rows.text(p.context)) for p in passages]
        cut = tokens.passage_tokens(self._tokens, texts)
        self._server.run_many(
            insert("passage", f"{rows.PASSAGE}, scope, words, length"),
            [
                (
                    *rows.passage_row(passage),
                    *tokens.to_tsvector(rows.bank_word(passage.bank), cut[n]),
                )
                for n, passage in enumerate(passages)
            ],
        )

    def add_parts(self, bank: str, passages: Sequence[NumberedPassage]) -> None:
        cut = tokens.passage_tokens(self._tokens, [(p.body, p.context) for p in passages])
        self._server.run_many(
            "UPDATE passage SET words = CAST(? AS tsvector) WHERE bank = ? AND number = ?",
            [
                (tokens.to_tsvector(p.scope.partition(" ")[0], own)[0], bank, p.number)
                for own, p in zip(cut, passages, strict=True)
                if own.body_parts or own.context_parts
            ],
        )

    def rebuild(self) -> None:
        """Count passages and words again. The server keeps its indexes itself."""
        self._server.run("DELETE FROM passage_statistics")
        self._server.run(
            "INSERT INTO passage_statistics SELECT bank, count(*), sum(length) FROM passage "
            "GROUP BY bank"
        )

    def faults(self) -> list[str]:
        ((wrong,),) = self._server.query(_WRONG_STATISTICS)
        return ["the counts of words do not match the passages"] if wrong else []

    def _phrases(self, terms: Sequence[str]) -> list[tokens.Phrase]:
        """The terms as tokens, each once; a term of several words is a phrase. Every term is looked
        for among the parts of words, and among whole words unless it can only be a part."""
        clean = [rows.text(term).replace("\x00", " ") for term in terms]
        clean = [term for term in clean if any(c.isalnum() for c in term)]
        whole = [term for term in clean if not is_piece(term)]
        cut = self._tokens.tokenize(whole)
        found = [
            tokens.Phrase(tuple(own), is_start=is_start(term))
            for term, own in zip(whole, cut, strict=True)
        ]
        parts = self._tokens.tokenize_parts([phrase_parts(term) for term in clean])
        found += (
            tokens.Phrase(tuple(own), tokens.PART_COLUMNS, is_start(term))
            for term, own in zip(clean, parts, strict=True)
        )
        return list(dict.fromkeys(phrase for phrase in found if phrase.tokens))

    def _query_values(
        self, bank: str | None, phrases: Sequence[tokens.Phrase]
    ) -> tuple[str, str | None]:
        return tokens.to_tsquery(phrases, rows.bank_word(bank) if bank is not None else ""), bank


def _hit_condition(layers: Sequence[str], since: str, until: str) -> tuple[str, list[object]]:
    """The condition that a candidate is a hit; the others only count for the weights of terms."""
    parts, values = ["true"], list[object]()
    if layers:
        parts.append("m.kind = ANY (%s)")
        values.append([kind for kind, layer in LAYER_BY_KIND.items() if layer in layers])
    for condition, moment in (("m.time >= %s", since), ("m.time < %s", until)):
        if moment:
            parts.append(f"m.time <> '' AND {condition}")
            values.append(moment)
    return " AND ".join(parts), values
