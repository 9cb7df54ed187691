"""Statements: who said how things are done. Patterns are made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

from holdfast.model.trust import Trust


class Statement(NamedTuple):
    """One sentence in a record (`uri`, the `place`-th there). `source` tells sources apart: two
    statements of one source are one occurrence. `quotable` if it can stand by itself; of one that
    was told by the way, `about` is what counts of it."""

    bank: str
    uri: str
    place: int
    session: str
    source: str
    author: str
    time: str
    text: str
    trust: Trust
    decides: bool = False
    quotable: bool = True
    about: str = ""
    files: tuple[str, ...] = ()


class StatementWays(Protocol):
    """Keeping them, so that only sessions that changed are read again."""

    def put_statements(self, bank: str, session: str, statements: Iterable[Statement]) -> None:
        """These are the statements of a session now; those of "" are outside of any."""
        ...

    def statements(self, bank: str) -> list[Statement]:
        """All statements of a bank, by time."""
        ...
