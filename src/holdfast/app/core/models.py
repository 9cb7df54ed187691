"""The models of the settings, put together. Loaded only when a question or an embedding needs
them: NumPy and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from holdfast.errors import HoldfastError, ModelError
from holdfast.inference import packaged
from holdfast.inference.model_choice import choose_embedder, choose_reranker
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, Reranker, SemanticModels
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, remove_stale_files
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.refine.sessions.embedding import EmbeddingWorkers, embed_pending
from holdfast.settings import Settings
from holdfast.store.protocol import Store


class _ModelCache:
    """The models in use. They keep nothing of a question, so all threads of a process ask the
    same ones: a server that opened them once for each would need several times the memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: tuple[Settings, SemanticModels] | None = None

    def parts(self, settings: Settings) -> SemanticModels:
        settings = replace(settings, principal=None)  # they are the same for everybody
        with self._lock:
            if self._held is not None and self._held[0] == settings:
                return self._held[1]
            parts = _open_models(settings)
            if not isinstance(parts.reranker, _FailingReranker):  # it may be put right
                self._held = settings, parts
            return parts


class _FailingReranker:
    """In the place of a reranker that cannot be opened: the rest goes on, and who asks is told."""

    def __init__(self, error: HoldfastError) -> None:
        self._error = error

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        told = f"{self._error.message} {self._error.remedy}".strip()
        raise ModelError(told, self._error.remedy)


_models = _ModelCache()


def load_semantic_search(settings: Settings) -> ModelSemanticSearch:
    """What recall asks about meaning."""
    return ModelSemanticSearch(settings.vectors, _models.parts(settings))


def _open_models(settings: Settings) -> SemanticModels:
    return SemanticModels(
        choose_embedder(settings),
        open_tokenizer(packaged.TOKENIZER),
        TokenVectors(packaged.EMBEDDER),
        _reranker(settings),
    )


def _reranker(settings: Settings) -> Reranker | None:
    try:
        return choose_reranker(settings)
    except HoldfastError as error:
        return _FailingReranker(error)


def embed(
    store: Store,
    settings: Settings,
    turns_for: float | None,
    on_progress: Callable[[int, int], None],
    threads: int | None = None,
    executor: Executor | None = None,
) -> int:
    """Give vectors to what has none: first to all that sums up, then to commits and to turns,
    each for so many seconds; returns how many passages still wait. A service is asked from here,
    by no crew. Vectors of another model, and their files, go when every passage has one of this."""
    embedder = choose_embedder(settings, threads=threads or os.cpu_count() or 1)
    if embedder is None:
        return 0
    folder = settings.vectors
    name, dimension = embedder.name, embedder.dimension
    matrices = {bank.id: VectorMatrix(folder, bank.id, name, dimension) for bank in store.banks()}
    store.index_vectors(name)
    drop_damaged_vectors(store, name, dimension, matrices)
    total = store.count_unembedded(embedder.name, (*EMBEDDED_FIRST, *EMBEDDED_LATER))
    others = [model for model, _ in store.vector_models() if model != embedder.name]
    if not total and not others:
        return 0
    hands = EmbeddingWorkers(executor, settings.embed_model) if executor and not settings.embed_endpoint else None
    done = embed_pending(store, embedder, EMBEDDED_FIRST, None, lambda n: on_progress(n, total), hands)
    for kind in EMBEDDED_LATER:
        before = done

        def tick(count: int, before: int = before) -> None:
            on_progress(before + count, total)

        done += embed_pending(store, embedder, (kind,), turns_for, tick, hands)
    left = store.count_unembedded(embedder.name, (*EMBEDDED_FIRST, *EMBEDDED_LATER))
    if not left:
        with store.transaction():
            store.prune_vectors(embedder.name)
    if not store.index_vectors(name):
        for matrix in matrices.values():
            matrix.refresh(store)
    if not left:
        remove_stale_files(folder, list(matrices.values()))
    return left


def drop_damaged_vectors(
    store: Store, name: str, dimension: int, matrices: Mapping[str, VectorMatrix]
) -> None:
    """Remove vectors that no search can use: what they stand for waits then, and is embedded
    again. All are read only where a sign of damage is seen: another size, or fewer in use than
    there are."""
    sizes = {size for size, _ in store.vector_sizes(name)}
    for bank, matrix in matrices.items():
        unplaced = store.unindexed_vectors(bank, name)
        skips = matrix.skips(store) if unplaced is None else unplaced > 0
        if sizes - {dimension * 4} or skips:
            hashes = matrix.damaged(store)
            with store.transaction():
                store.drop_vectors(bank, name, hashes)
