"""Vectors of passages. They are kept by the hash of the embedded text, so a passage that is derived
again, or that has the text of another one, needs no second embedding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.query import Passage
from holdfast.store.protocol.vectors import StoredVector, VectorSpan
from holdfast.store.sql.rows import records
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for


class VectorReader(StatementRunner):
    """Reads vectors."""

    def vector_span(self, bank: str, model: str) -> VectorSpan:
        row = self._one(
            "SELECT total, coalesce((SELECT min(number) FROM vector AS v WHERE v.bank = c.bank "
            "AND v.model = c.model), 0), coalesce((SELECT max(number) FROM vector AS v WHERE "
            "v.bank = c.bank AND v.model = c.model), 0) FROM vector_count AS c "
            "WHERE bank = ? AND model = ?",
            bank,
            model,
        )
        return VectorSpan(*(row or (0, 0, 0)))

    def vectors_after(self, bank: str, model: str, number: int, limit: int) -> list[StoredVector]:
        found = self._all(
            "SELECT number, hash, part, data FROM vector "
            "WHERE bank = ? AND model = ? AND number > ? ORDER BY number LIMIT ?",
            bank,
            model,
            number,
            limit,
        )
        return [StoredVector(*row) for row in found]

    def vectors_of(self, bank: str, model: str, hashes: Sequence[str]) -> list[StoredVector]:
        found: list[StoredVector] = []
        for some in batches(hashes):
            found += [
                StoredVector(*row)
                for row in self._all(
                    "SELECT number, hash, part, data FROM vector WHERE bank = ? AND model = ? "
                    f"AND hash IN ({placeholders_for(some)})",
                    bank,
                    model,
                    *some,
                )
            ]
        return found

    def vector_numbers(self, bank: str, model: str, kinds: Sequence[str]) -> list[int]:
        found = self._all(
            f"SELECT DISTINCT vector.number FROM passage {self._dialect.ordered_join} vector "
            "ON vector.bank = passage.bank AND vector.hash = passage.hash "
            f"WHERE passage.bank = ? AND passage.kind IN ({placeholders_for(kinds)}) "
            "AND vector.model = ? ORDER BY vector.number",
            bank,
            *kinds,
            model,
        )
        return [number for (number,) in found]

    def nearest_vectors(
        self, bank: str, model: str, query: bytes, limit: int, kinds: Sequence[str] = ()
    ) -> list[StoredVector] | None:
        """None: SQLite does not compare vectors, so the caller must."""
        return None

    def unindexed_vectors(self, bank: str, model: str) -> int | None:
        return None

    def passages_of(
        self, bank: str, model: str, numbers: Sequence[int]
    ) -> list[tuple[int, Passage]]:
        columns = ", ".join(f"passage.{name}" for name in records.PASSAGE.split(", "))
        found: list[tuple[int, Passage]] = []
        for some in batches(numbers):
            found += [
                (row[0], records.passage_of(row[1:]))
                for row in self._all(
                    f"SELECT vector.number, {columns} FROM vector {self._dialect.ordered_join} "
                    "passage "
                    "ON passage.bank = vector.bank AND passage.hash = vector.hash "
                    f"WHERE {self._dialect.no_index}vector.bank = ? AND "
                    f"{self._dialect.no_index}vector.model = ? "
                    f"AND vector.number IN ({placeholders_for(some)})",
                    bank,
                    model,
                    *some,
                )
            ]
        return found

    def unembedded(
        self, model: str, kinds: Sequence[str] = (), limit: int = 100, bank: str | None = None
    ) -> list[Passage]:
        where, values = self._in_bank(bank)
        missing_vector, more = _has_no_vector(model, kinds)
        found = self._all(
            f"SELECT {records.PASSAGE} FROM passage WHERE {where} AND {missing_vector} "
            "ORDER BY time DESC, number DESC LIMIT ?",
            *values,
            *more,
            limit,
        )
        return [records.passage_of(row) for row in found]

    def count_unembedded(self, model: str, kinds: Sequence[str] = ()) -> int:
        missing_vector, values = _has_no_vector(model, kinds)
        row = self._one(f"SELECT count(*) FROM passage WHERE {missing_vector}", *values)
        return row[0] if row else 0

    def vector_models(self) -> list[tuple[str, int]]:
        found = self._all(
            "SELECT model, sum(total) FROM vector_count GROUP BY model ORDER BY model"
        )
        return [(model, count) for model, count in found]

    def vector_sizes(self, model: str) -> list[tuple[int, int]]:
        found = self._all(
            "SELECT length(data), count(*) FROM vector WHERE model = ? "
            "GROUP BY length(data) ORDER BY length(data)",
            model,
        )
        return [(size, count) for size, count in found]


def _has_no_vector(model: str, kinds: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The condition that a passage has no vector yet, and its values."""
    among = f"kind IN ({placeholders_for(kinds)}) AND " if kinds else ""
    missing = (
        "NOT EXISTS (SELECT 1 FROM vector WHERE vector.bank = passage.bank "
        "AND vector.model = ? AND vector.hash = passage.hash)"
    )
    return f"{among}hash <> '' AND {missing}", (*kinds, model)


class VectorWriter(StatementRunner):
    """Writes vectors."""

    def put_vectors(self, bank: str, model: str, vectors: Iterable[tuple[str, int, bytes]]) -> None:
        self._run_many(
            insert_missing("vector", "bank, model, hash, part, data"),
            [(bank, model, hash, part, data) for hash, part, data in vectors],
        )

    def index_vectors(self, model: str) -> bool:
        return False

    def prune_vectors(self, keep: str) -> int:
        other = self._run("DELETE FROM vector WHERE model <> ?", keep)
        orphans = self._run(
            "DELETE FROM vector WHERE NOT EXISTS (SELECT 1 FROM passage "
            "WHERE passage.bank = vector.bank AND passage.hash = vector.hash)"
        )
        return other + orphans

    def drop_vectors(self, bank: str, model: str, hashes: Sequence[str]) -> None:
        self._run_many(
            "DELETE FROM vector WHERE bank = ? AND model = ? AND hash = ?",
            [(bank, model, hash) for hash in hashes],
        )
