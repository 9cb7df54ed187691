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
            self._cached = settings, models
            return models


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
            if self._opened is None:
                self._opened = self._open()
        return self._opened.score(query, texts, deadline, tokens)

    def _open(self) -> Reranker:
        try:
            opened = choose_reranker(self._settings)
        except HoldfastError as error:
            raise ModelError(error.full_text, error.remedy) from error
        if opened is None:
            raise ModelError("There is no reranker.", "Name one in the settings.")
        return opened


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
    reranker = _LazyReranker(settings) if has_reranker(settings) else None
    tokenizer, vectors = packaged_tokenizer(), TokenVectors(packaged.EMBEDDER)
    # The embedder that ships knows English; whoever chose another one chose its languages.
    english_only = not (settings.embed_model or settings.embed_endpoint)
    return SemanticModels(
        choose_embedder(settings),
        tokenizer,
        vectors,
        reranker,
        english_only,
        reranker_is_chosen=bool(settings.rerank_model),
        reranker_is_english=settings.rerank_model in ("", SHIPPED),
    )


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
