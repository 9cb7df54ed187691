"""Records with similar meaning, by their stored vectors. Needs NumPy, so it is loaded only where
links are shown; searches use `retrievers.semantic_search`."""

from __future__ import annotations

from pathlib import Path

from holdfast.recall.links.record_links import MAX_LINKS, Edge
from holdfast.recall.retrievers.vector_matrix import VectorMatrix, rank_stored_vectors, read_vector
from holdfast.store.knowledge.graph import GraphRecord
from holdfast.store.protocol import Reader

# Records below this cosine mostly share only their style. Lower gives more, weaker links.
MIN_COSINE = 0.6
_KINDS = ("exchange", "commit", "memory")
_FLOAT_BYTES = 4
# Several vectors may belong to one record, so more are looked at than links are wanted.
_MAX_VECTORS = 3 * MAX_LINKS


class SimilarRecords:
    """Finds the nearest records of a bank; none if it has no vectors."""

    def __init__(self, reader: Reader, bank: str, folder: Path) -> None:
        self._reader = reader
        self._bank = bank
        models = reader.vectors.models()
        self._model = models[-1][0] if models else ""
        self._folder = folder
        self._matrix: VectorMatrix | None = None
        self._among: list[int] = []

    def __call__(self, place: GraphRecord) -> list[Edge]:
        """The records nearest to a record, the best first."""
        if not self._model or place.kind not in _KINDS:
            return []
        passages = [p for _, p in self._reader.graph.node_passages(self._bank, [place.node])]
        hashes = [passage.hash for passage in passages if passage.hash]
        best: dict[tuple[str, str], float] = {}
        for stored in self._reader.vectors.of_hashes(self._bank, self._model, hashes):
            vector = read_vector(stored.data, len(stored.data) // _FLOAT_BYTES)
            if vector is None:
                continue
            nearest = self._reader.vectors.nearest(
                self._bank, self._model, stored.data, _MAX_VECTORS, _KINDS
            )
            if nearest is not None:
                scanned = rank_stored_vectors(nearest, vector, _MAX_VECTORS)
            else:
                matrix = self._open_matrix(len(stored.data))
                scanned = matrix.scan(self._reader, vector, _MAX_VECTORS, self._among)
            scores = dict(scanned.best)
            for number, p in self._reader.vectors.passages(self._bank, self._model, list(scores)):
                name = (p.kind, p.id)
                if p.kind in _KINDS and name != (place.kind, place.id):
                    best[name] = max(scores[number], best.get(name, 0.0))
        near = [name for name in best if best[name] >= MIN_COSINE]
        near.sort(key=lambda name: (-best[name], name))
        names = near[:MAX_LINKS]
        found = [(self._reader.graph.record(self._bank, *name), best[name]) for name in names]
        return [Edge(other, score, "") for other, score in found if other is not None]

    def _open_matrix(self, size: int) -> VectorMatrix:
        if self._matrix is None:
            self._matrix = VectorMatrix(self._folder, self._bank, self._model, size // _FLOAT_BYTES)
            self._among = self._reader.vectors.numbers(self._bank, self._model, _KINDS)
        return self._matrix
