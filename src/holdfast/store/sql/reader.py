"""Everything that is read from a memory, but for what each engine does in its own way: search by
words, and counting changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from holdfast.model.bank import Bank
from holdfast.model.corrections import corrected_commit, corrected_memory, corrected_turn
from holdfast.model.forge import Issue, Pull, Remark
from holdfast.model.knowledge import Memory
from holdfast.model.ledgers.lines import Balance, FailedLine, LineOutcome, Source, SourceState
from holdfast.model.query import Passage, RecordFilter, TimelinePosition
from holdfast.model.records import Digest, Exchange, Session, Turn
from holdfast.model.team import Commit
from holdfast.store.protocol import Counts, Record, StaleSession
from holdfast.store.sql import labels, timeline
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.rows import rules as rule_rows
from holdfast.store.sql.statements import placeholders_for
from holdfast.store.sql.tables import forge, imports
from holdfast.store.sql.tables.concepts import ConceptReader
from holdfast.store.sql.tables.curation import CurationReader
from holdfast.store.sql.tables.export import ExportReader
from holdfast.store.sql.tables.facts import CLAIM, FACT, FactReader, claim_of, fact_of
from holdfast.store.sql.tables.git_history import GitHistoryReader
from holdfast.store.sql.tables.graph import GraphReader
from holdfast.store.sql.tables.memories import MemoryReader
from holdfast.store.sql.tables.overview import OverviewReader
from holdfast.store.sql.tables.rules import RuleReader
from holdfast.store.sql.tables.sessions import SessionReader
from holdfast.store.sql.tables.shares import SHARED, ShareReader, shared_of
from holdfast.store.sql.tables.vectors import VectorReader

_FINDABLE = {
    "turn": ("visible_turn", rows.TURN, rows.turn_of),
    "exchange": ("exchange", rows.EXCHANGE, rows.exchange_of),
    "digest": ("digest", rows.DIGEST, rows.digest_of),
    "session": ("visible_session", rows.SESSION, rows.session_of),
    "commit": ("visible_commit", rows.COMMIT, rows.commit_of),
    "memory": ("visible_memory", rows.MEMORY, rows.memory_of),
    "shared": ("visible_shared_record", SHARED, shared_of),
    "rule": ("rule", rule_rows.RULE, rule_rows.rule_of),
    "pattern": ("pattern", rule_rows.PATTERN, rule_rows.pattern_of),
    "fact": ("fact", FACT, fact_of),
    "claim": ("claim", CLAIM, claim_of),
    "entity": ("entity", rows.ENTITY, rows.entity_of),
    **forge.FINDABLE,
    **imports.FINDABLE,
}


class SqlReader(
    VectorReader,
    RuleReader,
    ShareReader,
    imports.ImportReader,
    ExportReader,
    MemoryReader,
    forge.ForgeReader,
    CurationReader,
    ConceptReader,
    FactReader,
    GraphReader,
    GitHistoryReader,
    SessionReader,
    OverviewReader,
):
    """Reads a memory over a connection that it does not own. It has no method that writes."""

    def banks(self) -> list[Bank]:
        aliases: dict[str, list[str]] = {}
        for alias, bank in self._all("SELECT alias, bank FROM bank_alias ORDER BY alias"):
            aliases.setdefault(bank, []).append(alias)
        found = self._all(f"SELECT {rows.BANK} FROM bank ORDER BY name, id")
        return [rows.bank_of(row, aliases.get(row[0], ())) for row in found]

    def bank(self, id: str) -> Bank | None:
        return next((bank for bank in self.banks() if bank.id == id), None)

    def bank_by_alias(self, alias: str) -> str | None:
        row = self._one("SELECT bank FROM bank_alias WHERE alias = ?", alias)
        return row[0] if row else None

    def bank_by_host_session(self, host: str) -> str | None:
        row = self._one("SELECT bank FROM session WHERE host = ? LIMIT 1", host)
        return row[0] if row else None

    def sources(self, bank: str | None = None) -> list[Source]:
        where, values = self._in_bank(bank)
        found = self._all(f"SELECT {rows.SOURCE} FROM source WHERE {where} ORDER BY path", *values)
        return [rows.source_of(row) for row in found]

    def source(self, id: int) -> Source | None:
        row = self._one(f"SELECT {rows.SOURCE} FROM source WHERE id = ?", id)
        return rows.source_of(row) if row else None

    def source_at(self, path: str) -> Source | None:
        row = self._one(f"SELECT {rows.SOURCE} FROM source WHERE path = ?", path)
        return rows.source_of(row) if row else None

    def balance(self, bank: str | None = None) -> Balance:
        where, values = self._in_bank(bank)
        counted = self._all(
            "SELECT fate, reason, sum(ledger.lines) FROM ledger JOIN source ON source.id = source "
            f"WHERE {where} GROUP BY fate, reason ORDER BY 3 DESC",
            *values,
        )
        amounts = "count(*), coalesce(sum(lines), 0)"
        totals = self._one(f"SELECT {amounts} FROM source WHERE {where}", *values)
        redacted = self._all(
            "SELECT kind, sum(count) FROM redaction JOIN source ON source.id = source "
            f"WHERE {where} GROUP BY kind ORDER BY 2 DESC",
            *values,
        )
        problems = [
            f"{source.path}: {source.problem}"
            for source in self.sources(bank)
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
        where, values = self._in_bank(bank)
        columns = ", ".join(f"failed_line.{name}" for name in rows.FAILED_LINE.split(", "))
        found = self._all(
            f"SELECT {columns} FROM failed_line JOIN source ON source.id = failed_line.source "
            f"WHERE {where} ORDER BY failed_line.source, failed_line.line LIMIT ?",
            *values,
            limit,
        )
        return [rows.failed_line_of(row) for row in found]

    def sources_failed_before(self, reader: int) -> set[int]:
        found = self._all("SELECT DISTINCT source FROM failed_line WHERE reader < ?", reader)
        return {row[0] for row in found}

    def counts(self, bank: str | None = None) -> Counts:
        where, values = self._in_bank(bank)
        tables = (
            "visible_session", "visible_turn", "exchange", "digest", "visible_commit",
            "visible_remembered_memory", "fact", "retained_memory", "opinion", "visible_pull",
            "visible_issue", "visible_shared_record", "visible_imported_record",
        )  # fmt: skip
        numbers = [
            row[0]
            for table in tables
            if (row := self._one(f"SELECT count(*) FROM {table} WHERE {where}", *values))
        ]
        amounts = 'coalesce(sum("offset"), 0), coalesce(sum(l1_bytes), 0)'
        sizes = self._one(f"SELECT {amounts} FROM source WHERE {where}", *values)
        return Counts(*numbers[:5], *(sizes or (0, 0)), *numbers[5:])

    def sessions(self, bank: str | None, limit: int = 20) -> list[Session]:
        where, values = self._in_bank(bank)
        found = self._all(
            f"SELECT {rows.SESSION} FROM visible_session WHERE {where} "
            "ORDER BY ended DESC, id LIMIT ?",
            *values,
            limit,
        )
        return [rows.session_of(row) for row in found]

    def session(self, bank: str, id: str) -> Session | None:
        row = self._one(
            f"SELECT {rows.SESSION} FROM visible_session WHERE bank = ? AND id = ?", bank, id
        )
        return rows.session_of(row) if row else None

    def turns(self, bank: str, session: str, first: int = 0, last: int | None = None) -> list[Turn]:
        found = self._all(
            f"SELECT {rows.TURN} FROM visible_turn "
            "WHERE bank = ? AND session = ? AND seq >= ? AND seq <= ? ORDER BY seq",
            bank,
            session,
            first,
            (1 << 62) if last is None else last,
        )
        return self._corrected_turns([rows.turn_of(row) for row in found])

    def turns_from(self, bank: str, session: str, first: int = 0) -> Iterator[Turn]:
        corrected = {
            c.id: c.text for c in self.curation_states_in_session(bank, session) if c.kind == "turn"
        }
        for row in self._stream(
            f"SELECT {rows.TURN} FROM visible_turn WHERE bank = ? AND session = ? AND seq >= ? "
            "ORDER BY seq",
            *(bank, session, first),
        ):
            turn = rows.turn_of(row)
            text = corrected.get(turn.id)
            yield corrected_turn(turn, text) if text else turn

    def turn_before(self, source: int, line: int) -> Turn | None:
        row = self._one(
            f"SELECT {rows.TURN} FROM visible_turn WHERE source = ? AND line <= ? AND line > 0 "
            "ORDER BY line DESC, seq DESC LIMIT 1",
            source,
            line,
        )
        return rows.turn_of(row) if row else None

    def exchanges(self, bank: str, session: str) -> list[Exchange]:
        found = self._all(
            f"SELECT {rows.EXCHANGE} FROM exchange "
            "WHERE bank = ? AND session = ? ORDER BY first_seq",
            bank,
            session,
        )
        return [rows.exchange_of(row) for row in found]

    def digest_of(self, bank: str, session: str) -> Digest | None:
        row = self._one(
            f"SELECT {rows.DIGEST} FROM digest WHERE bank = ? AND session = ?", bank, session
        )
        return rows.digest_of(row) if row else None

    def find(self, bank: str | None, kind: str, id: str, limit: int = 5) -> list[Record]:
        if kind in forge.NUMBERED and id.isdigit():
            return [*self.by_number(bank, kind, int(id), limit)]
        where, values = self._in_bank(bank)
        found: list[Record] = []
        for findable, (table, columns, make) in _FINDABLE.items():
            if kind in ("", findable):
                # A range, not LIKE: it uses the index and nothing in an id is a wildcard.
                hits = self._all(
                    f"SELECT {columns} FROM {table} WHERE {where} AND id >= ? AND id < ? "
                    "ORDER BY id LIMIT ?",
                    *values,
                    rows.text(id),
                    rows.text(id) + "\U0010ffff",
                    limit,
                )
                found += [self._corrected(make(row)) for row in hits]
        if kind == "concept" or (not kind and len(found) < limit):
            concepts = self._concepts_by_id(bank, id, limit)
            found += [c for c in concepts if kind or c.id.startswith(id)]
        return sorted(found, key=lambda record: record.id != id)[:limit]

    def _corrected(self, record: Record) -> Record:
        """A record with the words of its correction. Derived records have them already."""
        if isinstance(record, Turn):
            return self._corrected_turns([record])[0]
        if isinstance(record, Pull | Issue | Remark):
            return self._corrected_thread(record)
        if not isinstance(record, Commit | Memory):
            return record
        kind = "commit" if isinstance(record, Commit) else "memory"
        known = self.curation_state(record.bank, kind, record.id)
        if known is None or not known.text:
            return record
        if isinstance(record, Commit):
            return corrected_commit(record, known.text)
        return corrected_memory(record, known.text)

    def count_passages(self, bank: str | None, most: int) -> int:
        where, values = self._in_bank(bank)
        row = self._one(
            f"SELECT count(*) FROM (SELECT 1 FROM passage WHERE {where} LIMIT ?)", *values, most
        )
        return row[0] if row else 0

    def recent_passages(
        self, bank: str | None, kind: str, limit: int = 5, since: str = "", until: str = ""
    ) -> list[Passage]:
        where, values = self._in_bank(bank)
        span, times = time_condition(since, until)
        found = self._all(
            f"SELECT {rows.PASSAGE} FROM passage WHERE {where} AND kind = ? AND {span} "
            "ORDER BY time DESC, id LIMIT ?",
            *values,
            kind,
            *times,
            limit,
        )
        return [rows.passage_of(row) for row in found]

    def turn_passages(self, bank: str, session: str, seqs: Sequence[int]) -> list[Passage]:
        found = self._all(
            f"SELECT {rows.PASSAGE} FROM passage WHERE bank = ? AND session = ? AND kind = 'turn' "
            f"AND seq IN ({placeholders_for(seqs)}) ORDER BY seq",
            bank,
            session,
            *seqs,
        )
        return [rows.passage_of(row) for row in found]

    def passages_around(
        self,
        bank: str | None,
        position: TimelinePosition,
        kinds: Sequence[str],
        before: int,
        after: int,
    ) -> list[Passage]:
        return timeline.around(
            self._connection, self._bank_ids(bank), position, kinds, before, after
        )

    def count_undated(self, bank: str | None, kinds: Sequence[str], most: int) -> int:
        return timeline.undated(self._connection, self._bank_ids(bank), kinds, most)

    def filter_records(
        self, bank: str | None, filter: RecordFilter, limit: int = 20
    ) -> list[Exchange | Commit]:
        found = labels.filter_records(self._connection, self._bank_ids(bank), filter, limit)
        return [x if isinstance(x, Exchange) else self._corrected_commit(x) for x in found]

    def _corrected_commit(self, commit: Commit) -> Commit:
        corrected = self._corrected(commit)
        assert isinstance(corrected, Commit)
        return corrected

    def stale_sessions(self, limit: int = 100) -> list[StaleSession]:
        found = self._all(
            "SELECT bank, session, first_seq FROM stale_session ORDER BY bank, session LIMIT ?",
            limit,
        )
        return [StaleSession(*row) for row in found]

    def last_session_end(self, bank: str | None = None) -> str:
        where, values = self._in_bank(bank)
        row = self._one(f"SELECT coalesce(max(ended), '') FROM session WHERE {where}", *values)
        return row[0] if row else ""


def time_condition(since: str, until: str) -> tuple[str, tuple[str, ...]]:
    """The condition for a period of time, and its values."""
    parts = [("time >= ?", since)] * bool(since) + [("time < ?", until)] * bool(until)
    if not parts:
        return "true", ()
    return " AND ".join(["time <> ''", *(p for p, _ in parts)]), tuple(v for _, v in parts)
