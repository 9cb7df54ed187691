"""The connections of a process to one memory: a bounded number, shared by all of its threads.

One is opened when it is needed and none is free, and given back after each statement or
transaction. Who finds all of them in use waits. When the server was lost, everybody waits for it
together: once it has been away for as long as one waits, nobody waits any more until it is back.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakSet

import psycopg
from psycopg.adapt import Loader
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.errors import StoreUnavailableError
from holdfast.store.postgres.address import Address, location_of
from holdfast.store.postgres.errors import is_unavailable
from holdfast.store.postgres.half_vectors import HalfVector, HalfVectorDumper

EVERY_BANK = "*"
BANK_SEPARATOR = "\x1f"
SET_VISIBLE_BANKS = "SELECT set_config('holdfast.banks', %s, false)"
_RETRY_S = 0.1
_MAX_IDLE_S = 300.0
# How a server that is gone without a word is noticed, unless the URL says otherwise.
_CONNECT_DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "holdfast",
}
# PostgreSQL takes no null character in a text; this one, which no text has, stands for it.
_ESCAPE, NULL = "\U0010fffe", "\U0010ffff\U0010fffe"


class PooledConnection(psycopg.Connection[Any]):
    """A connection, and the banks that the server shows it; None where that is not known."""

    visible_banks: str | None = None


class _Text(Loader):
    """Texts as they were."""

    def load(self, data: Any) -> str:
        text = bytes(data).decode("utf-8")
        return text.replace(NULL, "\x00") if _ESCAPE in text else text


class _Number(Loader):
    """Sums of whole numbers are whole numbers."""

    def load(self, data: Any) -> int | float:
        text = bytes(data).decode("ascii")
        return int(text) if text.lstrip("-").isdigit() else float(text)


class _Idle(NamedTuple):
    raw: PooledConnection
    since: float


class Pool:
    """What is known of one memory on a server, and the connections to it."""

    def __init__(self, address: Address, settings: Mapping[str, str]) -> None:
        self.place = location_of(address.url)
        self.wait_s = address.wait_s
        # One of us writes at a time, so that those who wait for that hold no connection.
        self.writing = threading.Lock()
        # The schema of pgvector; "" where it is not used, None where nobody looked.
        self.extension: str | None = None
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

    def lease(self, sees: str) -> PooledConnection:
        """A connection that sees some banks, to be given back."""
        give_up = time.monotonic() + self.wait_s
        while True:
            free = self._take(give_up)
            if free is not None:
                if self._set_visible_banks(free, sees):
                    return free
                continue
            try:
                raw = self._connect(sees)
            except psycopg.Error as error:
                if not self._wait_for_server(error, give_up):
                    raise
                continue
            self._was_connected, self._unavailable_since = True, None
            return raw

    def release(self, raw: PooledConnection, sound: bool = True) -> None:
        """Let others have a connection; one that is not sound is closed."""
        now = time.monotonic()
        gone: list[PooledConnection] = []
        with self._change:
            self._used -= 1
            if sound and not raw.closed and not self._closed:
                self._idle.append(_Idle(raw, now))
            else:
                gone.append(raw)
            while self._idle and now - self._idle[0].since > _MAX_IDLE_S:
                gone.append(self._idle.pop(0).raw)
            self._change.notify()
        for one in gone:
            one.close()

    def discard_idle(self) -> None:
        """The server was lost: what is free is as dead as what was in use."""
        with self._change:
            dead, self._idle = self._idle, []
        for one in dead:
            one.raw.close()

    def close(self) -> None:
        """Keep no connection any more; those in use are closed when they are given back."""
        self._closed = True
        self.discard_idle()

    def _take(self, give_up: float) -> PooledConnection | None:
        """A free connection, or the right to open one."""
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

    def _set_visible_banks(self, raw: PooledConnection, sees: str) -> bool:
        """Let a connection see some banks; says whether it is still one."""
        if raw.visible_banks == sees:
            return True
        try:
            raw.execute(SET_VISIBLE_BANKS, (sees,))
        except psycopg.Error:
            self.release(raw, sound=False)
            if not raw.closed:
                raise
            self.discard_idle()
            return False
        except BaseException:
            self.release(raw, sound=False)
            raise
        raw.visible_banks = sees
        return True

    def _connect(self, sees: str) -> PooledConnection:
        try:
            watched = {**_CONNECT_DEFAULTS, **conninfo_to_dict(self._url)}
            raw = PooledConnection.connect(make_conninfo("", **watched), autocommit=True)
        except BaseException:
            self._forget_one()
            raise
        try:
            raw.adapters.register_loader("text", _Text)
            raw.adapters.register_loader("numeric", _Number)
            raw.adapters.register_dumper(HalfVector, HalfVectorDumper)
            settings = {**self._settings, "holdfast.banks": sees}
            raw.execute(
                "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) "
                "AS t (name, value)",
                (list(settings), list(settings.values())),
            )
            raw.visible_banks = sees
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
        """Wait a moment for a server that was there and is not; whether there is any use in it."""
        now = time.monotonic()
        full = "too many" in str(error) or "remaining connection slots" in str(error)
        if not is_unavailable(error) or not (self._was_connected or full):
            return False
        if self._unavailable_since is None:
            self._unavailable_since = now
        if now > min(give_up, self._unavailable_since + self.wait_s):
            return False
        with self._change:
            if not self._idle:  # where the server takes no more of us, one of ours may come free
                self._change.wait(_RETRY_S)
        return True


class _Shared(NamedTuple):
    pool: Pool
    # Also one that nobody closes, as that of a search that took too long, is gone in the end.
    users: WeakSet[object]


_pools: dict[tuple[object, ...], _Shared] = {}
_guard = threading.Lock()


def shared_pool(address: Address, settings: Mapping[str, str], user: object) -> Pool:
    """The pool of this process for a memory opened in this way; its user lets go of it."""
    # A process that was forked must not speak over its parent's connections.
    key = (os.getpid(), address, *sorted(settings.items()))
    with _guard:
        held = _pools.get(key)
        if held is None:
            held = _pools[key] = _Shared(Pool(address, settings), WeakSet())
        held.users.add(user)
    return held.pool


def release_pool(pool: Pool, user: object) -> None:
    """With the last user of a pool, its connections are closed."""
    with _guard:
        for key, held in list(_pools.items()):
            if held.pool is pool:
                held.users.discard(user)
                if held.users:
                    return
                del _pools[key]
    pool.close()
