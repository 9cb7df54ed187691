"""Background work that failed, and the check of a store for damage."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from holdfast.model.failed_tasks import FailedTask


class FailedTasks(Protocol):
    """Background work that failed and is tried again."""

    def failed_tasks(self) -> list[FailedTask]:
        """Work that failed and waits to be tried again, by name."""
        ...

    def put_failed_task(self, chore: FailedTask) -> None:
        """Note work that failed, in place of what was noted of it."""
        ...

    def clear_failed_task(self, name: str) -> None:
        """The work was done after all."""
        ...


class IntegrityReport(NamedTuple):
    """What is wrong with a store, each in words: `damaged` may have cost something that cannot
    be made again; what is wrong with `derived` rows goes when they are made again."""

    damaged: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()


class IntegrityCheck(Protocol):
    """A store that can look for its own faults."""

    def check_integrity(self) -> IntegrityReport:
        """Look through everything for damage; this may take a while."""
        ...
