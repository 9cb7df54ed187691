"""What models add to a search, as the engine sees it. The implementation
(`retrievers.semantic_search`) needs NumPy and ONNX, which take longer to load than a search by
words takes in all, so nothing here imports them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.model.query import Layer, Passage
from holdfast.recall.core.candidates import PassageKey
from holdfast.store.protocol import Reader

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Protocol

    from holdfast.recall.core.parallel import RetrieverResult
else:
    Protocol = object


class SemanticSearch(Protocol):
    """Search by meaning instead of spelling."""

    def reranks(self, query: str, thoroughly: bool) -> bool:
        """Whether a cross-encoder reads the best candidates: one that the settings ask for, or, if
        `thoroughly`, the one that comes with Holdfast; which knows English only."""
        ...

    @property
    def reranker_ships(self) -> bool:
        """Whether the cross-encoder is the one that comes with Holdfast, whose scores are known."""
        ...

    def understands(self, query: str) -> bool:
        """Whether the model knows the language of a query, so that a cosine tells whether a
        passage answers it."""
        ...

    def nearest(
        self,
        reader: Reader,
        bank: str | None,
        query: str,
        limit: int,
        layers: Sequence[Layer] = (),
    ) -> RetrieverResult:
        """The passages nearest in meaning to a query, of some layers or of all."""
        ...

    def similarities(
        self, reader: Reader, query: str, passages: Sequence[Passage]
    ) -> dict[PassageKey, float]:
        """The cosines of some passages; those without a vector are left out."""
        ...

    def cosines(self, query: str, texts: Sequence[str]) -> list[float]:
        """How near some texts are to a query; empty if there is no embedder."""
        ...

    def soft_coverage(
        self, weight: Mapping[str, float], texts: Sequence[Sequence[str]]
    ) -> list[float]:
        """How much of some weighted words each text covers, from 0 to 1, where a similar word
        counts in part. A text is given in one stretch or several."""
        ...

    def rerank(
        self, query: str, texts: Iterable[str], deadline: float, tokens: int
    ) -> list[float] | None:
        """A cross-encoder's scores for as many texts as `tokens` allows; None if there is no
        cross-encoder or time ran out."""
        ...
