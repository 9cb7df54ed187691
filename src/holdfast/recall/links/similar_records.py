"""Records that mean about the same, by the vectors that are stored. Needs NumPy, and is loaded only
by what shows links; recall has an arm of its own for meaning."""

from __future__ import annotations

from pathlib import Path

from holdfast.recall.links.links import MOST, Edge
from holdfast.recall.retrievers.vector_matrix import Matrix, compared, read_vector
from holdfast.store.protocol import Reader
from holdfast.store.protocol.graph import Place

# Two records less alike than this have only their language in common.
NEAR = 0.6
_KINDS = ("exchange", "commit", "memory")
_FLOAT = 4
_LOOKED_AT = 3 * MOST


class Alike:
    """What is nearest in a bank; nothing where there are no vectors."""

    def __init__(self, reader: Reader, bank: str, folder: Path) -> None:
        self._reader = reader
        self._bank = bank
        models = reader.vector_models()
        self._model = models[-1][0] if models else ""
        self._folder = folder
        self._matrix: Matrix | None = None
        self._among: list[int] = []

    def __call__(self, place: Place) -> list[Edge]:
        """The nearest of a record, the best first."""
        if not self._model or place.kind not in _KINDS:
            return []
        passages = [p for _, p in self._reader.passages_at(self._bank, [place.node])]
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
                compared(named, vector, _LOOKED_AT)
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
        near = sorted((n for n in best if best[n] >= NEAR), key=lambda n: (-best[n], n))[:MOST]
        found = [(self._reader.place(self._bank, *name), best[name]) for name in near]
        return [Edge(other, score, "") for other, score in found if other is not None]

    def _opened(self, size: int) -> Matrix:
        if self._matrix is None:
            self._matrix = Matrix(self._folder, self._bank, self._model, size // _FLOAT)
            self._among = self._reader.vector_numbers(self._bank, self._model, _KINDS)
        return self._matrix
