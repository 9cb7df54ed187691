"""The ledger of injected texts, and tasks of the worker that failed."""

from __future__ import annotations

from holdfast.model.ledgers.failed_tasks import FailedTask
from holdfast.model.ledgers.injections import Injection
from holdfast.store.sql.database import Subject
from holdfast.store.sql.table import Table

_ARRIVED: dict[bool | None, int] = {None: -1, False: 0, True: 1}
_ARRIVED_OF = {value: key for key, value in _ARRIVED.items()}
_INJECTION = Table(
    "injection",
    Injection,
    convert={"arrived": (_ARRIVED.__getitem__, _ARRIVED_OF.__getitem__)},
)
_FAILED_TASK = Table("failed_task", FailedTask, "name")


class InjectionLedger(Subject):
    """Records what was injected into sessions."""

    def add(self, injection: Injection) -> None:
        """Record an injection; a known id stays as it is."""
        _INJECTION.add_missing(self._db, [injection])

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
        wanted = "AND session = ? " * bool(session) + "AND use = 'unknown' " * unsettled
        values = (*([session] * bool(session)), limit)
        return _INJECTION.find(
            self._db, bank, f"{wanted}ORDER BY time DESC, id, bank LIMIT ?", values
        )


class FailedTasks(Subject):
    """Records tasks that failed and are to be tried again."""

    def all(self) -> list[FailedTask]:
        """The failed tasks that are to be tried again, by name. They are of no bank: a principal of
        some sees none."""
        if self._db.within is not None:
            return []
        return _FAILED_TASK.find(self._db, None, "ORDER BY name")

    def put(self, task: FailedTask) -> None:
        """Record a failed task, in place of its earlier record."""
        _FAILED_TASK.put(self._db, task)

    def clear(self, name: str) -> None:
        """Remove the record of a task that has succeeded."""
        self._db.run("DELETE FROM failed_task WHERE name = ?", (name,))
