"""The port between the statements of this package and an engine's connection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.errors import InputError
from holdfast.store.sql.dialect import Dialect

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any, Protocol

    Row = tuple[Any, ...]
else:
    Protocol, Row = object, tuple


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

    def set_visible_banks(self, banks: Sequence[str] | None) -> None:
        """Let the engine itself show these banks alone, or all, where it can: SQLite cannot."""
        ...

    def run_many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement once for each row of values."""
        ...


def number_too_large() -> InputError:
    """The error for a number that no column and no limit of a query can hold."""
    return InputError("A number is too large.", "Give one below 9,000,000,000,000,000,000.")
