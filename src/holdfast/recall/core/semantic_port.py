"""What a model adds to recall, as the engine sees it. Behind it lie NumPy and ONNX, which take
longer to load than a search by words takes in all, so nothing here imports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from holdfast.model.query import Layer, Passage
from holdfast.recall.core.candidates import PassageKey
from holdfast.recall.core.parallel import RetrieverResult
from holdfast.store.protocol import Reader


class SemanticSearch(Protocol):
    """Looks at meaning instead of spelling."""

    @property
    def has_reranker(self) -> bool:
        """Whether a cross-encoder is there to be asked."""
        ...

    def nearest(
        self,
        reader: Reader,
        bank: str | None,
        query: str,
        limit: int,
        layers: Sequence[Layer] = (),
    ) -> RetrieverResult:
        """The passages whose meaning is nearest to a query's, of some layers or of all."""
        ...

    def similarities(
        self, reader: Reader, query: str, passages: Sequence[Passage]
    ) -> dict[PassageKey, float]:
        """The cosines of some passages; those without a vector are left out."""
        ...

    def soft_coverage(
        self, weight: Mapping[str, float], texts: Sequence[Sequence[str]]
    ) -> list[float]:
        """How well texts, each in one stretch or several, cover weighted words if near words count
        for part: 0 to 1."""
        ...

    def rerank(
        self, query: str, texts: Iterable[str], deadline: float, tokens: int
    ) -> list[float] | None:
        """A cross-encoder's scores of as many as `tokens` suffice for, or None if there is none or
        time ran out."""
        ...
