"""The ledger of injected texts, and tasks of the worker that failed."""

from __future__ import annotations

import json

from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.injections import Injection, InjectionKind, InjectionUse
from holdfast.store.sql.runner import StatementRunner
from holdfast.store.sql.statements import insert_missing, upsert

_INJECTION = "bank, id, session, time, kind, characters, records, arrived, use, because"
_FAILED_TASK = "name, attempts, problem, failed_at, not_before"
_ARRIVED = {None: -1, False: 0, True: 1}
_ARRIVED_OF = {value: key for key, value in _ARRIVED.items()}


class InjectionLedger(StatementRunner):
    """Reads and writes both."""

    def add_injection(self, injection: Injection) -> None:
        i = injection
        self._run(
            insert_missing("injection", _INJECTION),
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
        )

    def record_injection_outcome(self, injection: Injection) -> None:
        self._run(
            "UPDATE injection SET arrived = ?, use = ?, because = ? WHERE bank = ? AND id = ?",
            _ARRIVED[injection.arrived],
            injection.use.value,
            injection.because,
            injection.bank,
            injection.id,
        )

    def injections(
        self, bank: str | None, session: str = "", unsettled: bool = False, limit: int = 100
    ) -> list[Injection]:
        where, of_bank = self._in_bank(bank)
        wanted, values = [where], list[object](of_bank)
        if session:
            wanted.append("session = ?")
            values.append(session)
        if unsettled:
            wanted.append("use = 'unknown'")
        rows = self._all(
            f"SELECT {_INJECTION} FROM injection WHERE {' AND '.join(wanted)} "
            "ORDER BY time DESC, id, bank LIMIT ?",
            *values,
            limit,
        )
        return [_injection(row) for row in rows]

    def failed_tasks(self) -> list[FailedTask]:
        return [
            FailedTask(*row)
            for row in self._all(f"SELECT {_FAILED_TASK} FROM failed_task ORDER BY name")
        ]

    def put_failed_task(self, task: FailedTask) -> None:
        self._run(
            upsert("failed_task", _FAILED_TASK, "name"),
            task.name,
            task.attempts,
            task.problem,
            task.failed_at,
            task.not_before,
        )

    def clear_failed_task(self, name: str) -> None:
        self._run("DELETE FROM failed_task WHERE name = ?", name)


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
