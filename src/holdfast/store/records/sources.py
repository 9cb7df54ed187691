"""Input files, how far they were read, and what became of their lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.lines import Balance, FailedLine, LineOutcome, Source, SourceState
from holdfast.principal import Level
from holdfast.store.sql.database import Subject
from holdfast.store.sql.statements import (
    insert_missing,
)
from holdfast.store.sql.table import Table

SOURCE = Table("source", Source, "id")
_LIKE_SPECIAL = re.compile(r"[\\%_]")
FAILED_LINE = Table("failed_line", FailedLine, "source, line")


class SourcePlace(NamedTuple):
    """What tells whether a file is gone or has changed since it was read."""

    id: int
    path: str
    agent: str
    state: str
    stamp: str


class SourceChange(NamedTuple):
    """How far a source was read from `seen_offset` on, and the outcomes of its lines."""

    source: int
    seen_offset: int
    offset: int
    prefix: str
    stamp: str
    lines: int
    l1_bytes: int
    captured: int
    skipped: dict[str, int]
    failed: Sequence[FailedLine]
    redacted: dict[str, int]
    read_at: str


class Sources(Subject):
    """Reads input files and their ledger."""

    def all(self, bank: str | None = None) -> list[Source]:
        """Every input file, by path."""
        return SOURCE.find(self._db, bank, "ORDER BY path")

    def places(self, bank: str | None = None, with_gone: bool = True) -> list[SourcePlace]:
        """Every input file, by path, as little of it as comparing it with the disk needs: a quarter
        of the time of `all`. Of an old memory, most files are known to be gone."""
        where, values = self._db.in_bank(bank)
        if not with_gone:
            where, values = f"{where} AND state <> ?", (*values, SourceState.GONE.value)
        columns = "id, path, agent, state, stamp"
        found = self._db.all(f"SELECT {columns} FROM source WHERE {where} ORDER BY path", values)
        return [SourcePlace(*row) for row in found]

    def named(self, name: str, bank: str | None = None) -> list[Source]:
        """The input files with this file name, in any folder, by path."""
        ending = "%" + _LIKE_SPECIAL.sub(r"\\\g<0>", name)
        found = SOURCE.find(self._db, bank, "AND path LIKE ? ESCAPE '\\' ORDER BY path", (ending,))
        return [source for source in found if PurePath(source.path).name == name]

    def get(self, id: int) -> Source | None:
        """One input file by its number."""
        return SOURCE.first(self._db, None, "AND id = ?", (id,))

    def at_path(self, path: str) -> Source | None:
        """One input file by its path."""
        return SOURCE.first(self._db, None, "AND path = ?", (path,))

    def sessions_read_after(self, bank: str, time: str) -> frozenset[str]:
        """The ids of the sessions in a bank that had ended at a time, and of whose file something
        was read only after it."""
        found = self._db.all(
            "SELECT s.id FROM session AS s JOIN source ON source.id = s.source "
            "WHERE s.bank = ? AND source.read_at > ? AND s.ended <= ?",
            (bank, time, time),
        )
        return frozenset(id for (id,) in found)

    def balance(self, bank: str | None = None) -> Balance:
        """The ledger added up; the caller fills in `pending` from the files on disk."""
        where, values = self._db.in_bank(bank)
        counted = self._db.all(
            "SELECT fate, reason, sum(ledger.lines) FROM ledger JOIN source ON source.id = source "
            f"WHERE {where} GROUP BY fate, reason ORDER BY 3 DESC",
            values,
        )
        amounts = "count(*), coalesce(sum(lines), 0)"
        totals = self._db.one(f"SELECT {amounts} FROM source WHERE {where}", values)
        redacted = self._db.all(
            "SELECT kind, sum(count) FROM redaction JOIN source ON source.id = source "
            f"WHERE {where} GROUP BY kind ORDER BY 2 DESC",
            values,
        )
        problems = [
            f"{source.path}: {source.problem}"
            for source in self.all(bank)
            if source.state is not SourceState.LIVE
        ]
        files, lines = totals or (0, 0)
        return Balance(
            files=files,
            lines=lines,
            captured=sum(n for fate, _, n in counted if fate == LineOutcome.CAPTURED),
            skipped={reason: n for fate, reason, n in counted if fate == LineOutcome.SKIPPED},
            failed=sum(n for fate, _, n in counted if fate == LineOutcome.FAILED),
            redacted=dict(redacted),
            problems=tuple(problems),
        )

    def failures(self, bank: str | None = None, limit: int = 20) -> list[FailedLine]:
        """Lines that could not be read."""
        where, values = self._db.in_bank(bank)
        columns = FAILED_LINE.of("failed_line")
        found = self._db.all(
            f"SELECT {columns} FROM failed_line JOIN source ON source.id = failed_line.source "
            f"WHERE {where} ORDER BY failed_line.source, failed_line.line LIMIT ?",
            (*values, limit),
        )
        return FAILED_LINE.records(found)

    def failed_before(self, reader: int) -> set[int]:
        """The sources with lines that a reader older than this one could not read."""
        found = self._db.all("SELECT DISTINCT source FROM failed_line WHERE reader < ?", (reader,))
        return {row[0] for row in found}

    def redaction_counts(self, source: int) -> dict[str, int]:
        """How many secrets of each kind were redacted in a source."""
        found = self._db.all(
            "SELECT kind, count FROM redaction WHERE source = ? ORDER BY count DESC, kind",
            (source,),
        )
        return dict(found)

    def add(self, path: str, agent: str, bank: str) -> Source:
        """The source at a path, added if it is new."""
        self._db.require(Level.WRITE, all_banks=True)
        known = self.at_path(path)
        if known is not None:
            return known
        self._db.run(insert_missing("source", "path, agent, bank"), (path, agent, bank))
        added = self.at_path(path)
        assert added is not None
        return added

    def move(self, id: int, path: str) -> None:
        """Change the path of a source whose file was moved."""
        self._db.run(
            "UPDATE source SET path = ?, state = 'live', problem = '' WHERE id = ?", (path, id)
        )

    def restart(self, id: int) -> None:
        """Read a rewritten file again from its start, with an empty ledger. Its turns stay, at line
        0 until they are read again."""
        for table in ("ledger", "failed_line", "redaction"):
            self._db.run(f"DELETE FROM {table} WHERE source = ?", (id,))
        self._db.run(
            'UPDATE source SET "offset" = 0, lines = 0, '
            "prefix = '', stamp = '', l1_bytes = 0, "
            "rewrites = rewrites + 1 WHERE id = ?",
            (id,),
        )
        self._db.run('UPDATE turn SET line = 0, "offset" = 0 WHERE source = ?', (id,))

    def set_state(self, id: int, state: str, problem: str) -> None:
        """Record that a file is missing, unreadable, or readable again."""
        self._db.run("UPDATE source SET state = ?, problem = ? WHERE id = ?", (state, problem, id))

    def advance(self, change: SourceChange) -> bool:
        """Move a source's offset and count its lines; False if another process moved it first."""
        c = change
        moved = self._db.run(
            'UPDATE source SET "offset" = ?, '
            "prefix = ?, stamp = ?, lines = lines + ?, "
            "l1_bytes = l1_bytes + ?, read_at = ?, state = 'live', problem = '' "
            'WHERE id = ? AND "offset" = ?',
            (c.offset, c.prefix, c.stamp, c.lines, c.l1_bytes, c.read_at, c.source, c.seen_offset),
        )
        if moved == 0:
            return False
        counts = [
            (LineOutcome.CAPTURED.value, "", c.captured),
            (LineOutcome.FAILED.value, "", len(c.failed)),
        ]
        counts += [(LineOutcome.SKIPPED.value, reason, n) for reason, n in c.skipped.items()]
        self._db.run_many(
            "INSERT INTO ledger VALUES (?, ?, ?, ?) "
            "ON CONFLICT (source, fate, reason) "
            "DO UPDATE SET lines = ledger.lines + excluded.lines",
            [(c.source, fate, reason, n) for fate, reason, n in counts if n],
        )
        self._db.run_many(
            "INSERT INTO redaction VALUES (?, ?, ?) "
            "ON CONFLICT (source, kind) DO UPDATE SET count = redaction.count + excluded.count",
            [(c.source, kind, n) for kind, n in c.redacted.items()],
        )
        for failed in c.failed:
            FAILED_LINE.put(self._db, failed)
        return True
