"""The models of the settings, put together. Loaded only when a question or an embedding needs
them: NumPy and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

import os
from collections.abc import Callable

from holdfast.inference import packaged
from holdfast.inference.choose import choose_embedder, choose_reranker
from holdfast.inference.static import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.recall.matrix import Matrix, sweep
from holdfast.recall.semantics import Parts, Semantics
from holdfast.refine.embedding import EAGER, LATER, embed_waiting
from holdfast.settings import Settings
from holdfast.store.protocol import Store


def load_meaning(settings: Settings) -> Semantics:
    """What recall asks about meaning."""
    parts = Parts(
        choose_embedder(settings),
        open_tokenizer(packaged.TOKENIZER),
        TokenVectors(packaged.EMBEDDER),
        choose_reranker(settings),
    )
    return Semantics(settings.home / "vectors", parts)


def embed(
    store: Store,
    settings: Settings,
    turns_for: float | None,
    progress: Callable[[int, int], None],
) -> int:
    """Give vectors to what has none: first to all that sums up, then to turns for so many
    seconds; returns how many passages still wait. Vectors of another model, and their files, go
    when every passage has one of this."""
    embedder = choose_embedder(settings, threads=os.cpu_count() or 1)
    if embedder is None:
        return 0
    total = store.count_unembedded(embedder.name, (*EAGER, *LATER))
    others = [model for model, _ in store.vector_models() if model != embedder.name]
    if not total and not others:
        return 0
    done = embed_waiting(store, embedder, EAGER, tick=lambda n: progress(n, total))
    embed_waiting(store, embedder, LATER, turns_for, lambda n: progress(done + n, total))
    left = store.count_unembedded(embedder.name, (*EAGER, *LATER))
    if not left:
        with store.transaction():
            store.prune_vectors(embedder.name)
    folder = settings.home / "vectors"
    name, dimension = embedder.name, embedder.dimension
    matrices = [Matrix(folder, bank.id, name, dimension) for bank in store.banks()]
    for matrix in matrices:
        matrix.refresh(store)
    if not left:
        sweep(folder, matrices)
    return left
