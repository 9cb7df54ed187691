"""Vectors of passages. They are kept by the hash of the embedded text, so a passage that is derived
again, or that has the text of another one, needs no second embedding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.query import Passage
from holdfast.principal import Level
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for
from holdfast.store.sql.table import PASSAGE


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


def _has_no_vector(model: str, kinds: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The condition that a passage has no vector yet, and its values."""
    among = f"kind IN ({placeholders_for(kinds)}) AND " if kinds else ""
    # Apart from the other conditions, the index over hashes is enough to find the few that are
    # missing. Otherwise every passage is read with its text: 129 ms instead of 57 at 62,000.
    missing = (
        "SELECT number FROM passage WHERE hash <> '' AND "
        "NOT EXISTS (SELECT 1 FROM vector WHERE vector.bank = passage.bank "
        "AND vector.model = ? AND vector.hash = passage.hash)"
    )
    return f"{among}number IN ({missing})", (*kinds, model)


class VectorIndex(Protocol):
    """The engine's own search for near vectors, where it has one."""

    def nearest(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str]
    ) -> list[StoredVector] | None:
        """As `Vectors.nearest`."""
        ...

    def unindexed(self, bank: str, model: str) -> int | None:
        """As `Vectors.unindexed`."""
        ...

    def problem(self) -> str:
        """As `Vectors.problem`."""
        ...

    def try_again(self) -> str:
        """As `Vectors.try_again`."""
        ...

    def put(self, bank: str, model: str, vectors: Sequence[tuple[str, int, bytes]]) -> bool:
        """Store vectors and index them; False where that cannot be done."""
        ...

    def index(self, model: str) -> bool:
        """As `Vectors.index`."""
        ...


class Vectors(Subject):
    """Reads vectors."""

    _vector_index: VectorIndex | None

    def span(self, bank: str, model: str) -> VectorSpan:
        """How many vectors of a model there are, and their range of numbers."""
        row = self._db.one(
            "SELECT total, coalesce((SELECT min(number) FROM vector AS v WHERE v.bank = c.bank "
            "AND v.model = c.model), 0), coalesce((SELECT max(number) FROM vector AS v WHERE "
            "v.bank = c.bank AND v.model = c.model), 0) FROM vector_count AS c "
            "WHERE bank = ? AND model = ?",
            (bank, model),
        )
        return VectorSpan(*(row or (0, 0, 0)))

    def after(self, bank: str, model: str, number: int, limit: int) -> list[StoredVector]:
        """The vectors with a number above the given one, in order."""
        found = self._db.all(
            "SELECT number, hash, part, data FROM vector "
            "WHERE bank = ? AND model = ? AND number > ? ORDER BY number LIMIT ?",
            (bank, model, number, limit),
        )
        return [StoredVector(*row) for row in found]

    def of_hashes(self, bank: str, model: str, hashes: Sequence[str]) -> list[StoredVector]:
        """The vectors of texts with one of these hashes."""
        found: list[StoredVector] = []
        for some in batches(hashes):
            found += [
                StoredVector(*row)
                for row in self._db.all(
                    "SELECT number, hash, part, data FROM vector WHERE bank = ? AND model = ? "
                    f"AND hash IN ({placeholders_for(some)})",
                    (bank, model, *some),
                )
            ]
        return found

    def numbers(self, bank: str, model: str, kinds: Sequence[str]) -> list[int]:
        """The numbers of the vectors of passages of these kinds, in order."""
        found = self._db.all(
            f"SELECT DISTINCT vector.number FROM passage {self._db.dialect.ordered_join} vector "
            "ON vector.bank = passage.bank AND vector.hash = passage.hash "
            f"WHERE passage.bank = ? AND passage.kind IN ({placeholders_for(kinds)}) "
            "AND vector.model = ? ORDER BY vector.number",
            (bank, *kinds, model),
        )
        return [number for (number,) in found]

    def nearest(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str] = ()
    ) -> list[StoredVector] | None:
        """At least `limit` vectors that are nearest to a query, of passages of some kinds or of
        all, and some of the farthest, in any order: the caller compares them exactly. None where
        the store has no vector search, or not a good enough one."""
        if self._vector_index is None:
            return None
        return self._vector_index.nearest(bank, model, query, limit, kinds)

    def unindexed(self, bank: str, model: str) -> int | None:
        """How many vectors are missing in the store's own vector index; None where it has none."""
        return None if self._vector_index is None else self._vector_index.unindexed(bank, model)

    def problem(self) -> str:
        """Why the store's own vector search is not used although it has one; "" if nothing is
        wrong."""
        return "" if self._vector_index is None else self._vector_index.problem()

    def passages(self, bank: str, model: str, numbers: Sequence[int]) -> list[tuple[int, Passage]]:
        """The passages that the vectors with these numbers belong to, each with the number."""
        columns = PASSAGE.of("passage")
        found: list[tuple[int, Passage]] = []
        for some in batches(numbers):
            found += [
                (row[0], PASSAGE.record(row[1:]))
                for row in self._db.all(
                    f"SELECT vector.number, {columns} FROM vector {self._db.dialect.ordered_join} "
                    "passage "
                    "ON passage.bank = vector.bank AND passage.hash = vector.hash "
                    f"WHERE {self._db.dialect.no_index}vector.bank = ? AND "
                    f"{self._db.dialect.no_index}vector.model = ? "
                    f"AND vector.number IN ({placeholders_for(some)})",
                    (bank, model, *some),
                )
            ]
        return found

    def unembedded(
        self, model: str, kinds: Sequence[str] = (), limit: int = 100, bank: str | None = None
    ) -> list[Passage]:
        """Passages that have no vector of the model yet."""
        where, values = self._db.in_bank(bank)
        missing_vector, more = _has_no_vector(model, kinds)
        found = self._db.all(
            f"SELECT {PASSAGE.columns} FROM passage WHERE {where} AND {missing_vector} "
            "ORDER BY time DESC, number DESC LIMIT ?",
            (*values, *more, limit),
        )
        return PASSAGE.records(found)

    def count_unembedded(self, model: str, kinds: Sequence[str] = ()) -> int:
        """How many passages have no vector of the model yet."""
        missing_vector, values = _has_no_vector(model, kinds)
        row = self._db.one(f"SELECT count(*) FROM passage WHERE {missing_vector}", values)
        return row[0] if row else 0

    def unembedded_kinds(self, model: str) -> dict[str, int]:
        """How many passages of each kind have no vector of the model yet; without those kinds of
        which all have one."""
        missing_vector, values = _has_no_vector(model, ())
        found = self._db.all(
            f"SELECT kind, count(*) FROM passage WHERE {missing_vector} GROUP BY kind", values
        )
        return dict(found)

    def models(self) -> list[tuple[str, int]]:
        """The models that there are vectors of, and how many of each."""
        found = self._db.all(
            "SELECT model, sum(total) FROM vector_count GROUP BY model ORDER BY model"
        )
        return [(model, count) for model, count in found]

    def sizes(self, model: str) -> list[tuple[int, int]]:
        """The sizes in bytes of a model's vectors, and how many have each. More than one size means
        that some were not written completely."""
        found = self._db.all(
            "SELECT length(data), count(*) FROM vector WHERE model = ? "
            "GROUP BY length(data) ORDER BY length(data)",
            (model,),
        )
        return [(size, count) for size, count in found]

    def has_mixed_sizes(self, model: str) -> bool:
        """Whether the vectors of a model differ in size. A quarter of the time that `sizes` takes,
        which counts them."""
        row = self._db.one(
            "SELECT min(length(data)), max(length(data)) FROM vector WHERE model = ?", (model,)
        )
        return bool(row) and row[0] != row[1]

    def bank_model(self, bank: str) -> str:
        """The model of most vectors of a bank's exchanges and memories; "" if there are none."""
        # By way of the models that a bank has, because the index of vectors starts with these:
        # without it every passage would be compared with all vectors of the bank.
        join = self._db.dialect.ordered_join
        row = self._db.one(
            f"SELECT known.model FROM vector_count AS known {join} passage "
            f"ON passage.bank = known.bank {join} vector ON vector.bank = passage.bank "
            "AND vector.model = known.model AND vector.hash = passage.hash "
            "WHERE known.bank = ? AND passage.kind IN ('exchange', 'memory') "
            "GROUP BY known.model ORDER BY count(*) DESC, known.model LIMIT 1",
            (bank,),
        )
        return row[0] if row else ""

    def put(self, bank: str, model: str, vectors: Iterable[tuple[str, int, bytes]]) -> None:
        """Store vectors by hash and part; known ones stay."""
        some = list(vectors)
        if self._vector_index is None or not self._vector_index.put(bank, model, some):
            self._db.run_many(
                insert_missing("vector", "bank, model, hash, part, data"),
                [(bank, model, hash, part, data) for hash, part, data in some],
            )

    def index(self, model: str) -> bool:
        """Add all vectors of a model to the store's own index, in transactions of its own, and
        build what large banks need; False where the store has no index of its own."""
        return self._vector_index is not None and self._vector_index.index(model)

    def try_again(self) -> str:
        """Try the store's own vector search, after what was wrong with it was mended; returns the
        problem that is left. If it crashes the server, all connections to it are lost once."""
        self._db.require(Level.ADMIN)
        return "" if self._vector_index is None else self._vector_index.try_again()

    def prune(self, keep: str) -> int:
        """Remove vectors of other models than `keep`, and of texts that no passage has any more;
        returns how many."""
        other = self._db.run("DELETE FROM vector WHERE model <> ?", (keep,))
        orphans = self._db.run(
            "DELETE FROM vector WHERE NOT EXISTS (SELECT 1 FROM passage "
            "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)"
        )
        return other + orphans

    def drop(self, bank: str, model: str, hashes: Sequence[str]) -> None:
        """Remove all vectors of texts with one of these hashes, so that they are embedded again."""
        self._db.run_many(
            "DELETE FROM vector WHERE bank = ? AND model = ? AND hash = ?",
            [(bank, model, hash) for hash in hashes],
        )
