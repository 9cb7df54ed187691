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

from holdfast.word_forms import index_parts


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
# The columns of a passage: its body and context, and the parts of their words.
WORD_COLUMNS, PART_COLUMNS = "AB", "CD"
_WEIGHTS = {"A": 1.0, "B": BM25.context_weight, "C": 1.0, "D": BM25.context_weight}
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


# As in the tables `passage_fts` and `passage_fts_parts`.
_TOKENIZER = "porter unicode61 remove_diacritics 2"
_PART_TOKENIZER = f"{_TOKENIZER} categories 'L* M* N* Co'"


class Phrase(NamedTuple):
    """What is looked for: tokens in a row, in the words of passages or in the parts of these. With
    `is_start`, a word that begins with its one token."""

    tokens: tuple[str, ...]
    columns: str = WORD_COLUMNS
    is_start: bool = False

    @property
    def name(self) -> str:
        """What it is counted under, which no single word is."""
        return f"{self.columns} {' '.join(self.tokens)}{'*' * self.is_start}"

    @property
    def is_word(self) -> bool:
        """Whether it is one whole word."""
        return len(self.tokens) == 1 and not self.is_start and self.columns == WORD_COLUMNS


class Tokenizer:
    """SQLite's tokenizers of words and of their parts; any thread may use them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._memory = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=8
        )
        for table, tokenizer in (("said", _TOKENIZER), ("parts", _PART_TOKENIZER)):
            self._memory.execute(
                f'CREATE VIRTUAL TABLE {table} USING fts5 (text, tokenize = "{tokenizer}")'
            )
            self._memory.execute(
                f"CREATE VIRTUAL TABLE {table}_instance USING fts5vocab ({table}, 'instance')"
            )

    def tokenize(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text, in their order."""
        return self._tokenize("said", texts)

    def tokenize_parts(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of texts that consist of parts of words."""
        return self._tokenize("parts", texts)

    def _tokenize(self, table: str, texts: Sequence[str]) -> list[list[str]]:
        found = [list[str]() for _ in texts]
        if not any(texts):
            return found
        with self._lock:
            self._memory.execute("BEGIN")
            try:
                self._memory.executemany(
                    f"INSERT INTO {table} (rowid, text) VALUES (?, ?)", enumerate(texts, 1)
                )
                for number, term in self._memory.execute(
                    f'SELECT doc, term FROM {table}_instance ORDER BY doc, "offset"'
                ):
                    found[int(number) - 1].append(term[:_MAX_TOKEN_LENGTH])
            finally:
                self._memory.execute("ROLLBACK")
        return found

    def close(self) -> None:
        self._memory.close()


class PassageTokens(NamedTuple):
    """The tokens of a passage's body and context, and of the parts of their words."""

    body: Sequence[str]
    context: Sequence[str]
    body_parts: Sequence[str] = ()
    context_parts: Sequence[str] = ()


def passage_tokens(tokenizer: Tokenizer, texts: Sequence[tuple[str, str]]) -> list[PassageTokens]:
    """The tokens of passages, given by body and context."""
    flat = [text for passage in texts for text in passage]
    whole = tokenizer.tokenize(flat)
    parts = tokenizer.tokenize_parts([index_parts(text) for text in flat])
    return [
        PassageTokens(*whole[2 * n : 2 * n + 2], *parts[2 * n : 2 * n + 2])
        for n in range(len(texts))
    ]


def to_tsvector(bank: str, cut: PassageTokens) -> tuple[str, int]:
    """The tokens of a passage as a `tsvector`, and how many words it has. Tokens beyond the size
    that PostgreSQL takes are left out."""
    columns = zip((*WORD_COLUMNS, *PART_COLUMNS), cut, strict=True)
    length = len(cut.body) + len(cut.context) + _SCOPE_TOKENS
    return " ".join([_quoted(bank), *_lexemes(columns)]), length


def _lexemes(columns: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    places: dict[str, list[str]] = {}
    used = place = 0
    for column, tokens in columns:
        for token in tokens:
            place += 1
            if token not in places:
                used += len(token.encode()) + 8
                if used > _MAX_VECTOR_BYTES:
                    continue
                places[token] = []
            if len(places[token]) < 255:
                used += 4
                places[token].append(f"{min(place, _MAX_POSITION)}{column}")
        # A gap keeps phrases from matching across the end of a column.
        place += 2
    return [f"{_quoted(token)}:{','.join(at)}" for token, at in places.items()]


def to_tsquery(phrases: Iterable[Phrase], bank: str = "") -> str:
    """A `tsquery`: any of the phrases, within a bank if one is named."""
    parts = ["(" + " <-> ".join(_query_tokens(phrase)) + ")" for phrase in phrases]
    # As a balanced tree: PostgreSQL would nest a long list as deeply as it is long.
    while len(parts) > 1:
        pairs = [f"({' | '.join(parts[n : n + 2])})" for n in range(0, len(parts), 2)]
        parts = pairs
    return f"{_quoted(bank)} & {parts[0]}" if bank else parts[0]


def _query_tokens(phrase: Phrase) -> list[str]:
    star = "*" if phrase.is_start else ""
    some = phrase.tokens[:_MAX_PHRASE_TOKENS]
    return [f"{_quoted(token)}:{star}{phrase.columns}" for token in some]


def _quoted(token: str) -> str:
    return "'" + token.replace("\\", "\\\\").replace("'", "''") + "'"


def phrase_frequency(hits: Hits, phrase: Phrase) -> float:
    """How often a phrase occurs, weighted by where."""
    if phrase.is_start:
        words = [word for word in hits if word.startswith(phrase.tokens[0])]
        found = [column for word in words for _, column in hits[word]]
        return sum(_WEIGHTS[column] for column in found if column in phrase.columns)
    first = [hit for hit in hits.get(phrase.tokens[0], ()) if hit[1] in phrase.columns]
    rest = [set(hits.get(token, ())) for token in phrase.tokens[1:]]
    return sum(
        _WEIGHTS[column]
        for place, column in first
        if all((place + n, column) in places for n, places in enumerate(rest, 1))
    )
