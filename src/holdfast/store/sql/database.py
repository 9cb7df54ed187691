"""A connection, with the banks that are meant where a caller names none, and what the subjects of a
store are made with."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.errors import ForbiddenError
from holdfast.principal import Level, Principal
from holdfast.store.sql.connection import Connection
from holdfast.store.sql.statements import placeholders_for

TYPE_CHECKING = False  # `typing` delays hooks: see `lazy_named_tuple`
if TYPE_CHECKING:
    from typing import Any

_OWNER = Principal("")


class Database:
    """What every subject runs its statements over. It does not own the connection.

    `within` are the banks that are meant where a caller names none; None is all of them. The engine
    itself shows no others to a principal that may not see them."""

    def __init__(self, connection: Connection) -> None:
        self.principal = _OWNER
        self.dialect = connection.dialect
        self.all = connection.all
        self.one = connection.one
        self.stream = connection.stream
        self.run = connection.run
        self.run_many = connection.run_many
        self._restrict = connection.restrict

    @property
    def within(self) -> Sequence[str] | None:
        """The banks that may be seen; None for all."""
        return self.principal.banks

    def restrict(self, principal: Principal | None) -> None:
        """See and change only what a principal may; everything without one."""
        self.principal = principal or _OWNER
        self._restrict(principal)

    def require(self, level: Level, *, all_banks: bool = False) -> None:
        """Raise `ForbiddenError` unless the principal has this level, or sees all banks."""
        if not self.principal.level.includes(level):
            raise ForbiddenError(
                "This key does not permit that.", f"A key of level {level.value!r} is needed."
            )
        if all_banks and self.within is not None:
            raise ForbiddenError("This needs access to every bank.", "Ask the operator.")

    def in_bank(self, bank: str | None, column: str = "bank") -> tuple[str, tuple[str, ...]]:
        """The condition that keeps to a bank, or to those that may be seen, and its values. Each
        table of a correlated subquery needs it too: the server plans that for all partitions
        unless the bank is a value."""
        if bank is not None:
            return f"{column} = ?", (bank,)
        if self.within is None:
            return "true", ()
        return f"{column} IN ({placeholders_for(self.within)})", tuple(self.within)

    def bank_ids(self, bank: str | None) -> list[str]:
        """The banks to ask one by one, because every index starts with the bank."""
        if bank is not None:
            return [bank]
        known = [row[0] for row in self.all("SELECT id FROM bank ORDER BY id")]
        return [id for id in known if self.within is None or id in self.within]


class Subject:
    """The statements of one subject. It works with others of its store by naming them:

    class Facts(Subject):
        _passages: Passages
    """

    def __init__(self, store: Any) -> None:
        self._store = store
        self._db: Database = store.database

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if not name.startswith("_") or name.startswith("__"):
                raise AttributeError(name)
            beside = getattr(self._store, name.removeprefix("_"))
            self.__dict__[name] = beside  # later lookups do not come here again
            return beside
