"""Where an engine gets its memory from: it opens one itself, or borrows one that is open."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from holdfast.app.core.backends import DatabaseIdentity, database_identity
from holdfast.app.memory import Holdfast, open_memory
from holdfast.settings import Settings, load_settings


class Closable(Protocol):
    """Something with a `close` method."""

    def close(self) -> None: ...


MemoryT = TypeVar("MemoryT", bound=Closable)


class MemorySource(Protocol):
    """Gives an open memory."""

    def current(self) -> Holdfast:
        """The memory, opened now if need be."""
        ...

    def close(self) -> None: ...


class BorrowedMemory:
    """A memory that somebody else opened and will close."""

    def __init__(self, memory: Holdfast) -> None:
        self._memory = memory

    def current(self) -> Holdfast:
        return self._memory

    def close(self) -> None:
        """Do nothing: the lender closes it."""


class ReopeningMemory(Generic[MemoryT]):
    """A memory that is opened with `open` at the first use, and again when the database file was
    created or replaced or the settings changed."""

    def __init__(self, open: Callable[[Settings], MemoryT]) -> None:
        self._open = open
        self._memory: MemoryT | None = None
        self._opened_for: tuple[DatabaseIdentity, Settings] | None = None

    def current(self) -> MemoryT:
        """The memory, opened now if need be."""
        settings = load_settings()
        state = database_identity(settings.database), settings
        if self._memory is None or state != self._opened_for:
            self.close()
            self._memory, self._opened_for = self._open(settings), state
        return self._memory

    def close(self) -> None:
        memory, self._memory = self._memory, None
        if memory is not None:
            memory.close()


def open_existing(settings: Settings) -> Holdfast:
    """The memory of these settings; one that does not exist is read as empty, not created."""
    return open_memory(settings, create=False)
