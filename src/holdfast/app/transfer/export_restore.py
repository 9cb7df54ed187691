"""Restoring an export: its rows are stored as they were, and everything else is derived again.

It is one transaction. Records that exist stay as they are, so that the same export can be restored
twice, and one memory can be merged into another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import count, groupby
from pathlib import Path
from typing import NamedTuple

from holdfast.app.transfer.exporting import TABLE_BY_NAME, ExportLine, check_export, read_lines
from holdfast.capture.redact import Redactor
from holdfast.learn import import_intake, share_intake
from holdfast.learn.curation import Curator
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.uris import parse_uri
from holdfast.refine.core.passages import memory_passage
from holdfast.refine.git.forge_threads import refresh_passages
from holdfast.refine.git.history import curated_commit_passage
from holdfast.refine.sessions.derive import derive_stale
from holdfast.store.protocol import Writer
from holdfast.store.records.exports import ExportTable, Row

# Larger than any bank: asks the store for all records.
_NO_LIMIT = 1 << 40


class ExportRestoreReport(NamedTuple):
    """What restoring an export did: new lines by type, and lines by type that were known already;
    derived records are derived again. `backup` is the path of the one made before, "" if none."""

    added: dict[str, int]
    known: dict[str, int]
    backup: str = ""


def restore(
    writer: Writer,
    path: Path,
    curator: Curator,
    redactor: Redactor,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> ExportRestoreReport:
    """Restore an export, all of it or nothing."""
    total, done = sum(check_export(path).values()), count(1)

    def seen(line: ExportLine) -> tuple[str, str]:
        on_progress(next(done), total)
        return line.bank, line.type

    with writer.transaction():
        restorer = _RowRestorer(writer, redactor)
        for (bank, type), group in groupby(read_lines(path), key=seen):
            restorer.put(bank, type, (line.row for line in group))
        restorer.add_passages()
        derive_stale(writer)
        for bank in restorer.banks:
            curator.reapply(bank)
    return ExportRestoreReport(dict(restorer.added), dict(restorer.known))


class _RowRestorer:
    """Stores rows, group by group, and counts them."""

    def __init__(self, writer: Writer, redactor: Redactor) -> None:
        self._writer = writer
        self._redactor = redactor
        # The number of a source in the export, with its number in this memory.
        self._sources: dict[int, int] = {0: 0}
        self.banks: dict[str, None] = {}
        self.added: Counter[str] = Counter()
        self.known: Counter[str] = Counter()

    def put(self, bank: str, type: str, rows: Iterator[Row]) -> None:
        """Store successive rows of one type."""
        self.banks[bank] = None
        table = TABLE_BY_NAME.get(type)
        if table is None:
            return
        if type == "source":
            return self._put_sources(bank, table, rows)
        if type == "curation":
            return self._put_decisions(bank, rows)
        cleaned = [self._clean(table, row) for row in rows]
        new = self._writer.exports.restore_rows(bank, table, cleaned)
        self.added[type] += new
        self.known[type] += len(cleaned) - new

    def _clean(self, table: ExportTable, row: Row) -> Row:
        if table.group == "sessions" and "source" in row:
            row = {**row, "source": self._sources.get(row["source"], 0)}
        redacted = {
            name: self._redactor.redact(row[name]).text
            for name in table.words
            if isinstance(row[name], str)
        }
        return row | redacted

    def _put_sources(self, bank: str, table: ExportTable, rows: Iterator[Row]) -> None:
        """A source is identified by its path. One that is known keeps its reading position."""
        for row in rows:
            known = self._writer.sources.at_path(row["path"])
            self.known["source"] += known is not None
            self.added["source"] += known is None
            if known is None:
                self._sources[row["id"]] = self._writer.exports.restore_source(bank, table, row)
            else:
                self._sources[row["id"]] = known.id

    def _put_decisions(self, bank: str, rows: Iterator[Row]) -> None:
        known = self._writer.exports.known_decisions(bank)
        numbers: dict[str, str] = {}  # of log entries: in the export, and in this memory
        for row in rows:
            action = Action(row["action"])
            target = numbers.get(row["target"], "0") if action is Action.UNDO else row["target"]
            text, who = (self._redactor.redact(row[name]).text for name in ("text", "who"))
            seq = known.get((row["time"], action.value, target, text, who))
            if seq is None:
                entry = self._writer.curation.append(
                    Curation(0, bank, row["time"], action, target, text, who)
                )
                seq = entry.seq
            self.added["curation"] += seq not in known.values()
            self.known["curation"] += seq in known.values()
            numbers[str(row["seq"])] = str(seq)
            named = parse_uri(row["target"])
            if named and named.kind and not self._writer.curation.state(bank, named.kind, named.id):
                self._writer.curation.put_state(
                    CurationState(bank, named.kind, named.id, row["session"])
                )

    def add_passages(self) -> None:
        """Index what belongs to no session, which deriving does not reach."""
        writer = self._writer
        for bank in self.banks:
            for commit in list(writer.git.commits_uncurated(bank)):
                writer.passages.replace(commit, curated_commit_passage(writer, commit))
            for memory in writer.memories.remembered_uncurated(bank):
                writer.passages.replace(memory, memory_passage(memory))
            for kind in ("pull", "issue"):
                for record in writer.records.find(bank, kind, "", _NO_LIMIT):
                    refresh_passages(writer, bank, kind, record.id)
            share_intake.refresh_passages(writer, bank, [one.id for one in writer.shares.all(bank)])
            import_intake.refresh_passages(
                writer, bank, [one.id for one in writer.imports.all(bank)]
            )
