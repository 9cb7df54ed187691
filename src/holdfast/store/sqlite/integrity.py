"""Looking for damage of the file: pages, references and the full-text index."""

from __future__ import annotations

from holdfast.errors import StoreCorruptError, StoreError
from holdfast.store.protocol.maintenance import IntegrityReport
from holdfast.store.sql.integrity import IntegrityCheck

# How many faults of a sort are told; a damaged file has thousands, and five show what it is.
_MAX_FAULTS = 5


class SqliteIntegrityCheck(IntegrityCheck):
    """Checks the file, and if it is sound what was derived."""

    def check_integrity(self) -> IntegrityReport:
        try:
            lines = [str(row[0]) for row in self._all(f"PRAGMA quick_check({_MAX_FAULTS})")]
            damaged = [line for line in lines if line != "ok"]
            strays = self._all("PRAGMA foreign_key_check")[:_MAX_FAULTS]
            damaged += [f"a row of {row[0]} refers to nothing" for row in strays]
            return IntegrityReport(tuple(damaged), () if damaged else tuple(self._derived_faults()))
        except StoreCorruptError as error:
            return IntegrityReport((error.message,))

    def _index_faults(self) -> list[str]:
        """The index compares itself with what it indexes, which takes the right to write."""
        try:
            self._run("INSERT INTO passage_fts (passage_fts, rank) VALUES ('integrity-check', 1)")
        except StoreCorruptError:
            return ["the index of words does not match the passages"]
        except StoreError:
            return []
        return []
