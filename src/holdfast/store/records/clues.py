"""What transcripts show of the repositories that their folders were in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.bank import Clue, ClueKind, StoredClue
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import batches, insert_missing, placeholders_for

_CLUE = "bank, source, folder, kind, value"
# The kind of the row that says up to which byte of a file clues were looked for.
_READ = "read"


class Searched(NamedTuple):
    """How far a source was searched, and how often it had been rewritten by then."""

    offset: int
    rewrites: int


class ClueReader:
    """Reads clues."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self, bank: str | None) -> list[StoredClue]:
        """The clues of a bank, or of all, in a stable order."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"SELECT {_CLUE} FROM project_clue WHERE {where} AND kind <> ? ORDER BY {_CLUE}",
            (*values, _READ),
        )
        return [
            StoredClue(bank, source, folder, ClueKind(kind), value)
            for bank, source, folder, kind, value in found
        ]

    def searched(self, sources: Sequence[int]) -> dict[int, Searched]:
        """How far each of these sources was searched, by its number."""
        found: list[tuple[int, str]] = []
        for some in batches(sources):
            where, values = self._db.in_bank(None)
            found += self._db.all(
                f"SELECT source, value FROM project_clue WHERE {where} AND kind = ? "
                f"AND source IN ({placeholders_for(some)})",
                (*values, _READ, *some),
            )
        return {source: Searched(*map(int, value.split())) for source, value in found}

    def unsearched(self, bank: str | None) -> list[int]:
        """The numbers of the sources of which more was read than was searched, or that were
        rewritten since."""
        where, values = self._db.in_bank(bank)
        found = self._db.all(
            f"""SELECT id FROM source WHERE {where} AND "offset" || ' ' || rewrites <> coalesce(("""
            "SELECT max(value) FROM project_clue WHERE project_clue.bank = source.bank "
            "AND project_clue.source = source.id AND kind = ?), '0 0') ORDER BY path",
            (*values, _READ),
        )
        return [id for (id,) in found]

    def session_count(self, bank: str) -> int:
        """How many sessions a bank has, hidden ones included."""
        row = self._db.one("SELECT count(*) FROM session WHERE bank = ?", (bank,))
        return row[0] if row else 0

    def files(self, bank: str) -> list[str]:
        """The files, by their paths in the project, that tools read or changed."""
        found = self._db.all(
            "SELECT DISTINCT target FROM turn WHERE bank = ? "
            "AND tool IN ('Read', 'Edit', 'MultiEdit', 'Write') AND target <> '' ORDER BY target",
            (bank,),
        )
        return [target for (target,) in found]


class ClueWriter(ClueReader):
    """Writes clues."""

    def add(self, bank: str, source: int, searched: Searched, clues: Iterable[Clue]) -> None:
        """Add what was found in a source, and how far it was searched."""
        self._db.run(
            "DELETE FROM project_clue WHERE bank = ? AND source = ? AND kind = ?",
            (bank, source, _READ),
        )
        found = [(bank, source, *clue) for clue in clues]
        mark = (bank, source, "", _READ, f"{searched.offset} {searched.rewrites}")
        self._db.run_many(insert_missing("project_clue", _CLUE), [*found, mark])
