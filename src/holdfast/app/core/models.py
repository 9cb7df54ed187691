"""Opens the models of the settings. Imported only when a query or an embedding needs them: NumPy
and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from holdfast.errors import HoldfastError, ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.inference.reranker import Reranker
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.learn.existing_rules import Similarity
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, remove_stale_files
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.refine.sessions.embedding import EmbeddingWorkers, embed_pending
from holdfast.settings import Settings
from holdfast.store.protocol import Store


class _ModelCache:
    """The opened models, shared by all threads of a process: they have no state, and one copy per
    thread would need several times the memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cached: tuple[Settings, SemanticModels] | None = None

    def get(self, settings: Settings) -> SemanticModels:
        settings = _model_settings(settings)  # the same models for everybody
        with self._lock:
            if self._cached is not None and self._cached[0] == settings:
                return self._cached[1]
            models = _open_models(settings)
            if not isinstance(models.reranker, _FailingReranker):  # a failure is not cached
                self._cached = settings, models
            return models


class _FailingReranker:
    """Stands in for a reranker that cannot be opened. Retrieval works without it, and the search
    reports the error."""

    def __init__(self, error: HoldfastError) -> None:
        self._error = error

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        raise ModelError(self._error.full_text, self._error.remedy)


def _model_settings(settings: Settings) -> Settings:
    """Only those settings that choose models."""
    return Settings(
        Path(),
        Path(),
        embed_model=settings.embed_model,
        embed_endpoint=settings.embed_endpoint,
        embed_endpoint_model=settings.embed_endpoint_model,
        embed_api_key_env=settings.embed_api_key_env,
        embed_api_key=settings.embed_api_key,
        rerank_model=settings.rerank_model,
    )


_models = _ModelCache()


def load_semantic_search(settings: Settings) -> ModelSemanticSearch:
    """The semantic search of these settings."""
    return ModelSemanticSearch(settings.vectors, _models.get(settings))


def _open_models(settings: Settings) -> SemanticModels:
    try:
        reranker: Reranker | None = choose_reranker(settings)
    except HoldfastError as error:
        reranker = _FailingReranker(error)
    tokenizer, vectors = open_tokenizer(packaged.TOKENIZER), TokenVectors(packaged.EMBEDDER)
    return SemanticModels(choose_embedder(settings), tokenizer, vectors, reranker)


def open_embedder(settings: Settings, threads: int | None = None) -> Embedder | None:
    """The embedding model for many texts, with a thread for each core if none are given; None if
    the settings disable it."""
    return choose_embedder(settings, threads=threads or os.cpu_count() or 1)


def embed(
    store: Store,
    settings: Settings,
    embedder: Embedder | None,
    turns_for: float | None,
    on_progress: Callable[[int, int], None],
    executor: Executor | None = None,
) -> int:
    """Embed the passages that have no vector: first all summaries, then commits and turns, for at
    most `turns_for` seconds each. Returns how many are left. An embedding service is called from
    this process, never by the `executor`. Vectors of another model, and their files, are deleted
    when every passage has a vector of this one."""
    if embedder is None:
        return 0
    folder = settings.vectors
    name, dimension = embedder.name, embedder.dimension
    banks = [bank.id for bank in store.banks.all()]
    matrices = {bank: VectorMatrix(folder, bank, name, dimension) for bank in banks}
    store.vectors.index(name)
    drop_damaged_vectors(store, name, dimension, matrices)
    all_kinds = (*EMBEDDED_FIRST, *EMBEDDED_LATER)
    total = store.vectors.count_unembedded(name, all_kinds)
    others = [model for model, _ in store.vectors.models() if model != name]
    if not total and not others:
        return 0
    workers = None
    if executor and not settings.embed_endpoint:
        workers = EmbeddingWorkers(executor, settings.embed_model)
    done = 0
    for kinds, limit_s in (
        (EMBEDDED_FIRST, None),
        *(((kind,), turns_for) for kind in EMBEDDED_LATER),
    ):

        def report(count: int, before: int = done) -> None:
            on_progress(before + count, total)

        done += embed_pending(store, embedder, kinds, limit_s, report, workers)
    left = store.vectors.count_unembedded(name, all_kinds)
    if not left:
        with store.transaction():
            store.vectors.prune(name)
    if not store.vectors.index(name):
        for matrix in matrices.values():
            matrix.refresh(store)
    if not left:
        remove_stale_files(folder, list(matrices.values()))
    return left


def drop_damaged_vectors(
    store: Store, name: str, dimension: int, matrices: Mapping[str, VectorMatrix]
) -> None:
    """Delete vectors that no search can use, so that their passages are embedded again. All vectors
    are read only if there is a sign of damage: one of another size, or one that is not indexed."""
    sizes = {size for size, _ in store.vectors.sizes(name)}
    for bank, matrix in matrices.items():
        unindexed = store.vectors.unindexed(bank, name)
        skips = matrix.skips(store) if unindexed is None else unindexed > 0
        if sizes - {dimension * 4} or skips:
            hashes = matrix.damaged(store)
            with store.transaction():
                store.vectors.drop(bank, name, hashes)


def load_similarity(settings: Settings) -> Similarity | None:
    """The cosine similarity of embeddings; None if there is no model, or it cannot be loaded."""
    try:
        embedder = choose_embedder(settings)
    except HoldfastError:
        return None
    return _CosineSimilarity(embedder) if embedder is not None else None


class _CosineSimilarity:
    """Embeds each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Vectors] = {}

    def __call__(self, text: str, others: Sequence[str]) -> list[float]:
        wanted = [text, *others]
        new = [one for one in dict.fromkeys(wanted) if one not in self._vectors]
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return [float(np.dot(self._vectors[text], self._vectors[other])) for other in others]
