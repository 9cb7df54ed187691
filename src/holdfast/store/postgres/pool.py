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
from holdfast.store.postgres.address import Address, place_of
from holdfast.store.postgres.faults import is_away
from holdfast.store.postgres.halves import Half, HalfDumper

EVERY_BANK = "*"
BETWEEN = "\x1f"
LET_SEE = "SELECT set_config('holdfast.banks', %s, false)"
_RETRY_S = 0.1
_IDLE_S = 300.0
# How a server that is gone without a word is noticed, unless the URL says otherwise.
_WATCH = {
    "connect_timeout": 10,
    "keepalives_idle": 20,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
    "application_name": "holdfast",
}
# PostgreSQL takes no null character in a text; this one, which no text has, stands for it.
_ESCAPE, NULL = "\U0010fffe", "\U0010ffff\U0010fffe"


class Raw(psycopg.Connection[Any]):
    """A connection, and the banks that the server shows it; None where that is not known."""

    sees: str | None = None


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


class _Free(NamedTuple):
    raw: Raw
    since: float


class Pool:
    """What is known of one memory on a server, and the connections to it."""

    def __init__(self, address: Address, settings: Mapping[str, str]) -> None:
        self.place = place_of(address.url)
        self.patience_s = address.wait_s
        # One of us writes at a time, so that those who wait for that hold no connection.
        self.writing = threading.Lock()
        # The schema of pgvector; "" where it is not used, None where nobody looked.
        self.extension: str | None = None
        self._url = address.url
        self._settings = dict(settings)
        self._most = address.connections
        self._change = threading.Condition()
        self._free: list[_Free] = []
        self._used = 0
        self._closed = False
        self._was_there = False
        self._away_since: float | None = None

    @property
    def used(self) -> int:
        """How many connections are in use."""
        return self._used

    def lease(self, sees: str) -> Raw:
        """A connection that sees some banks, to be given back."""
        give_up = time.monotonic() + self.patience_s
        while True:
            free = self._take(give_up)
            if free is not None:
                if self._shows(free, sees):
                    return free
                continue
            try:
                raw = self._connected(sees)
            except psycopg.Error as error:
                if not self._worth_waiting(error, give_up):
                    raise
                continue
            self._was_there, self._away_since = True, None
            return raw

    def give_back(self, raw: Raw, sound: bool = True) -> None:
        """Let others have a connection; one that is not sound is closed."""
        now = time.monotonic()
        gone: list[Raw] = []
        with self._change:
            self._used -= 1
            if sound and not raw.closed and not self._closed:
                self._free.append(_Free(raw, now))
            else:
                gone.append(raw)
            while self._free and now - self._free[0].since > _IDLE_S:
                gone.append(self._free.pop(0).raw)
            self._change.notify()
        for one in gone:
            one.close()

    def forget_free(self) -> None:
        """The server was lost: what is free is as dead as what was in use."""
        with self._change:
            dead, self._free = self._free, []
        for one in dead:
            one.raw.close()

    def close(self) -> None:
        """Keep no connection any more; those in use are closed when they are given back."""
        self._closed = True
        self.forget_free()

    def _take(self, give_up: float) -> Raw | None:
        """A free connection, or the right to open one."""
        with self._change:
            while not self._free and self._used >= self._most:
                left = give_up - time.monotonic()
                if left <= 0 or not self._change.wait(left):
                    raise StoreUnavailableError(
                        f"All {self._most} connections to {self.place} are in use.",
                        "Try again in a moment.",
                    )
            self._used += 1
            return self._free.pop().raw if self._free else None

    def _shows(self, raw: Raw, sees: str) -> bool:
        """Let a connection see some banks; says whether it is still one."""
        if raw.sees == sees:
            return True
        try:
            raw.execute(LET_SEE, (sees,))
        except psycopg.Error:
            self.give_back(raw, sound=False)
            if not raw.closed:
                raise
            self.forget_free()
            return False
        except BaseException:
            self.give_back(raw, sound=False)
            raise
        raw.sees = sees
        return True

    def _connected(self, sees: str) -> Raw:
        try:
            watched = {**_WATCH, **conninfo_to_dict(self._url)}
            raw = Raw.connect(make_conninfo("", **watched), autocommit=True)
        except BaseException:
            self._one_less()
            raise
        try:
            raw.adapters.register_loader("text", _Text)
            raw.adapters.register_loader("numeric", _Number)
            raw.adapters.register_dumper(Half, HalfDumper)
            settings = {**self._settings, "holdfast.banks": sees}
            raw.execute(
                "SELECT set_config(name, value, false) FROM unnest(%s::text[], %s::text[]) "
                "AS t (name, value)",
                (list(settings), list(settings.values())),
            )
            raw.sees = sees
        except BaseException:
            raw.close()
            self._one_less()
            raise
        return raw

    def _one_less(self) -> None:
        with self._change:
            self._used -= 1
            self._change.notify()

    def _worth_waiting(self, error: psycopg.Error, give_up: float) -> bool:
        """Wait a moment for a server that was there and is not; whether there is any use in it."""
        now = time.monotonic()
        full = "too many" in str(error) or "remaining connection slots" in str(error)
        if not is_away(error) or not (self._was_there or full):
            return False
        if self._away_since is None:
            self._away_since = now
        if now > min(give_up, self._away_since + self.patience_s):
            return False
        with self._change:
            if not self._free:  # where the server takes no more of us, one of ours may come free
                self._change.wait(_RETRY_S)
        return True


class _Shared(NamedTuple):
    pool: Pool
    # Also one that nobody closes, as that of a search that took too long, is gone in the end.
    users: WeakSet[object]


_pools: dict[tuple[object, ...], _Shared] = {}
_guard = threading.Lock()


def shared(address: Address, settings: Mapping[str, str], user: object) -> Pool:
    """The pool of this process for a memory opened in this way; its user lets go of it."""
    # A process that was forked must not speak over its parent's connections.
    key = (os.getpid(), address, *sorted(settings.items()))
    with _guard:
        held = _pools.get(key)
        if held is None:
            held = _pools[key] = _Shared(Pool(address, settings), WeakSet())
        held.users.add(user)
    return held.pool


def let_go(pool: Pool, user: object) -> None:
    """With the last user of a pool, its connections are closed."""
    with _guard:
        for key, held in list(_pools.items()):
            if held.pool is pool:
                held.users.discard(user)
                if held.users:
                    return
                del _pools[key]
    pool.close()
