"""Background work that failed, and the check of a store for damage."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from holdfast.model.ledgers.failed_tasks import FailedTask


class FailedTasks(Protocol):
    """Background work that failed and is tried again."""

    def failed_tasks(self) -> list[FailedTask]:
        """The failed tasks that are to be tried again, by name."""
        ...

    def put_failed_task(self, task: FailedTask) -> None:
        """Record a failed task, in place of its earlier record."""
        ...

    def clear_failed_task(self, name: str) -> None:
        """Remove the record of a task that has succeeded."""
        ...


class IntegrityReport(NamedTuple):
    """What is wrong with a store, as sentences. `damaged` may have lost something that cannot be
    derived again; what is wrong with `derived` rows is repaired by a rebuild."""

    damaged: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()


class IntegrityCheck(Protocol):
    """A store that can check itself for damage."""

    def check_integrity(self) -> IntegrityReport:
        """Read everything and report damage; this may take a while."""
        ...
