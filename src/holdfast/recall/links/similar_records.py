"""Records that mean about the same, by the vectors that are stored. Needs NumPy, and is loaded only
by what shows links; recall has an arm of its own for meaning."""

from __future__ import annotations

from pathlib import Path

from holdfast.recall.links.record_links import MAX_LINKS, Edge
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, rank_stored_vectors, read_vector
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import GraphRecord

# Two records less alike than this have only their language in common.
MIN_COSINE = 0.6
_KINDS = ("exchange", "commit", "memory")
_FLOAT = 4
_LOOKED_AT = 3 * MAX_LINKS


class SimilarRecords:
    """What is nearest in a bank; nothing where there are no vectors."""

    def __init__(self, reader: Reader, bank: str, folder: Path) -> None:
        self._reader = reader
        self._bank = bank
        models = reader.vector_models()
        self._model = models[-1][0] if models else ""
        self._folder = folder
        self._matrix: VectorMatrix | None = None
        self._among: list[int] = []

    def __call__(self, place: GraphRecord) -> list[Edge]:
        """The nearest of a record, the best first."""
        if not self._model or place.kind not in _KINDS:
            return []
        passages = [p for _, p in self._reader.node_passages(self._bank, [place.node])]
        hashes = [passage.hash for passage in passages if passage.hash]
        best: dict[tuple[str, str], float] = {}
        for stored in self._reader.vectors_of(self._bank, self._model, hashes):
            vector = read_vector(stored.data, len(stored.data) // _FLOAT)
            if vector is None:
                continue
            named = self._reader.nearest_vectors(
                self._bank, self._model, stored.data, _LOOKED_AT, _KINDS
            )
            scanned = (
                rank_stored_vectors(named, vector, _LOOKED_AT)
                if named is not None
                else self._opened(len(stored.data)).scan(
                    self._reader, vector, _LOOKED_AT, self._among
                )
            )
            scores = dict(scanned.best)
            for number, p in self._reader.passages_of(self._bank, self._model, list(scores)):
                name = (p.kind, p.id)
                if p.kind in _KINDS and name != (place.kind, place.id):
                    best[name] = max(scores[number], best.get(name, 0.0))
        near = sorted((n for n in best if best[n] >= MIN_COSINE), key=lambda n: (-best[n], n))[
            :MAX_LINKS
        ]
        found = [(self._reader.graph_record(self._bank, *name), best[name]) for name in near]
        return [Edge(other, score, "") for other, score in found if other is not None]

    def _opened(self, size: int) -> VectorMatrix:
        if self._matrix is None:
            self._matrix = VectorMatrix(self._folder, self._bank, self._model, size // _FLOAT)
            self._among = self._reader.vector_numbers(self._bank, self._model, _KINDS)
        return self._matrix
