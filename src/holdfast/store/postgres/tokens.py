"""Tokens as the full-text index of SQLite has them, and the parameters of ranking by them.

SQLite itself makes the tokens, in memory, so that both stores find the same passages by the same
words. Ranking is BM25 as FTS5 computes it, but over the passages of the searched banks alone: the
ranks of one bank reveal nothing about another.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterable, Sequence
from typing import NamedTuple


class Bm25(NamedTuple):
    """The parameters of ranking; with others the order would differ from that of a file."""

    # As FTS5 has them built in.
    k1: float = 1.2
    b: float = 0.75
    # A term in the passage itself counts 1, one in the turn before it less, as in the SQLite store.
    context_weight: float = 0.4
    # The least weight of a term, however common it is, as in FTS5.
    min_term_weight: float = 1e-6


BM25 = Bm25()
_WEIGHTS = {"A": 1.0, "B": BM25.context_weight}
# Tokens that every passage has besides its text: its bank and its layer.
_SCOPE_TOKENS = 2
# PostgreSQL takes tokens of up to 2,046 bytes; a character has up to four.
_MAX_TOKEN_LENGTH = 500
# PostgreSQL takes a tsvector of up to 1 MB.
_MAX_VECTOR_BYTES = 900_000
# A longer phrase is searched by its beginning; `phrase_frequency` then checks the rest.
_MAX_PHRASE_TOKENS = 50
# The last position that a tsvector can hold.
_MAX_POSITION = 16_383

Hits = dict[str, list[tuple[int, str]]]


class Tokenizer:
    """SQLite's tokenizer; any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=8
        )
        self._memory.execute(
            "CREATE VIRTUAL TABLE said USING fts5 (text, "
            "tokenize = 'porter unicode61 remove_diacritics 2')"
        )
        self._memory.execute("CREATE VIRTUAL TABLE instance USING fts5vocab (said, 'instance')")

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text, in their order."""
        found = [list[str]() for _ in texts]
        with self._lock:
            self._memory.execute("BEGIN")
            try:
                self._memory.executemany(
                    "INSERT INTO said (rowid, text) VALUES (?, ?)", enumerate(texts, 1)
                )
                for number, term in self._memory.execute(
                    'SELECT doc, term FROM instance ORDER BY doc, "offset"'
                ):
                    found[int(number) - 1].append(term[:_MAX_TOKEN_LENGTH])
            finally:
                self._memory.execute("ROLLBACK")
        return found

    def close(self) -> None:
        self._memory.close()


def to_tsvector(bank: str, body: Sequence[str], context: Sequence[str]) -> tuple[str, int]:
    """The tokens of a passage as a `tsvector`, and how many it has. Tokens beyond the size that
    PostgreSQL takes are left out."""
    places: dict[str, list[str]] = {}
    used = 0
    # A gap keeps phrases from matching across the end of the body.
    marked = [(n, "A", token) for n, token in enumerate(body, 1)]
    marked += [(n, "B", token) for n, token in enumerate(context, len(body) + 3)]
    for place, column, token in marked:
        if token not in places:
            used += len(token.encode()) + 8
            if used > _MAX_VECTOR_BYTES:
                continue
            places[token] = []
        if len(places[token]) < 255:
            used += 4
            places[token].append(f"{min(place, _MAX_POSITION)}{column}")
    parts = [f"{_quoted(token)}:{','.join(at)}" for token, at in places.items()]
    return " ".join([_quoted(bank), *parts]), len(body) + len(context) + _SCOPE_TOKENS


def to_tsquery(phrases: Iterable[Sequence[str]], bank: str = "") -> str:
    """A `tsquery`: any of the phrases, within a bank if one is named."""
    parts = [
        "(" + " <-> ".join(f"{_quoted(token)}:AB" for token in phrase[:_MAX_PHRASE_TOKENS]) + ")"
        for phrase in phrases
    ]
    # As a balanced tree: PostgreSQL would nest a long list as deeply as it is long.
    while len(parts) > 1:
        pairs = [f"({' | '.join(parts[n : n + 2])})" for n in range(0, len(parts), 2)]
        parts = pairs
    return f"{_quoted(bank)} & {parts[0]}" if bank else parts[0]


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def phrase_frequency(hits: Hits, phrase: Sequence[str]) -> float:
    """How often a phrase occurs, weighted by where."""
    first = hits.get(phrase[0], ())
    if len(phrase) == 1:
        return sum(_WEIGHTS[column] for _, column in first)
    rest = [set(hits.get(token, ())) for token in phrase[1:]]
    return sum(
        _WEIGHTS[column]
        for place, column in first
        if all((place + n, column) in places for n, places in enumerate(rest, 1))
    )
