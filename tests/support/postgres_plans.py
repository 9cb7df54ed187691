"""The plans that a PostgreSQL server makes for the statements of a database, read from its log.

A plan lists the tables that it may read. Where a statement says which bank it is about, the server
leaves out the partitions of all others when it plans; so a plan with two partitions of one table
belongs to a statement that does not say so, whatever it would have read.
"""

from __future__ import annotations

import re
from collections import Counter

from tests.support.postgres_server import Server

_PARTITIONS = (
    "SELECT inhrelid::bigint, inhparent::regclass::text FROM pg_inherits "
    "JOIN pg_class ON oid = inhparent WHERE relkind = 'p'"
)
_NEXT_PLAN = b"LOG:  plan:"
_TABLES = re.compile(rb":relationOids \(o([\d\s]*)\)")
_STATEMENT = re.compile(rb"(?:STATEMENT|CONTEXT):  (.*(?:\n\t.*)*)")


class PlanLog:
    """The statements of one database whose plans have several partitions of a table. Connections
    that were opened before are not logged."""

    def __init__(self, server: Server, url: str) -> None:
        self._server = server
        self._partitions: dict[int, str] = dict(server.run(url, _PARTITIONS))
        name = url.split("/")[3].split("?")[0]
        for setting in ("debug_print_plan = on", "debug_pretty_print = off"):
            server.run(url, f'ALTER DATABASE "{name}" SET {setting}')
        self.plans = 0
        self.read_unpruned()

    def read_unpruned(self) -> set[str]:
        """What was logged since this was last called; the log is emptied, because plans are long.
        A statement within a function is followed by the one that called it."""
        found: set[str] = set()
        log = self._server.take_log()
        for listed in _TABLES.finditer(log):
            self.plans += 1
            numbers = {int(number) for number in listed[1].split()} & self._partitions.keys()
            tables = Counter(self._partitions[number] for number in numbers)
            if max(tables.values(), default=0) > 1:
                end = log.find(_NEXT_PLAN, listed.end())
                said = _STATEMENT.findall(log[listed.end() : end if end >= 0 else None])
                found.add(" / ".join(" ".join(text.decode().split()) for text in said))
        return found
