"""A memory to answer from: one that is opened anew when it comes into being or is replaced, or one
that somebody else holds open and lends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from holdfast.app.core.database_identity import Standing, standing
from holdfast.settings import Settings, load_settings


class Closable(Protocol):
    """What can be closed."""

    def close(self) -> None:
        """Let go of the files."""
        ...


Held = TypeVar("Held", bound=Closable)


Now_co = TypeVar("Now_co", covariant=True)


class MemorySource(Protocol[Now_co]):
    """Where a memory is had from."""

    def current(self) -> Now_co:
        """The memory as it is now."""
        ...

    def close(self) -> None:
        """Let go of the files."""
        ...


class BorrowedMemory(Generic[Held]):
    """A memory of somebody else's, who closes it."""

    def __init__(self, held: Held) -> None:
        self._held = held

    def current(self) -> Held:
        """The memory."""
        return self._held

    def close(self) -> None:
        """Nothing: it is not ours."""


class ReopeningMemory(Generic[Held]):
    """Holds what `open` opens."""

    def __init__(self, open: Callable[[Settings], Held]) -> None:
        self._open = open
        self._held: Held | None = None
        self._seen: tuple[Standing, Settings] | None = None

    def current(self) -> Held:
        """The memory as it is now."""
        settings = load_settings()
        seen = standing(settings.database), settings
        if self._held is None or seen != self._seen:
            self.close()
            self._held, self._seen = self._open(settings), seen
        return self._held

    def close(self) -> None:
        """Let go of the files."""
        held, self._held = self._held, None
        if held is not None:
            held.close()
