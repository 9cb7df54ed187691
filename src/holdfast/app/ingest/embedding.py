"""Computes the vectors that are missing. Imported only then: a search needs the models, but not
what spreads work over processes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from holdfast.inference.embedder import Embedder
from holdfast.inference.model_choice import choose_embedder
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, remove_stale_files
from holdfast.refine.core.executor import Executor
from holdfast.refine.core.passages import EMBEDDED_FIRST, EMBEDDED_LATER
from holdfast.refine.sessions.embedding import EmbeddingWorkers, WaitingPassages, embed_pending
from holdfast.settings import Settings
from holdfast.store.protocol import Store


def open_embedder(settings: Settings, threads: int | None = None) -> Embedder | None:
    """The embedding model for many texts, with a thread for each core if none are given; None if
    the settings disable it."""
    return choose_embedder(settings, threads=threads or os.cpu_count() or 1)


def embed(
    store: Store,
    settings: Settings,
    embedder: Embedder,
    turns_for: float | None,
    on_progress: Callable[[int, int], None],
    executor: Executor | None = None,
    check_all: bool = True,
) -> int:
    """Embed the passages that have no vector: first all summaries, then commits and turns, for at
    most `turns_for` seconds each. Returns how many are left. An embedding service is called from
    this process, never by the `executor`. Vectors of another model, and their files, are deleted
    when every passage has a vector of this one. Unless `check_all` is false, damaged vectors are
    computed again, and those of texts that no passage has any more are deleted: to look for them
    takes as long as the memory is large."""
    name, dimension = embedder.name, embedder.dimension
    matrices = {
        bank.id: VectorMatrix(settings.vectors, bank.id, name, dimension)
        for bank in store.banks.all()
    }
    store.vectors.index(name)
    if check_all:
        _drop_damaged_vectors(store, name, dimension, matrices)
    all_kinds = (*EMBEDDED_FIRST, *EMBEDDED_LATER)
    waiting = WaitingPassages(store, name, all_kinds)
    missing = waiting.counts()
    total = sum(missing.values())
    others = [model for model, _ in store.vectors.models() if model != name]
    if not (total or others or check_all):
        return 0
    workers = None
    if executor and not settings.embed_endpoint:
        workers = EmbeddingWorkers(executor, settings.embed_model)
    done = 0
    for kinds, limit_s in ((EMBEDDED_FIRST, None), *(((k,), turns_for) for k in EMBEDDED_LATER)):
        if not missing.keys().isdisjoint(kinds):

            def report(count: int, before: int = done) -> None:
                on_progress(before + count, total)

            done += embed_pending(store, embedder, kinds, limit_s, report, workers, waiting)
    left = store.vectors.count_unembedded(name, all_kinds)
    if not left and (check_all or others):
        _remove_unneeded(store, settings, name, matrices)
    if not store.vectors.index(name):
        for matrix in matrices.values():
            matrix.refresh(store)
    return left


def _remove_unneeded(
    store: Store, settings: Settings, name: str, matrices: Mapping[str, VectorMatrix]
) -> None:
    """Delete the vectors of other models and of texts that no passage has, and files of neither."""
    with store.transaction():
        store.vectors.prune(name)
    remove_stale_files(settings.vectors, list(matrices.values()))


def _drop_damaged_vectors(
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
