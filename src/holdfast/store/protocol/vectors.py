"""Embedding vectors. They represent the text of passages and can be made again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.query import Passage


class StoredVector(NamedTuple):
    """One vector: its number, which only ever grows; the hash of the embedded text; which part of a
    long text it is; and its 32-bit floats."""

    number: int
    hash: str
    part: int
    data: bytes


class VectorSpan(NamedTuple):
    """How many vectors of a model a bank has, and the lowest and highest of their numbers."""

    total: int
    lowest: int
    highest: int


class VectorReader(Protocol):
    """Reads vectors."""

    def vector_span(self, bank: str, model: str) -> VectorSpan:
        """How many vectors of a model there are, and their range of numbers."""
        ...

    def vectors_after(self, bank: str, model: str, number: int, limit: int) -> list[StoredVector]:
        """The vectors with a number above the given one, in order."""
        ...

    def vectors_of(self, bank: str, model: str, hashes: Sequence[str]) -> list[StoredVector]:
        """The vectors of texts with one of these hashes."""
        ...

    def vector_numbers(self, bank: str, model: str, kinds: Sequence[str]) -> list[int]:
        """The numbers of the vectors of passages of these kinds, in order."""
        ...

    def nearest_vectors(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str] = ()
    ) -> list[StoredVector] | None:
        """At least `limit` vectors that are nearest to a query, of passages of some kinds or of
        all, and some of the farthest, in any order: the caller compares them exactly. None where
        the store has no vector search, or not a good enough one."""
        ...

    def unindexed_vectors(self, bank: str, model: str) -> int | None:
        """How many vectors are missing in the store's own vector index; None where it has none."""
        ...

    def passages_of(
        self, bank: str, model: str, numbers: Sequence[int]
    ) -> list[tuple[int, Passage]]:
        """The passages that the vectors with these numbers belong to, each with the number."""
        ...

    def unembedded(
        self, model: str, kinds: Sequence[str] = (), limit: int = 100, bank: str | None = None
    ) -> list[Passage]:
        """Passages that have no vector of the model yet."""
        ...

    def count_unembedded(self, model: str, kinds: Sequence[str] = ()) -> int:
        """How many passages have no vector of the model yet."""
        ...

    def vector_models(self) -> list[tuple[str, int]]:
        """The models that there are vectors of, and how many of each."""
        ...

    def vector_sizes(self, model: str) -> list[tuple[int, int]]:
        """The sizes in bytes of a model's vectors, and how many have each. More than one size means
        that some were not written completely."""
        ...


class VectorWriter(Protocol):
    """Writes vectors."""

    def put_vectors(self, bank: str, model: str, vectors: Iterable[tuple[str, int, bytes]]) -> None:
        """Store vectors by hash and part; known ones stay."""
        ...

    def index_vectors(self, model: str) -> bool:
        """Add all vectors of a model to the store's own index, in transactions of its own, and
        build what large banks need; False where the store has no index of its own."""
        ...

    def prune_vectors(self, keep: str) -> int:
        """Remove vectors of other models than `keep`, and of texts that no passage has any more;
        returns how many."""
        ...

    def drop_vectors(self, bank: str, model: str, hashes: Sequence[str]) -> None:
        """Remove all vectors of texts with one of these hashes, so that they are embedded again."""
        ...
