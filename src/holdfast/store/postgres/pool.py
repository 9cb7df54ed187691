"""The connections of a process to one memory: a bounded number, shared by all of its threads.

A connection is opened when it is needed and none is idle, and released after each statement or
transaction. A thread that finds all of them in use waits. When the server is unavailable, all
threads wait for it together: once that took `wait_s`, none waits any more until it is back.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple
from weakref import WeakSet

import psycopg
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.errors import StoreError, StoreUnavailableError
from holdfast.store.postgres.address import Address, location_of
from holdfast.store.postgres.errors import is_unavailable
from holdfast.store.postgres.half_vectors import HalfVector, HalfVectorDumper

EVERY_BANK = "*"
BANK_SEPARATOR = "\x1f"
SET_VISIBLE_BANKS = "SELECT set_config('holdfast.banks', %s, false)"
# The oldest supported version. Statements are tested on this one and newer ones.
_MIN_VERSION = 16
# How long is waited between tries to reach a server that is away.
_RETRY_S = 0.1
# An idle connection is closed after this time, because a server has few.
_MAX_IDLE_S = 300.0
# Options of a connection, unless the URL has others. They let a server that is gone without closing
# the connection be noticed after about half a minute.
_CONNECT_DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "holdfast",
}
# PostgreSQL takes no null character in a text; this sequence, which no text has, replaces it.
_ESCAPE, NULL = "\U0010fffe", "\U0010ffff\U0010fffe"


class PooledConnection(psycopg.Connection[Any]):
    """A connection, and the banks that the server shows it; None where that is not known."""

    visible_banks: str | None = None


class _Text(Loader):
    """Loads texts, with null characters as they were written."""

    def load(self, data: Any) -> str:
        text = bytes(data).decode("utf-8")
        return text.replace(NULL, "\x00") if _ESCAPE in text else text


class _Number(Loader):
    """Loads sums of whole numbers as whole numbers."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


class _Idle(NamedTuple):
    raw: PooledConnection
    since: float


@dataclass
class ExtensionUse:
    """What this process knows of pgvector on its server."""

    # Its schema, quoted; "" where it is not used, None before it was looked up.
    schema: str | None = None
    # Why it is not used although the server has it.
    problem: str = ""
    # The time of the server just before a statement in which the connection was lost, until it is
    # known whether the server crashed.
    lost_at: str = ""
    # How many connections were lost in statements that use it.
    losses: int = 0
    # Whether this role can read what is written down of it in the database.
    reads_trials: bool = False

    def lose(self, server_time: str) -> None:
        """Do not use it until it is known why the connection was lost."""
        self.schema, self.lost_at = "", server_time
        self.losses += 1


class Pool:
    """The connections to one memory, and what this process knows of its server."""

    def __init__(self, address: Address, settings: Mapping[str, str]) -> None:
        self.place = location_of(address.url)
        self.wait_s = address.wait_s
        # One thread writes at a time; those that wait for that hold no connection.
        self.writing = threading.Lock()
        self.extension = ExtensionUse()
        self._url = address.url
        self._settings = dict(settings)
        self._max_connections = address.connections
        self._change = threading.Condition()
        self._idle: list[_Idle] = []
        self._used = 0
        self._closed = False
        self._was_connected = False
        self._unavailable_since: float | None = None

    @property
    def connections_in_use(self) -> int:
        """How many connections are in use."""
        return self._used

    def lease(self, visible_banks: str) -> PooledConnection:
        """A connection that sees some banks; the caller releases it."""
        give_up = time.monotonic() + self.wait_s
        while True:
            free = self._take(give_up)
            if free is not None:
                if self._set_visible_banks(free, visible_banks):
                    return free
                continue
            try:
                raw = self._connect(visible_banks)
            except psycopg.Error as error:
                if not self._wait_for_server(error, give_up):
                    raise
                continue
            self._was_connected, self._unavailable_since = True, None
            return raw

    def release(self, raw: PooledConnection, usable: bool = True) -> None:
        """Let others have a connection. One that is not usable is closed."""
        now = time.monotonic()
        gone: list[PooledConnection] = []
        with self._change:
            self._used -= 1
            if usable and not raw.closed and not self._closed:
                self._idle.append(_Idle(raw, now))
            else:
                gone.append(raw)
            while self._idle and now - self._idle[0].since > _MAX_IDLE_S:
                gone.append(self._idle.pop(0).raw)
            self._change.notify()
        for one in gone:
            one.close()

    def discard_idle(self) -> None:
        """Close all idle connections, after the server was lost."""
        with self._change:
            dead, self._idle = self._idle, []
        for one in dead:
            one.raw.close()

    def close(self) -> None:
        """Keep no connection any more; those in use are closed when they are released."""
        self._closed = True
        self.discard_idle()

    def _take(self, give_up: float) -> PooledConnection | None:
        """An idle connection, or None and with it the right to open one."""
        with self._change:
            while not self._idle and self._used >= self._max_connections:
                left = give_up - time.monotonic()
                if left <= 0 or not self._change.wait(left):
                    raise StoreUnavailableError(
                        f"All {self._max_connections} connections to {self.place} are in use.",
                        "Try again in a moment.",
                    )
            self._used += 1
            return self._idle.pop().raw if self._idle else None

    def _set_visible_banks(self, raw: PooledConnection, visible_banks: str) -> bool:
        """Let a connection see some banks; False where the connection was lost."""
        if raw.visible_banks == visible_banks:
            return True
        try:
            raw.execute(SET_VISIBLE_BANKS, (visible_banks,))
        except psycopg.Error:
            lost = raw.closed
            self.release(raw, usable=False)  # closes it
            if not lost:
                raise
            self.discard_idle()
            return False
        except BaseException:
            self.release(raw, usable=False)
            raise
        raw.visible_banks = visible_banks
        return True

    def _connect(self, visible_banks: str) -> PooledConnection:
        try:
            watched = {**_CONNECT_DEFAULTS, **conninfo_to_dict(self._url)}
            raw = PooledConnection.connect(make_conninfo("", **watched), autocommit=True)
        except BaseException:
            self._forget_one()
            raise
        try:
            _check_version(raw.info.server_version, self.place)
            raw.adapters.register_loader("text", _Text)
            raw.adapters.register_loader("numeric", _Number)
            raw.adapters.register_dumper(HalfVector, HalfVectorDumper)
            settings = {**self._settings, "holdfast.banks": visible_banks}
            raw.execute(
                "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) "
                "AS t (name, value)",
                (list(settings), list(settings.values())),
            )
            raw.visible_banks = visible_banks
        except BaseException:
            raw.close()
            self._forget_one()
            raise
        return raw

    def _forget_one(self) -> None:
        with self._change:
            self._used -= 1
            self._change.notify()

    def _wait_for_server(self, error: psycopg.Error, give_up: float) -> bool:
        """Wait a moment for a server that was there before; False where waiting is of no use."""
        now = time.monotonic()
        full = "too many" in str(error) or "remaining connection slots" in str(error)
        if not is_unavailable(error) or not (self._was_connected or full):
            return False
        if self._unavailable_since is None:
            self._unavailable_since = now
        if now > min(give_up, self._unavailable_since + self.wait_s):
            return False
        with self._change:
            if not self._idle:  # where the server takes no more connections, one may be released
                self._change.wait(_RETRY_S)
        return True


def _check_version(number: int, place: str) -> None:
    """Refuse a server that is too old; `number` is as PostgreSQL counts, 160004 for 16.4."""
    if number < _MIN_VERSION * 10_000:
        raise StoreError(
            f"PostgreSQL {number // 10_000} at {place} is not supported "
            f"({_MIN_VERSION} or newer is needed).",
            "Upgrade the server, with pg_upgrade or by pg_dump into a newer one. "
            "See docs/postgres.md.",
        )


class _Shared(NamedTuple):
    pool: Pool
    # Weak, because a search that took too long may never close its connection.
    users: WeakSet[object]


_pools: dict[tuple[object, ...], _Shared] = {}
_guard = threading.Lock()


def shared_pool(address: Address, settings: Mapping[str, str], user: object) -> Pool:
    """The pool of this process for a memory that is opened in this way. `user` must release it."""
    # A forked process must not use the connections of its parent.
    key = (os.getpid(), address, *sorted(settings.items()))
    with _guard:
        held = _pools.get(key)
        if held is None:
            held = _pools[key] = _Shared(Pool(address, settings), WeakSet())
        held.users.add(user)
    return held.pool


def release_pool(pool: Pool, user: object) -> None:
    """Close the connections of a pool with its last user."""
    with _guard:
        for key, held in list(_pools.items()):
            if held.pool is pool:
                held.users.discard(user)
                if held.users:
                    return
                del _pools[key]
    pool.close()
