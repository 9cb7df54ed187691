"""Meaning by models: a vector per passage, a vector per piece of a word, a cross-encoder.

The only module of recall that needs NumPy; it is loaded when a question needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import PassageKey, ScoredPassage, passage_key
from holdfast.recall.core.parallel import RetrieverResult
from holdfast.recall.retrievers.vector_matrix import (
    ScanResult,
    VectorMatrix,
    rank_stored_vectors,
    read_vector,
)
from holdfast.store.protocol import Reader

Floats = npt.NDArray[np.float32]

# Two pieces of words less alike than this have nothing to do with each other.
NEAR = 0.35
_PIECES = 400
_REMEMBERED = 32


class Embedder(Protocol):
    """As much of an embedder as a question needs."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Floats: ...


class Tokenizer(Protocol):
    """As much of a tokenizer as soft matching needs."""

    def pieces(self, text: str, limit: int | None = None) -> list[int]: ...


class TokenVectors(Protocol):
    """The vectors of pieces."""

    def vectors(self, ids: Sequence[int]) -> Floats: ...


class Reranker(Protocol):
    """As much of a cross-encoder as a question needs."""

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None: ...


class SemanticModels(NamedTuple):
    """The models that there are."""

    embedder: Embedder | None
    tokenizer: Tokenizer | None
    pieces: TokenVectors | None
    reranker: Reranker | None


class ModelSemanticSearch:
    """Answers what `recall.meaning.Meaning` asks."""

    def __init__(self, folder: Path, parts: SemanticModels) -> None:
        self._folder = folder
        self._parts = parts
        self._matrices: dict[str, VectorMatrix] = {}
        self._queries: dict[str, Floats] = {}

    @property
    def has_reranker(self) -> bool:
        return self._parts.reranker is not None

    def nearest(
        self,
        reader: Reader,
        bank: str | None,
        query: str,
        limit: int,
        layers: Sequence[Layer] = (),
    ) -> RetrieverResult:
        embedder = self._parts.embedder
        if embedder is None:
            return RetrieverResult(())
        vector = self._vector(embedder, query)
        finds: list[ScoredPassage] = []
        lowest = 0.0
        skipped = 0
        banks = [bank] if bank is not None else [known.id for known in reader.banks()]
        for one in banks:
            scanned = self._scanned(reader, embedder, one, vector, limit)
            skipped += scanned.skipped
            found = _passages(reader, one, embedder.name, scanned, layers)
            if layers and len(scanned.best) == limit and len(found) < limit // 2:
                # Others crowd out what is wanted: a bank has many turns and few commits.
                kinds = [kind for kind, layer in LAYER_BY_KIND.items() if layer in layers]
                scanned = self._scanned(reader, embedder, one, vector, limit, kinds)
                found = _passages(reader, one, embedder.name, scanned, layers)
            if found:
                lowest = min(lowest, scanned.lowest) if finds else scanned.lowest
            finds += found
        finds = _best_part(finds)[:limit]
        return RetrieverResult(finds, lowest, _passed_over(skipped))

    def similarities(
        self, reader: Reader, query: str, passages: Sequence[Passage]
    ) -> dict[PassageKey, float]:
        embedder = self._parts.embedder
        if embedder is None:
            return {}
        vector = self._vector(embedder, query)
        found: dict[PassageKey, float] = {}
        for bank in {passage.bank for passage in passages}:
            ours = [passage for passage in passages if passage.bank == bank and passage.hash]
            hashes = list({passage.hash for passage in ours})
            best: dict[str, float] = {}
            for stored in reader.vectors_of(bank, embedder.name, hashes):
                own = read_vector(stored.data, embedder.dimension)
                if own is not None:
                    score = float(own @ vector)
                    best[stored.hash] = max(score, best.get(stored.hash, -1.0))
            for passage in ours:
                if passage.hash in best:
                    found[passage_key(passage)] = best[passage.hash]
        return found

    def soft_coverage(
        self, weight: Mapping[str, float], texts: Sequence[Sequence[str]]
    ) -> list[float]:
        tokenizer, vectors = self._parts.tokenizer, self._parts.pieces
        asked = {} if tokenizer is None else _weighed_pieces(weight, tokenizer)
        if tokenizer is None or vectors is None or not asked or not texts:
            return [0.0] * len(texts)
        cut = {part: tokenizer.pieces(part, _PIECES) for text in texts for part in text}
        held = [
            [*chain.from_iterable(cut[part] for part in text)][:_PIECES] or [0] for text in texts
        ]
        pieces = np.fromiter(chain.from_iterable(held), np.int64)
        distinct, place = np.unique(pieces, return_inverse=True)
        alike = vectors.vectors(list(asked)) @ vectors.vectors(distinct.tolist()).T
        alike[alike < NEAR] = 0.0
        starts = np.cumsum([0, *map(len, held[:-1])])
        nearest = np.maximum.reduceat(alike[:, place], starts, axis=1)
        weights = np.array(list(asked.values()), np.float32)
        total = float(weights.sum()) or 1.0
        # A product of a vector with itself can be a little more than 1.
        return [min(1.0, float(value) / total) for value in weights @ nearest]

    def rerank(
        self, query: str, texts: Iterable[str], deadline: float, tokens: int
    ) -> list[float] | None:
        reranker = self._parts.reranker
        return reranker.score(query, texts, deadline, tokens) if reranker is not None else None

    def _vector(self, embedder: Embedder, query: str) -> Floats:
        known = self._queries.get(query)
        if known is None:
            if len(self._queries) >= _REMEMBERED:
                self._queries.clear()
            known = self._queries[query] = embedder.embed([query])[0]
        return known

    def _scanned(
        self,
        reader: Reader,
        embedder: Embedder,
        bank: str,
        vector: Floats,
        limit: int,
        kinds: Sequence[str] = (),
    ) -> ScanResult:
        """The nearest of a bank: out of those that the store names, or of all in our matrix."""
        asked = vector.astype("<f4").tobytes()
        named = reader.nearest_vectors(bank, embedder.name, asked, limit, kinds)
        if named is not None:
            return rank_stored_vectors(named, vector, limit)
        among = reader.vector_numbers(bank, embedder.name, kinds) if kinds else None
        return self._matrix(embedder, bank).scan(reader, vector, limit, among)

    def _matrix(self, embedder: Embedder, bank: str) -> VectorMatrix:
        if bank not in self._matrices:
            self._matrices[bank] = VectorMatrix(
                self._folder, bank, embedder.name, embedder.dimension
            )
        return self._matrices[bank]


def _passed_over(skipped: int) -> str:
    if not skipped:
        return ""
    return f"damaged vectors were passed over: {skipped}; the next embedding makes them anew"


def _passages(
    reader: Reader, bank: str, model: str, scanned: ScanResult, layers: Sequence[Layer]
) -> list[ScoredPassage]:
    """What the best of a scan stand for, as far as it is wanted."""
    scores = dict(scanned.best)
    found = reader.passages_of(bank, model, list(scores))
    return [
        ScoredPassage(passage, scores[number])
        for number, passage in found
        if not layers or LAYER_BY_KIND[passage.kind] in layers
    ]


def _best_part(finds: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """A passage of several parts stands where its best part stands."""
    best: dict[PassageKey, ScoredPassage] = {}
    for find in finds:
        key = passage_key(find.passage)
        if key not in best or find.score > best[key].score:
            best[key] = find
    return sorted(best.values(), key=lambda find: (-find.score, passage_key(find.passage)))


def _weighed_pieces(weight: Mapping[str, float], tokenizer: Tokenizer) -> dict[int, float]:
    pieces: dict[int, float] = {}
    for word, value in weight.items():
        for piece in tokenizer.pieces(word, 8):
            pieces[piece] = max(value, pieces.get(piece, 0.0))
    return pieces
