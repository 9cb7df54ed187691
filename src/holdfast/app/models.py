"""The models of the settings, put together. Loaded only when a question or a worker needs them:
NumPy and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

from holdfast.inference import packaged
from holdfast.inference.choose import choose_embedder, choose_reranker
from holdfast.inference.static import TokenVectors
from holdfast.inference.tokenizer import open_tokenizer
from holdfast.recall.semantics import Parts, Semantics
from holdfast.settings import Settings


def load_meaning(settings: Settings) -> Semantics:
    """What recall asks about meaning."""
    parts = Parts(
        choose_embedder(settings),
        open_tokenizer(packaged.TOKENIZER),
        TokenVectors(packaged.EMBEDDER),
        choose_reranker(settings),
    )
    return Semantics(settings.home / "vectors", parts)
