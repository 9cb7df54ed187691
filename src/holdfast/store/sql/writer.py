"""Everything that is written to a memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.model.bank import Bank
from holdfast.model.ledgers.lines import LineOutcome, Source
from holdfast.model.query import Passage
from holdfast.model.records import Origin, Session, Turn
from holdfast.model.team import Commit
from holdfast.store.protocol import SourceChange
from holdfast.store.sql.erasure import ErasureWriter
from holdfast.store.sql.reader import SqlReader
from holdfast.store.sql.rows import records as rows
from holdfast.store.sql.statements import (
    batches,
    insert_missing,
    placeholders,
    placeholders_for,
    upsert,
)
from holdfast.store.sql.tables.api_keys import ApiKeys
from holdfast.store.sql.tables.git_history import GitHistoryWriter
from holdfast.store.sql.tables.injections import InjectionLedger
from holdfast.store.sql.tables.model_calls import ModelCalls
from holdfast.store.sql.tables.vectors import VectorWriter
from holdfast.store.sql.tables.versions import DerivationVersions

# After every turn: nothing of the session is to be derived again but its digest.
_AFTER_LAST_SEQ = 1 << 62


class SqlWriter(
    SqlReader,
    ErasureWriter,
    VectorWriter,
    InjectionLedger,
    ModelCalls,
    DerivationVersions,
    GitHistoryWriter,
    ApiKeys,
):
    """Writes a memory over a connection that it does not own."""

    def add_bank(self, bank: Bank) -> None:
        d = bank.disposition
        self._run(
            insert_missing("bank", rows.BANK),
            bank.id,
            bank.name,
            bank.created,
            bank.background,
            d.skepticism,
            d.literalism,
            d.empathy,
            bank.retention,
        )
        for alias in bank.aliases:
            self.add_alias(bank.id, alias)

    def add_alias(self, bank: str, alias: str) -> None:
        self._run(insert_missing("bank_alias", "alias, bank"), alias, bank)

    def add_source(self, path: str, agent: str, bank: str) -> Source:
        known = self.source_at(path)
        if known is not None:
            return known
        self._run(insert_missing("source", "path, agent, bank"), path, agent, bank)
        added = self.source_at(path)
        assert added is not None
        return added

    def move_source(self, id: int, path: str) -> None:
        self._run("UPDATE source SET path = ?, state = 'live', problem = '' WHERE id = ?", path, id)

    def move_source_to_bank(self, id: int, bank: str) -> None:
        source = self.source(id)
        if source is None or source.bank == bank:
            return
        old = source.bank
        sessions = self._all(
            "SELECT id FROM session WHERE bank = ? AND (source = ? "
            "OR id IN (SELECT session FROM turn WHERE bank = ? AND source = ?)) ORDER BY id",
            old,
            id,
            old,
            id,
        )
        for (session,) in sessions:
            self._rebank_session(id, session, old, bank)
        self._run("UPDATE source SET bank = ? WHERE id = ?", bank, id)

    def _rebank_session(self, source: int, session: str, old: str, bank: str) -> None:
        """Move the turns that a session has from a source; those from other sources stay."""
        columns = rows.SESSION.removeprefix("bank, ")
        self._run(
            f"INSERT INTO session (bank, {columns}) "
            f"SELECT CAST(? AS text), {columns} FROM session WHERE bank = ? AND id = ? "
            "ON CONFLICT DO NOTHING",
            bank,
            old,
            session,
        )
        moving = self._all(
            "SELECT id, seq FROM turn WHERE bank = ? AND session = ? AND source = ? ORDER BY seq",
            old,
            session,
            source,
        )
        known = self.known_turns(bank, [turn for turn, _ in moving])
        taken = {turn.seq for turn in self.all_turns(bank, session)}
        for turn, seq in moving:
            if turn in known:
                self._run("DELETE FROM turn WHERE bank = ? AND id = ?", old, turn)
                continue
            place = seq if seq not in taken else max(taken) + 1
            taken.add(place)
            self._run(
                "UPDATE turn SET bank = ?, seq = ? WHERE bank = ? AND id = ?",
                bank,
                place,
                old,
                turn,
            )
        self._move_summaries(session, old, bank)
        self._rebank_decisions(session, old, bank)
        self._clear_retained(old, session, 0)
        for table in (
            "exchange", "digest", "passage", "claim", "stale_session", "session_derivation",
            "curation_state", "hidden_record",
        ):  # fmt: skip
            self._run(f"DELETE FROM {table} WHERE bank = ? AND session = ?", old, session)
        left = self._one("SELECT 1 FROM turn WHERE bank = ? AND session = ? LIMIT 1", old, session)
        if left:
            self._mark_stale([(old, session, 0)])
        else:
            self._run("DELETE FROM session WHERE bank = ? AND id = ?", old, session)
        self.mark_changed(old, session)
        self._mark_stale([(bank, session, 0)])

    def _move_summaries(self, session: str, old: str, bank: str) -> None:
        """Move the summaries of a session to its new bank, because they were paid for."""
        own = "SELECT id FROM {} WHERE bank = ? AND session = ?"
        self._run(
            "UPDATE model_summary SET bank = ? WHERE bank = ? AND record IN "
            f"({own.format('exchange')} UNION {own.format('digest')}) AND NOT EXISTS "
            "(SELECT 1 FROM model_summary AS held WHERE held.bank = ? AND held.hash = "
            "model_summary.hash "
            "AND held.version = model_summary.version)",
            *(bank, old, old, session, old, session, bank),
        )

    def restart_source(self, id: int) -> None:
        for table in ("ledger", "failed_line", "redaction"):
            self._run(f"DELETE FROM {table} WHERE source = ?", id)
        self._run(
            'UPDATE source SET "offset" = 0, lines = 0, '
            "prefix = '', stamp = '', l1_bytes = 0, "
            "rewrites = rewrites + 1 WHERE id = ?",
            id,
        )
        self._run('UPDATE turn SET line = 0, "offset" = 0 WHERE source = ?', id)

    def set_source_state(self, id: int, state: str, problem: str) -> None:
        self._run("UPDATE source SET state = ?, problem = ? WHERE id = ?", state, problem, id)

    def advance_source(self, change: SourceChange) -> bool:
        c = change
        moved = self._run(
            'UPDATE source SET "offset" = ?, '
            "prefix = ?, stamp = ?, lines = lines + ?, "
            "l1_bytes = l1_bytes + ?, read_at = ?, state = 'live', problem = '' "
            'WHERE id = ? AND "offset" = ?',
            c.offset,
            c.prefix,
            c.stamp,
            c.lines,
            c.l1_bytes,
            c.read_at,
            c.source,
            c.seen_offset,
        )
        if moved == 0:
            return False
        counts = [
            (LineOutcome.CAPTURED.value, "", c.captured),
            (LineOutcome.FAILED.value, "", len(c.failed)),
        ]
        counts += [(LineOutcome.SKIPPED.value, reason, n) for reason, n in c.skipped.items()]
        self._run_many(
            "INSERT INTO ledger VALUES (?, ?, ?, ?) "
            "ON CONFLICT (source, fate, reason) "
            "DO UPDATE SET lines = ledger.lines + excluded.lines",
            [(c.source, fate, reason, n) for fate, reason, n in counts if n],
        )
        self._run_many(
            "INSERT INTO redaction VALUES (?, ?, ?) "
            "ON CONFLICT (source, kind) DO UPDATE SET count = redaction.count + excluded.count",
            [(c.source, kind, n) for kind, n in c.redacted.items()],
        )
        self._run_many(
            upsert("failed_line", rows.FAILED_LINE, "source, line"),
            [(f.source, f.line, f.offset, f.reason, f.excerpt, f.reader) for f in c.failed],
        )
        return True

    def add_session(self, session: Session) -> None:
        # What is known first stays, but for the title; the span only ever widens.
        self._run(
            f"INSERT INTO session ({rows.SESSION}) VALUES ({placeholders(rows.SESSION)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET "
            "title = CASE excluded.title WHEN '' THEN session.title ELSE excluded.title END, "
            "parent = CASE session.parent WHEN '' THEN excluded.parent ELSE session.parent END, "
            "subagent = CASE session.subagent WHEN '' THEN excluded.subagent "
            "ELSE session.subagent END, "
            "cwd = CASE session.cwd WHEN '' THEN excluded.cwd ELSE session.cwd END, "
            "branch = CASE session.branch WHEN '' THEN excluded.branch ELSE session.branch END, "
            "version = CASE session.version WHEN '' THEN excluded.version "
            "ELSE session.version END, "
            "started = CASE WHEN session.started = '' OR (excluded.started <> '' "
            "AND excluded.started < session.started) THEN excluded.started "
            "ELSE session.started END, "
            "ended = CASE WHEN excluded.ended > session.ended THEN excluded.ended "
            "ELSE session.ended END",
            *rows.session_row(session),
        )
        self._mark_stale([(session.bank, session.id, _AFTER_LAST_SEQ)])

    def known_turns(self, bank: str, ids: Sequence[str]) -> dict[str, Origin]:
        known: dict[str, Origin] = {}
        for some in batches(ids):
            found = self._all(
                'SELECT id, source, line, "offset", ref FROM turn '
                "WHERE bank = ? AND id IN "
                f"({placeholders_for(some)})",
                bank,
                *some,
            )
            known.update((row[0], Origin(*row[1:])) for row in found)
        return known

    def tool_call_turn(self, bank: str, session: str, call: str) -> Turn | None:
        row = call and self._one(
            f"SELECT {rows.TURN} FROM turn "
            "WHERE bank = ? AND call = ? AND session = ? AND call <> '' LIMIT 1",
            bank,
            call,
            session,
        )
        return rows.turn_of(row) if row else None

    def has_tool_call(self, bank: str, call: str) -> bool:
        return bool(
            call
            and self._one(
                "SELECT 1 FROM turn WHERE bank = ? AND call = ? AND call <> ''", bank, call
            )
        )

    def next_seq(self, bank: str, session: str) -> int:
        row = self._one("SELECT max(seq) FROM turn WHERE bank = ? AND session = ?", bank, session)
        return 1 if row is None or row[0] is None else int(row[0]) + 1

    def put_turns(self, turns: Iterable[Turn]) -> None:
        turns = list(turns)
        changeable = 'lines result ok duration_ms trust source line "offset" ref'.split()
        self._run_many(
            f"INSERT INTO turn ({rows.TURN}) VALUES ({placeholders(rows.TURN)}) "
            "ON CONFLICT (bank, id) DO UPDATE SET "
            + ", ".join(f"{name} = excluded.{name}" for name in changeable),
            [rows.turn_row(turn) for turn in turns],
        )
        self._mark_stale([(turn.bank, turn.session, turn.seq) for turn in turns])

    def _mark_stale(self, changed: Iterable[tuple[str, str, int]]) -> None:
        first: dict[tuple[str, str], int] = {}
        for bank, session, seq in changed:
            first[bank, session] = min(seq, first.get((bank, session), seq))
        self._run_many(
            "INSERT INTO stale_session VALUES (?, ?, ?) "
            "ON CONFLICT (bank, session) DO UPDATE SET first_seq = CASE WHEN "
            "excluded.first_seq < stale_session.first_seq THEN excluded.first_seq "
            "ELSE stale_session.first_seq END",
            [(*name, seq) for name, seq in first.items()],
        )

    def put_commits(self, commits: Iterable[tuple[Commit, Passage | None]]) -> int:
        banks: list[str] = []
        for commit, passage in commits:
            added = self._run(
                insert_missing("commit", rows.COMMIT),
                *rows.commit_row(commit),
            )
            if added:
                banks.append(commit.bank)
                self.put_passage(commit, passage)
        for bank in dict.fromkeys(banks):
            self.mark_changed(bank, "")
        return len(banks)
