"""Opens the models of the settings. Imported only when a query or an embedding needs them: NumPy
and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from holdfast.errors import HoldfastError, ModelError
from holdfast.inference import packaged
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.inference.model_choice import choose_embedder, choose_reranker, has_reranker
from holdfast.inference.reranker import Reranker
from holdfast.inference.token_vectors import TokenVectors
from holdfast.inference.tokenizer import packaged_tokenizer
from holdfast.learn.existing_rules import Similarity
from holdfast.recall.retrievers.semantic_search import ModelSemanticSearch, SemanticModels
from holdfast.settings import SHIPPED, Settings

# The opened models and the settings that chose them, shared by all threads of a process: they have
# no state, and one copy per thread would need several times the memory.
_opened: list[tuple[Settings, SemanticModels]] = []
_lock = threading.Lock()


def load_semantic_search(settings: Settings) -> ModelSemanticSearch:
    """The semantic search of these settings."""
    chosen = Settings(
        Path(),
        Path(),
        embed_model=settings.embed_model,
        embed_endpoint=settings.embed_endpoint,
        embed_endpoint_model=settings.embed_endpoint_model,
        embed_api_key_env=settings.embed_api_key_env,
        embed_api_key=settings.embed_api_key,
        rerank_model=settings.rerank_model,
    )
    with _lock:
        if not (_opened and _opened[0][0] == chosen):
            _opened[:] = [(chosen, _open_models(chosen))]
        return ModelSemanticSearch(settings.vectors, _opened[0][1])


def _open_models(settings: Settings) -> SemanticModels:
    return SemanticModels(
        choose_embedder(settings),
        packaged_tokenizer(),
        TokenVectors(packaged.EMBEDDER),
        _LazyReranker(settings) if has_reranker(settings) else None,
        # The embedder that ships knows English; whoever chose another one chose its languages.
        not (settings.embed_model or settings.embed_endpoint),
        reranker_is_chosen=bool(settings.rerank_model),
        reranker_is_english=settings.rerank_model in ("", SHIPPED),
    )


class _LazyReranker:
    """Opens the reranker when it is first used. One that cannot be opened is tried again next time:
    retrieval works without it, and the search reports the error."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._opened: Reranker | None = None

    def score(
        self,
        query: str,
        texts: Iterable[str],
        deadline: float | None = None,
        tokens: int | None = None,
    ) -> list[float] | None:
        with self._lock:
            try:
                self._opened = self._opened or choose_reranker(self._settings)
            except HoldfastError as error:
                raise ModelError(error.full_text, error.remedy) from error
        assert self._opened is not None  # `has_reranker` says that there is one
        return self._opened.score(query, texts, deadline, tokens)


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
        new = [one for one in dict.fromkeys((text, *others)) if one not in self._vectors]
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        return [float(np.dot(self._vectors[text], self._vectors[other])) for other in others]
