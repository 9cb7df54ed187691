"""The recipe that the cross-encoder's own figures were measured by, apart from the product.

Texts: `a` is "speaker: text", in units of 1,200 characters; `c` the same after its date and, for
short ones, the turn before. First stage: BM25 over both and the mean cosine of both, half and
half, and a tenth of each neighbour. The cross-encoder then reads `c` of the best.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.app.memory import Holdfast
from holdfast.inference.embedder import Embedder
from holdfast.inference.reranker import Reranker
from holdfast.language import STOPWORDS, words
from holdfast.model.records import Role, Turn
from holdfast.refine.core.passages import tool_text
from holdfast.refine.sessions.embedding import split_text

Floats = npt.NDArray[np.float32]

DEPTH = 50
NEIGHBOUR = 0.10
SHARE = 0.7
_SHORT = 400
_BEFORE = 300
_EVERY = 1_000_000


class Unit(NamedTuple):
    """A piece of a turn: the turn's name, its session's, and both texts."""

    ref: str
    session: str
    alone: str
    placed: str


class Units:
    """All pieces of a bank, to be searched exactly."""

    def __init__(self, units: Sequence[Unit], embedder: Embedder) -> None:
        self.units = units
        self._embedder = embedder
        texts = [text for unit in units for text in (unit.alone, unit.placed)]
        vectors = embedder.embed(texts)
        self._vectors: Floats = np.float32(0.5) * (vectors[::2] + vectors[1::2])
        self._alone = _index([unit.alone for unit in units])
        self._placed = _index([unit.placed for unit in units])
        sessions = [unit.session for unit in units]
        follows = [False, *(one == next for one, next in pairwise(sessions))]
        self._follows = np.array(follows)

    def first_stage(self, question: str) -> Floats:
        """The fused score of every unit."""
        told = [word for word in words(question) if word not in STOPWORDS] or words(question)
        wanted = " OR ".join(f'"{word}"' for word in dict.fromkeys(told)) or '""'
        found = self._bm25(self._alone, wanted) + self._bm25(self._placed, wanted)
        near: Floats = self._vectors @ self._embedder.embed([question])[0]
        score: Floats = (scaled(found) + scaled(near)) / np.float32(2)
        beside: Floats = np.zeros(len(score), np.float32)
        beside[1:] += np.where(self._follows[1:], score[:-1], 0)
        beside[:-1] += np.where(self._follows[1:], score[1:], 0)
        return (score + NEIGHBOUR * beside).astype(np.float32)

    def reranked(self, question: str, score: Floats, reranker: Reranker) -> Floats:
        """The same, the best of it judged again and set above the rest."""
        best = in_order(score)[:DEPTH]
        judged = reranker.score(question, [self.units[n].placed for n in best])
        assert judged is not None
        mixed = score - score.max() - 1
        own, read = scaled(score[best]), scaled(np.array(judged, np.float32))
        mixed[best] = (1 - SHARE) * own + SHARE * read
        return mixed

    def ranked(self, score: Floats) -> tuple[list[str], list[str]]:
        """The turns and the sessions in order, each by its best unit."""
        order = in_order(score)
        turns = dict.fromkeys(self.units[n].ref for n in order)
        sessions = dict.fromkeys(self.units[n].session for n in order)
        return list(turns), list(sessions)

    def _bm25(self, index: sqlite3.Connection, wanted: str) -> Floats:
        scores = np.zeros(len(self.units), np.float32)
        asked = "SELECT rowid, bm25(unit) FROM unit WHERE unit MATCH ?"
        for number, score in index.execute(asked, (wanted,)):
            scores[number] = -score
        return scores


def scaled(values: Floats) -> Floats:
    """From 0 to 1."""
    lowest, highest = values.min(), values.max()
    return (values - lowest) / (highest - lowest + 1e-9)


def in_order(score: Floats) -> list[int]:
    """The numbers of the units, best first."""
    return [int(number) for number in np.argsort(-score, kind="stable")]


def units_of(memory: Holdfast, bank: str) -> list[Unit]:
    """Every turn of a bank in units, session by session."""
    reader, id = memory.reader, memory.context.bank_id(bank) or ""
    found: list[Unit] = []
    for session in sorted(reader.sessions.latest(id, _EVERY), key=lambda s: (s.started, s.id)):
        before = ""
        for turn in reader.turns.stream(session.bank, session.id):
            said = _said(turn)
            day = f"[{_day(turn.time)}] " if turn.time else ""
            for part in split_text(said):
                kept = before if len(part) <= _SHORT and len(before) <= _BEFORE else ""
                placed = f"{day}{f'{kept} ' if kept else ''}{part}"
                found.append(Unit(turn.origin.ref or turn.id, session.host, part, placed))
            before = said if turn.role is not Role.TOOL else before
    return found


def _said(turn: Turn) -> str:
    if turn.tool is not None:
        return tool_text(turn.tool)
    return f"{turn.speaker or turn.role.value}: {turn.text}"


def _day(time: str) -> str:
    moment = datetime.fromisoformat(time)
    return f"{moment.day} {moment:%B %Y}"


def _index(texts: Sequence[str]) -> sqlite3.Connection:
    index = sqlite3.connect(":memory:")
    index.execute(
        "CREATE VIRTUAL TABLE unit USING fts5 "
        "(text, tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    index.executemany("INSERT INTO unit (rowid, text) VALUES (?, ?)", enumerate(texts))
    return index
