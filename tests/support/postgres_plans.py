"""Which partitions a PostgreSQL server plans the statements of a database for.

Where a statement says which bank it is about, the server leaves out the partitions of all others
when it plans, and neither lists nor locks them. So there are two ways to find a statement that does
not say so, whatever it would have read: its plan in the log lists two partitions of one table
(`PlanLog`), or it waits for a partition that somebody else has locked (`PartitionLocks`). Plans are
long: to print and to read them takes as much time again as to make them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from tests.support.postgres_server import Server
from tests.support.waiting import wait_until

_PARTITIONS = (
    "SELECT inhrelid::bigint, inhparent::regclass::text FROM pg_inherits "
    "JOIN pg_class ON oid = inhparent WHERE relkind = 'p'"
)
_NEXT_PLAN = b"LOG:  plan:"
_TABLES = re.compile(rb":relationOids \(o([\d\s]*)\)")
_STATEMENT = re.compile(rb"(?:STATEMENT|CONTEXT):  (.*(?:\n\t.*)*)")
_PRINT_PLANS = ("debug_print_plan = on", "debug_pretty_print = off")
_WAITS = re.compile(rb"still waiting for \w+ on relation (\d+) of database")
_NEXT_ENTRY = re.compile(rb"LOG:  |ERROR:  ")
# After how long somebody who waits for a lock is logged.
_LOGGED_AFTER = "20ms"
_BOUNDS = (
    "SELECT inhrelid::bigint, pg_get_partition_constraintdef(inhrelid) FROM pg_inherits "
    "JOIN pg_class ON oid = inhparent WHERE relkind = 'p'"
)


class PlanLog:
    """The statements of one database whose plans have several partitions of a table. Connections
    that were opened before are not logged (but see `logging_plans`)."""

    def __init__(self, server: Server, url: str) -> None:
        self._server = server
        self._partitions: dict[int, str] = dict(server.run(url, _PARTITIONS))
        for setting in _PRINT_PLANS:
            _set_in_database(server, url, setting)
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


@contextmanager
def logging_plans(server: Server, url: str) -> Generator[PlanLog]:
    """The plans of connections that are open already, of every database of a server."""
    for setting in _PRINT_PLANS:
        server.run(url, f"ALTER SYSTEM SET {setting}")
    _reload(server, url, "on")
    try:
        yield PlanLog(server, url)
    finally:
        server.run(url, "ALTER SYSTEM RESET ALL")
        _reload(server, url, "off")


def _reload(server: Server, url: str, wanted: str) -> None:
    """Have the settings read again, and wait until the server has told its processes."""
    server.run(url, "SELECT pg_reload_conf()")
    written = (
        "SELECT setting FROM pg_settings WHERE name = 'debug_print_plan' AND source <> 'database'"
    )
    wait_until(lambda: server.run(url, written) in ([(wanted,)], []), "the settings are read again")


def _set_in_database(server: Server, url: str, setting: str) -> None:
    name = url.split("/")[3].split("?")[0]
    server.run(url, f'ALTER DATABASE "{name}" SET {setting}')


class PartitionLocks:
    """Locks on every partition that holds nothing of a bank. Connections of the database that were
    opened before are not logged when they wait."""

    def __init__(self, server: Server, url: str, bank: str) -> None:
        self._server, self._url = server, url
        bounds: list[tuple[int, str]] = server.run(url, _BOUNDS)
        with psycopg.connect(url) as connection:
            self._others = {
                number
                for number, bound in bounds
                if connection.execute(
                    f"SELECT {bound} FROM (VALUES (%s::text)) AS row (bank)".encode(), [bank]
                ).fetchone()
                == (False,)
            }
        for setting in ("log_lock_waits = on", f"deadlock_timeout = '{_LOGGED_AFTER}'"):
            _set_in_database(server, url, setting)

    @contextmanager
    def held(self) -> Generator[None]:
        """Hold them. Whoever plans a statement for one of these partitions waits for as long, or as
        long as they may."""
        with psycopg.connect(self._url) as connection:
            for number in sorted(self._others):
                ((name,),) = connection.execute("SELECT %s::regclass::text", [number])
                connection.execute(f"LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE".encode())
            self._server.take_log()
            yield
            connection.rollback()

    def read_waits(self) -> set[str]:
        """The statements that waited since this was last called; the log is emptied. A statement
        within a function is followed by the one that called it."""
        log = self._server.take_log()
        found: set[str] = set()
        for wait in _WAITS.finditer(log):
            if int(wait[1]) in self._others:
                end = _NEXT_ENTRY.search(log, wait.end())
                said = _STATEMENT.findall(log[wait.end() : end.start() if end else None])
                found.add(" / ".join(" ".join(text.decode().split()) for text in said))
        return found
