"""Calls of model services and their cost, paused services, and summaries that were paid for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.model_calls import (
    CallOutcome,
    ModelCall,
    ModelSummary,
    ServicePause,
    Spending,
)
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert_missing, placeholders, upsert


class DailySpending(NamedTuple):
    """What one operation spent on one model on one day."""

    day: str
    operation: str
    service: str
    model: str
    spent: Spending


class UnsummarisedSession(NamedTuple):
    """A session with exchanges or a digest that no model has summarised."""

    bank: str
    session: str


_CALL = (
    "bank, id, time, session, operation, service, model, tokens_in, tokens_out, tokens_cached, "
    "usd, ms, attempt, outcome, problem"
)

_PAUSE = "service, until, attempts, problem, since"

_SUMMARY = "bank, hash, version, kind, record, last_seq, model, time, content, problem"

_SUMS = (
    "count(*), coalesce(sum(tokens_in), 0), coalesce(sum(tokens_out), 0), "
    "coalesce(sum(tokens_cached), 0), coalesce(sum(usd), 0.0), "
    "coalesce(sum(CASE WHEN usd IS NULL AND tokens_in + tokens_out > 0 THEN 1 ELSE 0 END), 0), "
    "coalesce(sum(CASE WHEN outcome IN ('done', 'open') THEN 0 ELSE 1 END), 0)"
)

# Whether no summary of a record `r` up to its last turn was tried with this version of the prompts.
# Memories that a model extracted from an exchange, and its verdicts, are no summary of it.
_UNTRIED = (
    "r.author = '' AND NOT EXISTS (SELECT 1 FROM model_summary WHERE model_summary.bank = r.bank "
    "AND model_summary.record = r.id AND model_summary.kind IN ('exchange', 'digest') "
    "AND model_summary.last_seq >= {last} AND "
    "model_summary.version >= ?)"
)


def call_of(row: Sequence[Any]) -> ModelCall:
    """`_CALL`."""
    *plain, outcome, problem = row
    return ModelCall(*plain, outcome=CallOutcome(outcome), problem=problem)


def _call_row(call: ModelCall) -> tuple[Any, ...]:
    c = call
    return (
        c.bank, c.id, c.time, c.session, c.operation, c.service, c.model, c.tokens_in,
        c.tokens_out, c.tokens_cached, c.usd, c.ms, c.attempt, c.outcome.value, c.problem,
    )  # fmt: skip


def _summary_row(s: ModelSummary) -> tuple[Any, ...]:
    """`_SUMMARY`."""
    made = (s.bank, s.hash, s.version, s.kind, s.record, s.last_seq)
    return (*made, s.model, s.time, s.content, s.problem)


class ModelCallLedger:
    """Records calls and what they cost."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def reserve(self, call: ModelCall) -> None:
        """Record a call before it is made, with the most that it may take."""
        self._db.run(
            f"INSERT INTO model_call ({_CALL}) VALUES ({placeholders(_CALL)})", _call_row(call)
        )

    def record_result(self, call: ModelCall) -> None:
        """Replace a reserved call by what it actually took."""
        columns = _CALL.split(", ")[2:]
        settled = ", ".join(f"{name} = ?" for name in columns)
        self._db.run(
            f"UPDATE model_call SET {settled} WHERE bank = ? AND id = ?",
            (*_call_row(call)[2:], call.bank, call.id),
        )

    def total_spent(self, since: str = "", bank: str = "", session: str = "") -> Spending:
        """The sum of all calls from a time on, open ones at their maximum; only those of one bank
        or session where one is named."""
        own, values = "", tuple[str, ...]()
        if session:
            own, values = " AND bank = ? AND session = ?", (bank, session)
        row = self._db.one(f"SELECT {_SUMS} FROM model_call WHERE time >= ?{own}", (since, *values))
        return Spending(*row) if row else Spending()

    def spending_by_day(self, since: str = "") -> list[DailySpending]:
        """The same by day, operation and model, the latest day first."""
        found = self._db.all(
            f"SELECT substr(time, 1, 10), operation, service, model, {_SUMS} FROM model_call "
            "WHERE time >= ? GROUP BY 1, 2, 3, 4 ORDER BY 1 DESC, 2, 3, 4",
            (since,),
        )
        return [
            DailySpending(day, what, by, model, Spending(*sums))
            for day, what, by, model, *sums in found
        ]

    def failed(self, limit: int = 5) -> list[ModelCall]:
        """The latest calls that failed, were refused or were turned away, the last first."""
        found = self._db.all(
            f"SELECT {_CALL} FROM model_call WHERE problem <> '' ORDER BY time DESC, id LIMIT ?",
            (limit,),
        )
        return [call_of(row) for row in found]

    def paused_services(self) -> list[ServicePause]:
        """The paused services, by name."""
        return [
            ServicePause(*row)
            for row in self._db.all(f"SELECT {_PAUSE} FROM service_pause ORDER BY service")
        ]

    def pause_service(self, pause: ServicePause) -> None:
        """Pause a service, in place of an earlier pause."""
        self._db.run(
            upsert("service_pause", _PAUSE, "service"),
            (pause.service, pause.until, pause.attempts, pause.problem, pause.since),
        )

    def resume_service(self, service: str) -> None:
        """End the pause of a service."""
        self._db.run("DELETE FROM service_pause WHERE service = ?", (service,))


class ModelSummaryReader:
    """Reads what models wrote."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get(self, bank: str, hash: str) -> ModelSummary | None:
        """The summary of the latest version for this hash; None if no version produced one."""
        row = self._db.one(
            f"SELECT {_SUMMARY} FROM model_summary WHERE bank = ? AND hash = ? AND content <> '' "
            "ORDER BY version DESC LIMIT 1",
            (bank, hash),
        )
        return ModelSummary(*row) if row else None

    def was_attempted(self, bank: str, hash: str, version: int) -> bool:
        """Whether a model was already asked by this version, whatever the result."""
        return self._is_there(
            "SELECT 1 FROM model_summary WHERE bank = ? AND hash = ? AND version = ?",
            bank,
            hash,
            version,
        )

    def has_any(self, bank: str) -> bool:
        """Whether a bank has any summary."""
        return self._is_there("SELECT 1 FROM model_summary WHERE bank = ? LIMIT 1", bank)

    def _is_there(self, sql: str, *values: object) -> bool:
        return self._db.one(sql, values) is not None


class ModelSummaries(ModelSummaryReader):
    """Keeps what models wrote."""

    def put(self, summary: ModelSummary, session: str, first: int) -> None:
        """Keep a summary; the session becomes stale from place `first` on. A summary of the same
        hash and version stays as it is."""
        s = summary
        self._db.run(
            insert_missing("model_summary", _SUMMARY),
            _summary_row(s),
        )
        if s.content:
            self._db.run(
                "INSERT INTO stale_session VALUES (?, ?, ?) "
                "ON CONFLICT (bank, session) "
                "DO UPDATE SET first_seq = CASE WHEN excluded.first_seq < stale_session.first_seq "
                "THEN excluded.first_seq ELSE stale_session.first_seq END",
                (s.bank, session, first),
            )

    def unsummarised_sessions(
        self, since: str, version: int, limit: int = 50
    ) -> list[UnsummarisedSession]:
        """Sessions of people that went on after `since` and have an exchange or a digest made by
        rules alone, for which no model was asked and which nobody corrected; the latest first."""
        reach = "(SELECT max(last_seq) FROM exchange WHERE bank = r.bank AND session = r.session)"
        found = self._db.all(
            "SELECT bank, id FROM session AS s WHERE ended >= ? AND parent = '' AND subagent = '' "
            "AND (EXISTS (SELECT 1 FROM exchange AS r WHERE r.bank = s.bank AND r.session = s.id "
            f"AND r.status <> 'verified' AND {_UNTRIED.format(last='r.last_seq')}) "
            "OR EXISTS (SELECT 1 FROM digest AS r WHERE r.bank = s.bank AND r.session = s.id "
            f"AND {_UNTRIED.format(last=reach)})) ORDER BY ended DESC, id LIMIT ?",
            (since, version, version, limit),
        )
        return [UnsummarisedSession(*row) for row in found]
