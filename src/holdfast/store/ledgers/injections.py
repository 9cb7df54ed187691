"""The ledger of injected texts, and tasks of the worker that failed."""

from __future__ import annotations

import json

from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.store.sql.database import Database
from holdfast.store.sql.statements import insert_missing, upsert

_INJECTION = "bank, id, session, time, kind, characters, records, arrived, use, because"

_FAILED_TASK = "name, attempts, problem, failed_at, not_before"

_ARRIVED = {None: -1, False: 0, True: 1}

_ARRIVED_OF = {value: key for key, value in _ARRIVED.items()}


def _injection(row: tuple[object, ...]) -> Injection:
    bank, id, session, time, kind, characters, records, arrived, use, because = row
    return Injection(
        str(id),
        str(bank),
        str(session),
        str(time),
        InjectionKind(str(kind)),
        int(str(characters)),
        tuple(json.loads(str(records))),
        _ARRIVED_OF[int(str(arrived))],
        InjectionUse(str(use)),
        str(because),
    )


class InjectionLedger:
    """Records what was injected into sessions."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, injection: Injection) -> None:
        """Record an injection; a known id stays as it is."""
        i = injection
        self._db.run(
            insert_missing("injection", _INJECTION),
            (
                i.bank,
                i.id,
                i.session,
                i.time,
                i.kind.value,
                i.characters,
                json.dumps(i.records),
                _ARRIVED[i.arrived],
                i.use.value,
                i.because,
            ),
        )

    def record_outcome(self, injection: Injection) -> None:
        """Record whether an injection arrived and how it was used."""
        self._db.run(
            "UPDATE injection SET arrived = ?, use = ?, because = ? WHERE bank = ? AND id = ?",
            (
                _ARRIVED[injection.arrived],
                injection.use.value,
                injection.because,
                injection.bank,
                injection.id,
            ),
        )

    def latest(
        self, bank: str | None, session: str = "", unsettled: bool = False, limit: int = 100
    ) -> list[Injection]:
        """Injections, the latest first; only those of one session, or of unknown use, if asked
        for."""
        where, of_bank = self._db.in_bank(bank)
        wanted, values = [where], list[object](of_bank)
        if session:
            wanted.append("session = ?")
            values.append(session)
        if unsettled:
            wanted.append("use = 'unknown'")
        rows = self._db.all(
            f"SELECT {_INJECTION} FROM injection WHERE {' AND '.join(wanted)} "
            "ORDER BY time DESC, id, bank LIMIT ?",
            (*values, limit),
        )
        return [_injection(row) for row in rows]


class FailedTasks:
    """Records tasks that failed and are to be tried again."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def all(self) -> list[FailedTask]:
        """The failed tasks that are to be tried again, by name."""
        return [
            FailedTask(*row)
            for row in self._db.all(f"SELECT {_FAILED_TASK} FROM failed_task ORDER BY name")
        ]

    def put(self, task: FailedTask) -> None:
        """Record a failed task, in place of its earlier record."""
        self._db.run(
            upsert("failed_task", _FAILED_TASK, "name"),
            (task.name, task.attempts, task.problem, task.failed_at, task.not_before),
        )

    def clear(self, name: str) -> None:
        """Remove the record of a task that has succeeded."""
        self._db.run("DELETE FROM failed_task WHERE name = ?", (name,))
