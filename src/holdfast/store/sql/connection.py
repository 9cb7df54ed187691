"""The port between the statements of this package and an engine's connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.errors import ForbiddenError, HoldfastError, InputError, NotFoundError
from holdfast.store.sql.dialect import Dialect

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any, Protocol

    from holdfast.principal import Principal

    Row = tuple[Any, ...]
else:
    Protocol, Row = object, tuple


# What an engine says, by which the error is known again, where a principal reaches for another
# bank, or may only read.
OTHER_BANK, READ_ONLY = "holdfast: another bank", "holdfast: only reading"


class Connection(Protocol):
    """Runs statements with `?` as the placeholder, and raises the engine's errors as ours."""

    @property
    def dialect(self) -> Dialect: ...

    def all(self, sql: str, values: Sequence[Any] = ...) -> list[Row]:
        """All rows of a query, or those that a statement returns."""
        ...

    def one(self, sql: str, values: Sequence[Any] = ...) -> Row | None:
        """The first of them."""
        ...

    def stream(self, sql: str, values: Sequence[Any] = ...) -> Iterator[Row]:
        """The same one by one, for results that may be large."""
        ...

    def run(self, sql: str, values: Sequence[Any] = ...) -> int:
        """Run a statement; returns how many rows it changed."""
        ...

    def restrict(self, principal: Principal | None) -> None:
        """Let the engine show and change only what a principal may; everything without one."""
        ...

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""
        ...


def outside_limits(only_reads: bool) -> HoldfastError:
    """The error for a change that the engine refuses to a principal."""
    if only_reads:
        return ForbiddenError("This key does not permit that.", "A key that may write is needed.")
    return NotFoundError("There is no such bank.", "Name one of yours.")


def number_too_large() -> InputError:
    """The error for a number that no column and no limit of a query can hold."""
    return InputError("A number is too large.", "Give one below 9,000,000,000,000,000,000.")
