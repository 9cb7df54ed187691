"""Calls of model services and their cost, paused services, and summaries that were paid for."""

from __future__ import annotations

from holdfast.lazy_named_tuple import NamedTuple
from holdfast.model.ledgers.model_calls import (
    ModelCall,
    ModelSummary,
    ServicePause,
    Spending,
)
from holdfast.principal import Level
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import Table


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


CALL = Table("model_call", ModelCall)
_PAUSE = Table("service_pause", ServicePause, "service")
_SUMMARY = Table("model_summary", ModelSummary, "bank, hash, version")

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


class ModelCallLedger(Subject):
    """Records calls and what they cost."""

    def reserve(self, call: ModelCall) -> None:
        """Record a call before it is made, with the most that it may take."""
        CALL.add(self._db, [call])

    def record_result(self, call: ModelCall) -> None:
        """Replace a reserved call by what it actually took."""
        CALL.put(self._db, call)

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
        self._db.require(Level.READ, all_banks=True)
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
        latest = "AND problem <> '' ORDER BY time DESC, id LIMIT ?"
        return CALL.find(self._db, None, latest, (limit,))

    def paused_services(self) -> list[ServicePause]:
        """The paused services, by name."""
        return _PAUSE.find(self._db, None, "ORDER BY service")

    def pause_service(self, pause: ServicePause) -> None:
        """Pause a service, in place of an earlier pause."""
        _PAUSE.put(self._db, pause)

    def resume_service(self, service: str) -> None:
        """End the pause of a service."""
        self._db.run("DELETE FROM service_pause WHERE service = ?", (service,))


class ModelSummaries(Subject):
    """Reads what models wrote."""

    def get(self, bank: str, hash: str) -> ModelSummary | None:
        """The summary of the latest version for this hash; None if no version produced one."""
        found = "AND hash = ? AND content <> '' ORDER BY version DESC LIMIT 1"
        return _SUMMARY.first(self._db, bank, found, (hash,))

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

    def put(self, summary: ModelSummary, session: str, first: int) -> None:
        """Keep a summary; the session becomes stale from place `first` on. A summary of the same
        hash and version stays as it is."""
        s = summary
        _SUMMARY.add_missing(self._db, [s])
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
