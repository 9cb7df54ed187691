"""The similarity of texts by meaning, by the embedding model that search uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from holdfast.errors import HoldfastError
from holdfast.inference.embedder import Embedder, Vectors
from holdfast.inference.model_choice import choose_embedder
from holdfast.learn.existing_rules import Similarity
from holdfast.settings import Settings


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
