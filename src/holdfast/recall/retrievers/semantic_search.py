"""Semantic search with models: a vector per passage, a vector per token, a cross-encoder.

Needs NumPy, so it is loaded only when a search uses a model. The engine sees it as
`core.semantic_port.SemanticSearch`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from holdfast.function_words import language_of
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.inference.reranker import Reranker
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import Tokenizer
from holdfast.model.query import LAYER_BY_KIND, Layer, Passage
from holdfast.recall.core.candidates import PassageKey, ScoredPassage, passage_key
from holdfast.recall.core.parallel import RetrieverResult
from holdfast.recall.retrievers.vector_matrix import (
    ScanResult,
    VectorMatrix,
    rank_stored_vectors,
    read_vectors,
    row_products,
)
from holdfast.store.protocol import Reader

# In soft matching, tokens with a lower cosine do not match at all: lower, and long texts match
# everything a little.
MIN_SIMILARITY = 0.35
# The tokens of a text, and of one word of a query, that soft matching reads.
_MAX_TOKENS = 400
_MAX_TOKENS_PER_WORD = 8
# The vectors of the last queries are kept: one search asks for the same several times.
_MAX_QUERIES_CACHED = 32
# The tokens of the texts of the last searches are kept, because questions about one subject find
# the same: cutting long ones took a tenth of a search. They take about 3 kB each.
_MAX_PARTS_CACHED = 2000
Tokens = npt.NDArray[np.uint32]
_NO_TOKEN = np.zeros(1, np.uint32)


class SemanticModels(NamedTuple):
    """The models that are configured. `english_only` tells that the embedder knows no other
    language, `reranker_is_english` the same of the reranker, and `reranker_is_chosen` that the
    settings ask for one."""

    embedder: Embedder | None
    tokenizer: Tokenizer | None
    pieces: TokenVectors | None
    reranker: Reranker | None
    english_only: bool = False
    reranker_is_chosen: bool = False
    reranker_is_english: bool = False


class ModelSemanticSearch:
    """`SemanticSearch` over vectors in the store and a matrix file per bank in `folder`."""

    def __init__(self, folder: Path, parts: SemanticModels) -> None:
        self._folder = folder
        self._parts = parts
        self._matrices: dict[str, VectorMatrix] = {}
        self._queries: dict[str, Vectors] = {}
        self._tokens: dict[str, Tokens] = {}

    def reranks(self, query: str, thoroughly: bool) -> bool:
        parts = self._parts
        if parts.reranker is None or not (thoroughly or parts.reranker_is_chosen):
            return False
        return not parts.reranker_is_english or language_of(query).is_english

    @property
    def reranker_ships(self) -> bool:
        return self._parts.reranker_is_english

    def understands(self, query: str) -> bool:
        return not self._parts.english_only or language_of(query).is_english

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
        results: list[ScoredPassage] = []
        lowest = 0.0
        skipped = 0
        banks = [bank] if bank is not None else [known.id for known in reader.banks.all()]
        for one in banks:
            scanned = self._scan(reader, embedder, one, vector, limit)
            skipped += scanned.skipped
            found = _passages(reader, one, embedder.name, scanned, layers)
            if layers and len(scanned.best) == limit and len(found) < limit // 2:
                # Other layers crowd out the wanted ones: a bank has many turns and few commits.
                kinds = [kind for kind, layer in LAYER_BY_KIND.items() if layer in layers]
                scanned = self._scan(reader, embedder, one, vector, limit, kinds)
                found = _passages(reader, one, embedder.name, scanned, layers)
            if found:
                lowest = min(lowest, scanned.lowest) if results else scanned.lowest
            results += found
        results = _best_per_passage(results)[:limit]
        notes = [_damage_note(skipped), reader.vectors.problem() if banks else ""]
        return RetrieverResult(results, lowest, "; ".join(note for note in notes if note))

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
            stored = reader.vectors.of_hashes(bank, embedder.name, hashes)
            whole, own = read_vectors(stored, embedder.dimension)
            for one, score in zip(whole, row_products(own, vector).tolist(), strict=True):
                best[one.hash] = max(score, best.get(one.hash, -1.0))
            for passage in ours:
                if passage.hash in best:
                    found[passage_key(passage)] = best[passage.hash]
        return found

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        embedder = self._parts.embedder
        if embedder is None or not texts:
            return []
        found: list[float] = row_products(
            embedder.embed(texts), self._vector(embedder, query)
        ).tolist()
        return found

    def soft_coverage(
        self, weight: Mapping[str, float], texts: Sequence[Sequence[str]]
    ) -> list[float]:
        tokenizer, vectors = self._parts.tokenizer, self._parts.pieces
        asked = {} if tokenizer is None else _weigh_tokens(weight, tokenizer)
        if tokenizer is None or vectors is None or not asked or not texts:
            return [0.0] * len(texts)
        runs, of_text = _runs(texts, self._cut(tokenizer, texts))
        pieces = np.concatenate(runs)
        # As `np.unique` does it, without sorting.
        place_of = np.zeros(vectors.count, np.intp)
        place_of[pieces] = 1
        distinct = np.flatnonzero(place_of)
        alike = vectors.similarities(list(asked), distinct)
        matches = alike >= MIN_SIMILARITY
        # The places of those that match anything, from 1: most match nothing.
        any_match = matches.any(axis=0)
        place_of[distinct] = np.where(any_match, np.cumsum(any_match), 0)
        alike = np.where(matches, alike, np.float32(0))[:, any_match]
        by_run = _highest(alike, place_of[pieces] - 1, runs)
        nearest = _highest(by_run, np.fromiter(chain.from_iterable(of_text), np.intp), of_text)
        weights = np.array(list(asked.values()), np.float32)
        total = float(weights.sum()) or 1.0
        # By rounding, the product of a vector with itself can be a little more than 1.
        return [min(1.0, float(value) / total) for value in weights @ nearest]

    def _cut(self, tokenizer: Tokenizer, texts: Sequence[Sequence[str]]) -> dict[str, Tokens]:
        """The tokens of each part of some texts, as far as they are read."""
        parts = dict.fromkeys(chain.from_iterable(texts))
        known = self._tokens
        cut = {part: known[part] for part in parts if part in known}
        for part in parts.keys() - cut.keys():
            cut[part] = np.array(tokenizer.pieces(part, _MAX_TOKENS), np.uint32)
        if len(known) > _MAX_PARTS_CACHED:
            self._tokens = known = {}
        known |= cut
        return cut

    def rerank(
        self, query: str, texts: Iterable[str], deadline: float, tokens: int
    ) -> list[float] | None:
        reranker = self._parts.reranker
        return reranker.score(query, texts, deadline, tokens) if reranker is not None else None

    def _vector(self, embedder: Embedder, query: str) -> Vectors:
        known = self._queries.get(query)
        if known is None:
            if len(self._queries) >= _MAX_QUERIES_CACHED:
                self._queries.clear()
            known = self._queries[query] = embedder.embed([query])[0]
        return known

    def _scan(
        self,
        reader: Reader,
        embedder: Embedder,
        bank: str,
        vector: Vectors,
        limit: int,
        kinds: Sequence[str] = (),
    ) -> ScanResult:
        """The nearest vectors of a bank: from the store if it can search, else from the matrix."""
        asked = vector.astype("<f4").tobytes()
        named = reader.vectors.nearest(bank, embedder.name, asked, limit, kinds)
        if named is not None:
            return rank_stored_vectors(named, vector, limit)
        among = reader.vectors.numbers(bank, embedder.name, kinds) if kinds else None
        return self._matrix(embedder, bank).scan(reader, vector, limit, among)

    def _matrix(self, embedder: Embedder, bank: str) -> VectorMatrix:
        if bank not in self._matrices:
            self._matrices[bank] = VectorMatrix(
                self._folder, bank, embedder.name, embedder.dimension
            )
        return self._matrices[bank]


def _damage_note(skipped: int) -> str:
    if not skipped:
        return ""
    return f"damaged vectors were ignored: {skipped}; they will be computed again"


def _passages(
    reader: Reader, bank: str, model: str, scanned: ScanResult, layers: Sequence[Layer]
) -> list[ScoredPassage]:
    """The passages of the best vectors of a scan, of some layers or of all."""
    scores = dict(scanned.best)
    found = reader.vectors.passages(bank, model, list(scores))
    return [
        ScoredPassage(passage, scores[number])
        for number, passage in found
        if not layers or LAYER_BY_KIND[passage.kind] in layers
    ]


def _best_per_passage(results: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """Each passage once, with the score of its best part, best first."""
    best: dict[PassageKey, ScoredPassage] = {}
    for result in results:
        key = passage_key(result.passage)
        if key not in best or result.score > best[key].score:
            best[key] = result
    return sorted(best.values(), key=lambda result: (-result.score, passage_key(result.passage)))


def _runs(
    texts: Sequence[Sequence[str]], cut: Mapping[str, Tokens]
) -> tuple[list[Tokens], list[list[int]]]:
    """Runs of tokens that are compared with a query, and for each text the numbers of its runs. A
    run is a part of texts, so that what several have in common is compared once; a text of more
    than `_MAX_TOKENS` is a run of its own, as far as it is read."""
    runs: dict[Sequence[str], Tokens] = {}
    number: dict[Sequence[str], int] = {}
    of_text: list[list[int]] = []
    for text in texts:
        whole = sum(len(cut[part]) for part in text)
        own = (
            [(part,) for part in text if len(cut[part])] if whole <= _MAX_TOKENS else [tuple(text)]
        )
        for run in own or [()]:
            if run not in runs:
                number[run] = len(runs)
                tokens = [cut[part] for part in run]
                runs[run] = np.concatenate(tokens)[:_MAX_TOKENS] if tokens else _NO_TOKEN
        of_text.append([number[run] for run in own or [()]])
    return list(runs.values()), of_text


def _highest(
    values: Vectors, places: npt.NDArray[np.intp], groups: Sequence[Sequence[int] | Tokens]
) -> Vectors:
    """The highest of the values at some places in each row, for each group of places; 0 where all
    places of a group are below 0, and so name no value."""
    ends = np.cumsum([*map(len, groups)])
    there = np.flatnonzero(places >= 0)
    group = np.searchsorted(ends, there, side="right")
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    found = np.zeros((len(values), len(groups)), np.float32)
    if len(there):
        found[:, group[starts]] = np.maximum.reduceat(values[:, places[there]], starts, axis=1)
    return found


def _weigh_tokens(weight: Mapping[str, float], tokenizer: Tokenizer) -> dict[int, float]:
    tokens: dict[int, float] = {}
    for word, value in weight.items():
        for token in tokenizer.pieces(word, _MAX_TOKENS_PER_WORD):
            tokens[token] = max(value, tokens.get(token, 0.0))
    return tokens
