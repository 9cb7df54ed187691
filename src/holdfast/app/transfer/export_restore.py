"""An export comes back: its rows as they were, and everything that is made of them, made again.

All of it is one transaction. What is there already stays as it is, so that the same export can be
read twice, and one memory can take in another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import NamedTuple

from holdfast.app.transfer.export_format import (
    DERIVED_TYPES,
    Header,
    ExportLine,
    check_export,
    read_lines,
)
from holdfast.capture.redact import Redactor
from holdfast.learn import import_intake, share_intake
from holdfast.learn.curation import Curator
from holdfast.model.curation import Action, Curation, CurationState
from holdfast.model.uris import parse_uri
from holdfast.refine.core.passages import memory_passage
from holdfast.refine.git.forge_threads import refresh_passages
from holdfast.refine.git.history import curated_commit_passage
from holdfast.refine.sessions.derive import derive_stale
from holdfast.store.export_tables import TABLES
from holdfast.store.protocol import Writer
from holdfast.store.protocol.export import ExportTable, Row

_BY_NAME = {table.name: table for table in TABLES}
Tick = Callable[[int, int], None]


class ExportRestoreReport(NamedTuple):
    """What an export brought: lines by type that are new, those that were there already, and those
    that are made again from the rest."""

    header: Header
    added: dict[str, int]
    known: dict[str, int]
    made_again: int
    backup: str = ""


def preview(path: Path) -> ExportRestoreReport:
    """Go through an export; changes nothing."""
    return ExportRestoreReport(check_export(path), {}, {}, 0)


def restore(
    writer: Writer,
    path: Path,
    curator: Curator,
    redactor: Redactor,
    tick: Tick = lambda done, total: None,
) -> ExportRestoreReport:
    """Put an export back, all of it or nothing."""
    header = check_export(path)
    total = sum(header.counts.values())
    with writer.transaction():
        work = _Work(writer, redactor)
        for (bank, type), group in groupby(
            read_lines(path), key=lambda line: (line.bank, line.type)
        ):
            work.put(bank, type, (line.row for line in _counted(group, work, total, tick)))
        work.show()
        derive_stale(writer)
        for bank in work.banks:
            curator.reapply(bank)
    return ExportRestoreReport(header, dict(work.added), dict(work.known), work.made_again)


def _counted(
    group: Iterator[ExportLine], work: _Work, total: int, tick: Tick
) -> Iterator[ExportLine]:
    for line in group:
        work.read += 1
        tick(work.read, total)
        yield line


class _Work:
    """Puts rows back, group by group, and remembers what must follow."""

    def __init__(self, writer: Writer, redactor: Redactor) -> None:
        self._writer = writer
        self._redactor = redactor
        self._sources: dict[int, int] = {0: 0}
        self.banks: dict[str, None] = {}
        self.added: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.made_again = 0
        self.read = 0

    def put(self, bank: str, type: str, rows: Iterator[Row]) -> None:
        """One run of rows of one type."""
        self.banks[bank] = None
        if type in DERIVED_TYPES:
            self.made_again += sum(1 for _ in rows)
            return
        table = _BY_NAME[type]
        if type == "source":
            self._put_sources(bank, table, rows)
            return
        if type == "curation":
            self._put_decisions(bank, rows)
            return
        listed = [self._clean(table, row) for row in rows]
        new = self._writer.restore_rows(bank, table, listed)
        self.added[type] += new
        self.known[type] += len(listed) - new

    def _clean(self, table: ExportTable, row: Row) -> Row:
        if table.group == "sessions" and "source" in row:
            row = {**row, "source": self._sources.get(row["source"], 0)}
        words = {
            name: self._redactor.redact(row[name]).text
            for name in table.words
            if isinstance(row[name], str)
        }
        return row | words

    def _put_sources(self, bank: str, table: ExportTable, rows: Iterator[Row]) -> None:
        """A file is known by its path; what was read of it here stays as it is."""
        for row in rows:
            known = self._writer.source_at(row["path"])
            self.known["source"] += known is not None
            self.added["source"] += known is None
            if known is None:
                self._sources[row["id"]] = self._writer.restore_source(bank, table, row)
            else:
                self._sources[row["id"]] = known.id

    def _put_decisions(self, bank: str, rows: Iterator[Row]) -> None:
        known = self._writer.known_decisions(bank)
        numbers: dict[str, str] = {}
        for row in rows:
            action = Action(row["action"])
            target = numbers.get(row["target"], "0") if action is Action.UNDO else row["target"]
            text, who = (self._redactor.redact(row[name]).text for name in ("text", "who"))
            same = known.get((row["time"], action.value, target, text, who))
            if same is None:
                made = self._writer.append_curation(
                    Curation(0, bank, row["time"], action, target, text, who)
                )
                same = made.seq
            self.added["curation"] += same not in known.values()
            self.known["curation"] += same in known.values()
            numbers[str(row["seq"])] = str(same)
            named = parse_uri(row["target"])
            if named and named.kind and not self._writer.curation_state(bank, named.kind, named.id):
                self._writer.put_curation_state(
                    CurationState(bank, named.kind, named.id, row["session"])
                )

    def show(self) -> None:
        """Make findable what belongs to no session, and let the rest be derived."""
        writer = self._writer
        for bank in self.banks:
            for commit in list(writer.all_commits(bank)):
                writer.put_passage(commit, curated_commit_passage(writer, commit))
            for memory in writer.all_remembered(bank):
                writer.put_passage(memory, memory_passage(memory))
            for kind in ("pull", "issue"):
                for record in writer.find(bank, kind, "", 1 << 40):
                    refresh_passages(writer, bank, kind, record.id)
            share_intake.refresh_passages(writer, bank, [one.id for one in writer.shared(bank)])
            import_intake.refresh_passages(writer, bank, [one.id for one in writer.imported(bank)])
