"""What a store knows of vectors: they stand for what passages say, and can be made again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from holdfast.model.query import Passage


class StoredVector(NamedTuple):
    """One vector: its number, which only ever grows, the hash of what it embeds, which part of
    a long text that is, and its 32-bit floats."""

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
    """What can be asked of vectors."""

    def vector_span(self, bank: str, model: str) -> VectorSpan:
        """What there is of a model's vectors."""
        ...

    def vectors_after(self, bank: str, model: str, number: int, limit: int) -> list[StoredVector]:
        """The vectors with a number above the given one, in order."""
        ...

    def vectors_of(self, bank: str, model: str, hashes: Sequence[str]) -> list[StoredVector]:
        """The vectors of what has one of these hashes."""
        ...

    def vector_numbers(self, bank: str, model: str, kinds: Sequence[str]) -> list[int]:
        """The numbers of the vectors that stand for passages of these kinds, in order."""
        ...

    def nearest_vectors(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str] = ()
    ) -> list[StoredVector] | None:
        """At least so many vectors that are nearest to a query, of passages of some kinds or of
        all, and some of the farthest, in any order: whoever asks compares them himself. None
        where the store itself cannot tell, or not well."""
        ...

    def unindexed_vectors(self, bank: str, model: str) -> int | None:
        """How many vectors the store's own search does not know by their place; None where it
        has no search of its own."""
        ...

    def passages_of(
        self, bank: str, model: str, numbers: Sequence[int]
    ) -> list[tuple[int, Passage]]:
        """The passages that the vectors of these numbers stand for, each with its number."""
        ...

    def unembedded(
        self, model: str, kinds: Sequence[str] = (), limit: int = 100, bank: str | None = None
    ) -> list[Passage]:
        """Passages that wait for a vector of the model."""
        ...

    def count_unembedded(self, model: str, kinds: Sequence[str] = ()) -> int:
        """How many passages wait for a vector of the model."""
        ...

    def vector_models(self) -> list[tuple[str, int]]:
        """The models that there are vectors of, and how many of each."""
        ...

    def vector_sizes(self, model: str) -> list[tuple[int, int]]:
        """The sizes in bytes that the vectors of a model have, and how many have each. More
        than one is a sign that some were not written whole."""
        ...


class VectorWriter(Protocol):
    """The ways in for vectors."""

    def put_vectors(self, bank: str, model: str, vectors: Iterable[tuple[str, int, bytes]]) -> None:
        """Store vectors by hash and part; what is there already stays."""
        ...

    def index_vectors(self, model: str) -> bool:
        """Let the store's own search know all vectors of a model, in transactions of its own, and
        make what it needs for large banks; False where it has no search of its own."""
        ...

    def prune_vectors(self, keep: str) -> int:
        """Remove vectors of other models than `keep`, and of what nobody says any more;
        returns how many."""
        ...

    def drop_vectors(self, bank: str, model: str, hashes: Sequence[str]) -> None:
        """Remove every part of what has one of these hashes, so that it waits again."""
        ...
