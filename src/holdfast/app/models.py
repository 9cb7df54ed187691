"""The models of the settings, put together. Loaded only when a question or a worker needs them:
NumPy and ONNX take longer to import than a search by words takes."""

from __future__ import annotations

from holdfast.errors import ModelError
from holdfast.inference.choose import choose_embedder, choose_reranker
from holdfast.inference.packaged import packaged_model, packaged_tokenizer
from holdfast.inference.static import TokenVectors
from holdfast.recall.semantics import Parts, Semantics
from holdfast.settings import Settings


def load_meaning(settings: Settings) -> Semantics | None:
    """What recall asks about meaning."""
    return None
